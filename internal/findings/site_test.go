package findings

import (
	"slices"
	"testing"

	"shadow/internal/traffic/who"
)

// What a site is goes by who uses it, clients and requests.
func TestSite(t *testing.T) {
	for name, c := range map[string]struct {
		browsers, programs, silent party
		want                       Site
	}{
		"nobody":                         {want: Unclear},
		"browsers":                       {browsers: party{10, 100}, want: People},
		"one tool, and no others":        {programs: party{1, 100}, want: API},
		"two tools and a browser":        {browsers: party{1, 10}, programs: party{2, 100}, want: People},
		"three tools and a browser":      {browsers: party{1, 10}, programs: party{3, 100}, want: API},
		"many tools that send little":    {browsers: party{40, 900}, programs: party{50, 100}, want: People},
		"nearly all are tools":           {browsers: party{5, 900}, programs: party{95, 100}, want: API},
		"a few tools that send most":     {browsers: party{80, 100}, programs: party{20, 1900}, want: People},
		"a third that sends nearly all":  {browsers: party{60, 100}, programs: party{30, 1900}, want: API},
		"no client says anything":        {silent: party{30, 100}, want: Unclear},
		"a few browsers among silent":    {browsers: party{5, 50}, silent: party{300, 900}, want: Unclear},
		"browsers, and some are silent":  {browsers: party{200, 900}, silent: party{150, 300}, want: People},
		"an app with silent clients":     {programs: party{200, 900}, silent: party{150, 300}, want: API},
		"silent ones that send very few": {browsers: party{40, 900}, silent: party{60, 100}, want: People},
	} {
		u := users{c.browsers, c.programs, c.silent}
		if got := u.site(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What does the site's own work is known, so that no limit is meant for it.
func TestWorks(t *testing.T) {
	w := newTown(t)
	w.people(60)
	for i := range 900 {
		w.hit(8*float64(i), "198.51.100.5", "POST /wp-cron.php?doing_wp_cron=1", 200, "WordPress/6.4; https://shop.example", "-")
		w.hit(8*float64(i), "10.100.0.1", "HEAD /", 301, curl, "-")
	}
	l, found := reading{format: mainFormat}.look(t, w.write(t))
	tells(t, "work", l, found)
	names := l.members(1<<who.Own | 1<<who.Monitor)
	if !slices.Equal(names, []string{"10.100.0.1", "198.51.100.5"}) || l.Site() != People {
		t.Errorf("%q work for %s", names, l.Site())
	}
}
