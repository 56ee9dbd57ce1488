package servers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/lazy"
	"shadow/parse/nginxconf"
)

// nginx has one dry run and one status for all limits of a place. A place without limits has those of the place around
// it, and so each of these two that it does not state. Lines in a block may switch off limits in all that it holds.
//
// Source: nginx 1.22, src/http/modules/ngx_http_limit_req_module.c, ngx_http_limit_req_merge_conf.

// nginxHow are the directives that places hand down beside limits, with what holds without them.
var nginxHow = []struct{ name, without string }{
	{"limit_req_dry_run", "off"}, {"limit_req_status", "503"},
}

// An nginxPlace is a block that may limit.
type nginxPlace struct {
	kind   string // http, server or location
	title  string // with the file and the line
	outer  *nginxPlace
	states stated
	conns  bool // whether a limit_conn stands in it, or how they refuse
	away   bool // whether lines do not matter there: limits are asked later, or before, or it is for certificates
	whole  bool // whether a location in it takes all requests
}

// stated are the values of directives.
type stated map[string][]string

// A paste is what is pasted into places.
type paste map[*nginxPlace]stated

func readNginxWithin(file string) (*Within, error) {
	top, problems, err := nginxconf.Read(file, nil)
	if err != nil {
		return nil, err
	}
	w := &Within{file: file}
	for _, d := range top {
		if d.Name == "http" {
			w.addNginx(d, nil)
		}
	}
	if w.places == nil || problems != nil {
		return nil, nil //nolint:nilnil // a part of a configuration, around which other limits may stand
	}
	return w, nil
}

// addNginx adds a block, and those in it.
func (w *Within) addNginx(d *nginxconf.Directive, outer *nginxPlace) {
	title := escape.Visible(fmt.Sprintf("%s (%s)", strings.Join(append([]string{d.Name}, d.Args...), " "), d.Place()))
	p := &nginxPlace{kind: d.Name, title: title, outer: outer, states: stated{}}
	last := strings.Join(d.Args[max(0, len(d.Args)-1):], "")
	p.away = strings.HasPrefix(last, "@") || strings.Contains(last, ".well-known") || slices.ContainsFunc(d.Block, answersAll)
	for o := outer; o != nil; o = o.outer { // a location's return does not hold in those within
		p.away = p.away || o.kind == "server" && o.away
	}
	w.places = append(w.places, p)
	for _, inner := range d.Block {
		switch inner.Name {
		case "server", "location":
			p.whole = p.whole || len(inner.Args) > 0 && inner.Args[len(inner.Args)-1] == "/" && inner.Args[0] != "="
			w.addNginx(inner, p)
		default:
			p.conns = p.conns || strings.HasPrefix(inner.Name, "limit_conn") && inner.Name != "limit_conn_zone"
			p.states.add(inner.Name, strings.Join(inner.Args, " "))
		}
	}
}

// redirectsAll matches what a rewrite has if it redirects every request.
var redirectsAll = lazy.Regexp(`^(\^|\^?/?\(?\.\*\)?\$?|\^?/) (https?://.*|.* (permanent|redirect))$`)

// answersAll reports whether a directive answers every request, before limits are asked.
func answersAll(d *nginxconf.Directive) bool {
	return d.Name == "return" || d.Name == "rewrite" && redirectsAll().MatchString(strings.Join(d.Args, " "))
}

// nginxConns returns comments for lines of limit_conn that go into http. An error says that some place has limits of
// that kind: these would be switched off, or not get the lines.
func (w *Within) nginxConns() (comments []string, err error) {
	if w == nil || w.places == nil {
		return []string{"# only if no limit_conn is there, around or inside: it would be switched off. See --nginx-conf"}, nil
	}
	for _, p := range w.places {
		if p.conns {
			return nil, fmt.Errorf("%s has limit_conn, or how it refuses, already: add one there by hand, beside it", p.title)
		}
	}
	return nil, nil
}

func (s stated) add(name, value string) {
	if strings.HasPrefix(name, "limit_req") && name != "limit_req_zone" {
		s[name] = append(s[name], value)
	}
}

// values returns the values of a directive that hold in a place.
func (p *nginxPlace) values(name string, pasted paste) []string {
	for ; p != nil; p = p.outer {
		if all := slices.Concat(p.states[name], pasted[p][name]); len(all) > 0 {
			return all
		}
	}
	return nil
}

// from returns the place that states what holds in a place; nil: none does.
func (p *nginxPlace) from(name string) *nginxPlace {
	for ; p != nil && p.states[name] == nil; p = p.outer {
	}
	return p
}

// value is the one value that holds; the pasted one where a place states it too.
func (p *nginxPlace) value(name, without string, pasted paste) string {
	if all := p.values(name, pasted); len(all) > 0 {
		return all[len(all)-1]
	}
	return without
}

