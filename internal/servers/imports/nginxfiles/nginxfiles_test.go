package nginxfiles

import (
	"slices"
	"testing"

	"shadow/parse/nginxconf"
)

// Files of a configuration are joined in any order, each once; two that are whole stay apart.
func TestFilesOfAConfigurationAreJoined(t *testing.T) {
	in := func(file string, names ...string) (all []*nginxconf.Directive) {
		for _, name := range names {
			all = append(all, &nginxconf.Directive{Name: name, File: file})
		}
		return all
	}
	http := func(file string, block ...*nginxconf.Directive) []*nginxconf.Directive {
		return []*nginxconf.Directive{{Name: "events", File: file}, {Name: "http", File: file, Block: block}}
	}
	for name, c := range map[string]struct {
		first         Config
		file          string
		top           []*nginxconf.Directive
		joined, known bool
		want          []string // at the level of http
	}{
		"a part behind the whole":   {Config{"main", http("main", in("main", "map")...)}, "part", in("part", "server"), true, false, []string{"map", "server"}},
		"the whole behind a part":   {Config{"part", in("part", "server")}, "main", http("main", in("main", "map")...), true, false, []string{"map", "server"}},
		"two parts":                 {Config{"one", in("one", "map")}, "two", in("two", "server"), true, false, []string{"map", "server"}},
		"parts of one file":         {Config{"m", in("m", "map")}, "m", in("m", "server"), true, false, []string{"map", "server"}},
		"an included part":          {Config{"main", http("main", in("part", "server")...)}, "./part", in("./part", "server"), true, true, []string{"server"}},
		"the whole that includes":   {Config{"part", in("part", "server")}, "main", http("main", in("./part", "server")...), true, false, []string{"server"}},
		"two whole ones stay apart": {Config{"a", http("a", in("a", "map")...)}, "b", http("b"), false, false, []string{"map"}},
	} {
		joined, known := c.first.Join(c.file, c.top)
		var got []string
		for _, d := range c.first.Levels()[0] {
			got = append(got, d.Name)
		}
		if joined != c.joined || known != c.known || !slices.Equal(got, c.want) {
			t.Errorf("%s: joined %t, known %t: %q", name, joined, known, got)
		}
	}
}
