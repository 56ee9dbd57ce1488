// Package neutral holds limits as no server writes them: the readers of all configurations find them, with the requests
// that each is for, and notes on what is not as it is there. Out goes a shadow.yaml.
package neutral

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
)

// A Result is what was found in some configurations.
type Result struct {
	Policies []Policy
	Notes    []Note
	Logged   []string // the formats of logs that a configuration names, as --format takes them

	Noted map[Note]bool
}

// A Policy is the limits that one server asks together.
type Policy struct {
	Name       string
	Combine    string // as in shadow.yaml; "": that of its limits
	Limits     []Limit
	NginxPaths bool // whether its paths are as nginx has them
}

// byPath reports whether some limit goes by paths.
func (p *Policy) byPath() bool {
	return slices.ContainsFunc(p.Limits, func(l Limit) bool {
		return aboutPath().MatchString("+" + l.By.String() + "+" + groupText(l.Match.Conditions))
	})
}

var aboutPath = lazy.Regexp(`\+path\+|\b(path|prefix|regexp): `)

// nginxPaths reports whether paths are taken as nginx has them.
func (r *Result) nginxPaths() bool {
	return slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.NginxPaths && p.byPath() })
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
	Place string `json:"place"` // file:line; "": none
	Text  string `json:"text"`  // a sentence without its end
	Mild  bool   `json:"mild"`  // nothing is lost
}

// String is the note on one line.
func (n Note) String() string { return strings.TrimPrefix(n.Place+": "+n.Text, ": ") }

// Lost are the notes on what was not understood, or is not as it is there.
func (r *Result) Lost() (all []Note) {
	return slices.DeleteFunc(slices.Clone(r.Notes), func(n Note) bool { return n.Mild })
}

// Lose takes down what is not as it is there, once.
func (r *Result) Lose(place, text string, args ...any) {
	r.note(Note{place, fmt.Sprintf(text, args...), false})
}

// Tell takes down what is to be known.
func (r *Result) Tell(place, text string, args ...any) {
	r.note(Note{place, fmt.Sprintf(text, args...), true})
}

// RefusesNothing is told of a limit on trial.
const RefusesNothing = "it is in dry run there: it refuses nothing; what it would refuse is judged"

func (r *Result) note(n Note) {
	n.Text = escape.Short(n.Text)
	if r.Noted[n] {
		return
	}
	if r.Noted == nil {
		r.Noted = map[Note]bool{}
	}
	r.Noted[n] = true
	r.Notes = append(r.Notes, n)
}

// Finish takes out what has no limits, and says if that is all.
func (r *Result) Finish() {
	r.Policies = slices.DeleteFunc(r.Policies, func(p Policy) bool { return len(p.Limits) == 0 })
	if other := func(p Policy) bool { return !p.NginxPaths && p.byPath() }; r.nginxPaths() && slices.ContainsFunc(r.Policies, other) {
		r.Lose("", "nginx decodes, merges and resolves paths before it looks at them: so do the limits of the other servers here")
	}
	if len(r.Policies) == 0 {
		r.Lose("", "there is no limit of requests in it")
	}
	r.fit()
}

// fit leaves out what stands last, from the limit on with which there are more conditions than a run can tell apart.
func (r *Result) fit() {
	all := 0
	for _, p := range r.Policies {
		all += len(p.Limits)
	}
	kept := r.first(sort.Search(all, func(n int) bool {
		var text bytes.Buffer
		if err := (&Result{Policies: r.first(n + 1)}).Write(&text); err != nil {
			return true
		}
		_, err := policy.ParseConfig("", text.Bytes())
		problems, _ := errors.AsType[policy.Problems](err)
		return slices.ContainsFunc(problems, func(p policy.Problem) bool { return p.Text == policy.ErrConditions.Error() })
	}))
	for at, p := range r.Policies {
		if at < len(kept) {
			p.Limits = p.Limits[len(kept[at].Limits):]
		}
		for _, l := range p.Limits {
			r.Lose("", "%s: %v: this limit is left out", strings.Join(l.Told, "; "), policy.ErrConditions)
		}
	}
	r.Policies = kept
}

// first are the policies with the first n limits.
func (r *Result) first(n int) (some []Policy) {
	for _, p := range r.Policies {
		if p.Limits = p.Limits[:min(n, len(p.Limits))]; len(p.Limits) == 0 {
			break
		}
		n -= len(p.Limits)
		some = append(some, p)
	}
	return some
}

// CheckFrom leaves out limits of policies from one on that cannot be judged, and gives those policies names of their own.
func (r *Result) CheckFrom(before int) {
	for n := range r.Policies[before:] {
		p := &r.Policies[before+n]
		p.Name = r.free(escape.Visible(p.Name), before+n)
		if r.check(p); len(p.Limits) < 2 {
			p.Combine = "" // there is nothing to combine
		}
	}
}

// free is a name that none of the first n policies has.
func (r *Result) free(name string, n int) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(r.Policies[:n], func(p Policy) bool { return p.Name == name })
	}
	free := name
	for k := 2; taken(free); k++ {
		free = fmt.Sprintf("%s %d", name, k)
	}
	return free
}

// problem says why a limit cannot be judged, or returns nil.
func (l Limit) problem() error {
	if flat, _ := request.Flatten([]request.Conditions{l.Match.Conditions, l.Count.Conditions}); len(flat) > request.MaxScopes {
		return policy.ErrConditions
	}
	var b strings.Builder
	if err := (&Result{Policies: []Policy{{Name: "p", Limits: []Limit{l}}}}).Write(&b); err != nil {
		return err
	}
	_, err := policy.ParseConfig("", []byte(b.String()))
	var problems policy.Problems
	if errors.As(err, &problems) {
		return errors.New(problems[0].Text)
	}
	return err
}

// check leaves out limits that cannot be judged, and says so, and those that stand there twice.
func (r *Result) check(p *Policy) {
	var kept, idle []Limit
	for _, l := range p.Limits {
		if l.Match.Never || l.Count.Never { // a counter that nothing moves refuses nothing
			idle = append(idle, l)
			continue
		}
		if err := l.problem(); err != nil {
			r.Lose("", "%s: %v: this limit is left out", strings.Join(l.Told, "; "), err)
			continue
		}
		if at := slices.IndexFunc(kept, func(k Limit) bool {
			return k.Text == l.Text && k.By == l.By && k.Match.Conditions.Is(&l.Match.Conditions) && k.Count.Conditions.Is(&l.Count.Conditions)
		}); at >= 0 {
			kept[at].Told = append(kept[at].Told, l.Told...)
			continue
		}
		kept = append(kept, l)
	}
	for _, l := range idle {
		if !slices.ContainsFunc(kept, func(k Limit) bool { return slices.Contains(k.Told, l.Told[0]) }) {
			r.Tell("", "%s: no request comes to it", strings.Join(l.Told, "; "))
		}
	}
	p.Limits = kept
}

var documentEnding = lazy.Regexp(`(?i)\.(ya?ml|json)$`)

// IsDocument reports whether a file has documents in YAML or JSON, by its name.
func IsDocument(name string) bool { return documentEnding().MatchString(name) }