// handsDown reports whether what a place hands down is pasted: to enforce it, it is taken out again.
func (p *nginxPlace) handsDown(name string, pasted paste) bool {
	for ; p != nil; p = p.outer {
		if pasted[p][name] != nil || p.states[name] != nil {
			return pasted[p][name] != nil
		}
	}
	return false
}

// A spoilt place limits otherwise once lines are pasted.
type spoilt struct {
	place  *nginxPlace
	needs  []string // directives that keep it as it was
	beyond bool     // none do
}

// spoils finds the places that limit otherwise once lines are pasted. Those that have their limits from around them are
// as these are.
func (w *Within) spoils(pasted paste) (all []spoilt) {
	for _, p := range w.places {
		s := spoilt{place: p}
		limits := p.values("limit_req", nil)
		s.beyond = !slices.Equal(limits, p.values("limit_req", pasted))
		for _, how := range nginxHow {
			before := p.value(how.name, how.without, nil)
			handed := p.states[how.name] == nil && p.outer.handsDown(how.name, pasted) && pasted[p][how.name] == nil
			if p.states["limit_req"] != nil && (handed || p.value(how.name, how.without, pasted) != before) {
				s.needs = append(s.needs, how.name+" "+before+";")
			}
		}
		if limits != nil && (s.beyond || s.needs != nil) {
			all = append(all, s)
		}
	}
	return all
}

var nginxLine = lazy.Regexp(`^\s*(limit_req\w*)\s+([^;]*);`)

// statedBy are the directives of lines.
func statedBy(lines []string) stated {
	s := stated{}
	for _, line := range lines {
		if parts := nginxLine().FindStringSubmatch(line); parts != nil {
			s.add(parts[1], parts[2])
		}
	}
	return s
}

// limited names the places of nginx that have limits of their own, and so do not get those around them.
func (w *Within) limited() (titles []string) {
	if w == nil {
		return nil
	}
	for _, p := range w.places {
		if p.states["limit_req"] != nil {
			titles = append(titles, p.title)
		}
	}
	return titles
}

// nginxInto returns comments for lines that go into a kind of place, and what other places need then. An error says
// that none that serves requests is free of limits: nginx has no dry run beside a limit that refuses.
func (w *Within) nginxInto(kind string, lines []string) (comments []string, more []Block, err error) {
	if w == nil || w.places == nil {
		const unknown = "# only if no limit_req is there, around or inside: it would be switched off. See --nginx-conf"
		return []string{unknown}, nil, nil
	}
	pasted, taken, free := paste{}, w.limited(), false
	for _, p := range w.places {
		if p.from("limit_req") != nil {
			continue
		}
		if p.kind == kind {
			pasted[p] = statedBy(lines)
		}
		free = free || p.outer != nil && !p.away && !p.whole && p.values("limit_req", pasted) != nil
	}
	if !free && len(taken) > 0 {
		return nil, nil, fmt.Errorf("%s limits already, and nginx has no dry run for one of several limits. Replay it on "+
			"the next days' logs; then add its limit_req there, which refuses at once", strings.Join(taken, ", "))
	}
	if len(taken) > 0 {
		comments = []string{"# not in " + strings.Join(taken, ", ") + ": limited already"}
	}
	for _, s := range w.spoils(pasted) {
		place := s.place.title + ", which limits already and stays as it is"
		more = append(more, Block{Place: place, Lines: s.needs})
	}
	return append(comments, w.stated(pasted)...), more, nil
}

// stated returns comments on directives that stand where lines are pasted, or hold in their stead.
func (w *Within) stated(pasted paste) (comments []string) {
	for _, p := range w.places {
		for _, how := range nginxHow {
			switch {
			case p.states[how.name] == nil:
			case pasted[p] != nil:
				comments = append(comments, "# in the place of "+how.name+" of "+p.title)
			case p.from("limit_req") == nil && p.values("limit_req", pasted) != nil && how.name == "limit_req_dry_run":
				comments = append(comments, "# take limit_req_dry_run out of "+p.title+", which would refuse at once")
			}
		}
	}
	return comments
}

// judgeNginx finds what blocks would spoil. What has no other place goes into http.
func (w *Within) judgeNginx(blocks []Block) error {
	pasted := paste{}
	for _, b := range blocks {
		p := w.places[0]
		for _, other := range w.places {
			if strings.Contains(b.Place, other.title) {
				p = other
			}
		}
		if pasted[p] == nil {
			pasted[p] = stated{}
		}
		for name, values := range statedBy(b.Lines) {
			pasted[p][name] = append(pasted[p][name], values...)
		}
	}
	var all []error
	for _, s := range w.spoils(pasted) {
		needs := strings.Join(s.needs, " ")
		if s.beyond {
			needs = "other lines: its limits would be others"
		}
		all = append(all, fmt.Errorf("%s limits already, and would do so otherwise. It needs %s", s.place.title, needs))
	}
	return errors.Join(all...)
}
