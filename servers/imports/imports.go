package imports

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
)

// An Import is the limits of some configurations.
type Import struct {
	Policies []Policy
	Notes    []Note
}

// A Policy is the limits that one server asks together.
type Policy struct {
	Name    string
	Combine string // as in shadow.yaml; "": that of its limits
	Limits  []Limit
}

// A Limit is one of them.
type Limit struct {
	Text         string // as --limit takes it
	By           request.Key
	Match, Count Set      // those that it may refuse, and those that it counts
	Told         []string // where it stands, and what else is to be known
}

// A Note is what is to be known of a place: something that is not as it is there, unless it is about the way to it.
type Note struct {
	Place string // file:line
	Text  string // a sentence without its end
	Mild  bool   // nothing is lost
}

// String is the note on one line.
func (n Note) String() string { return strings.TrimPrefix(n.Place+": "+n.Text, ": ") }

// Lost are the notes on what was not understood, or is not as it is there.
func (i *Import) Lost() (all []Note) {
	return slices.DeleteFunc(slices.Clone(i.Notes), func(n Note) bool { return n.Mild })
}

// lose takes down what is not as it is there, once.
func (i *Import) lose(place, text string, args ...any) {
	i.note(Note{place, fmt.Sprintf(text, args...), false})
}

// tell takes down what is to be known.
func (i *Import) tell(place, text string, args ...any) {
	i.note(Note{place, fmt.Sprintf(text, args...), true})
}

func (i *Import) note(n Note) {
	if !slices.Contains(i.Notes, n) {
		i.Notes = append(i.Notes, n)
	}
}

// A format is a kind of configuration.
type format struct {
	name string
	is   func(file string, text []byte) bool // whether a file looks like one
	read func(i *Import, file string, text []byte) error
}

var formats = []format{nginxFormat}

// Formats are the names of the configurations that can be read.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Add reads a configuration whose text is that of a file; it may name others. format "" is found by looking.
func (i *Import) Add(file string, text []byte, format string) error {
	for _, f := range formats {
		if format != f.name && (format != "" || !f.is(file, text)) {
			continue
		}
		before := len(i.Policies)
		if err := f.read(i, file, text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for n := range i.Policies[before:] {
			p := &i.Policies[before+n]
			p.Name = i.free(p.Name, before+n)
			i.check(p)
		}
		return nil
	}
	if format != "" {
		return fmt.Errorf("unknown format %q%s; want one of %s", format, limit.Hint(format, Formats()),
			strings.Join(Formats(), ", "))
	}
	return fmt.Errorf("%s: is no configuration of a server that is known; --from says which: %s", file,
		strings.Join(Formats(), ", "))
}

// Done takes out what has no limits, and says if that is all.
func (i *Import) Done() {
	i.Policies = slices.DeleteFunc(i.Policies, func(p Policy) bool { return len(p.Limits) == 0 })
	if len(i.Policies) == 0 {
		i.lose("", "there is no limit of requests in it")
	}
}

// free is a name that none of the first n policies has.
func (i *Import) free(name string, n int) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(i.Policies[:n], func(p Policy) bool { return p.Name == name })
	}
	free := name
	for k := 2; taken(free); k++ {
		free = fmt.Sprintf("%s %d", name, k)
	}
	return free
}

// check leaves out limits that cannot be judged, and says so, and those that stand there twice.
func (i *Import) check(p *Policy) {
	var kept []Limit
	for _, l := range p.Limits {
		_, err := policy.ParseLimits([]string{l.Text}, l.By)
		switch {
		case l.Match.never:
			continue
		case err != nil:
			i.lose("", "%s: %v", strings.Join(l.Told, "; "), err)
			continue
		}
		if at := slices.IndexFunc(kept, func(k Limit) bool {
			return k.Text == l.Text && k.By == l.By && k.Match.c.Is(&l.Match.c) && k.Count.c.Is(&l.Count.c)
		}); at >= 0 {
			kept[at].Told = append(kept[at].Told, l.Told...)
			continue
		}
		kept = append(kept, l)
	}
	p.Limits = kept
}
