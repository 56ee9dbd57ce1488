package html

import (
	"strconv"
	"strings"

	"shadow/internal/suggest"
	"shadow/report/format"
	"shadow/report/table"
)

// Any limit: what is shown of one, of those that a page has or of those that it can ask about.

// Explored holds limits that a page has, what each does, and which one is shown first.
type Explored struct {
	Groups           []Group
	Requests         int64 // of all groups, where it is not known which sent how many
	Shapes           []Shape
	Clients          []Client
	First, FirstStop int
}

// A Group is a group of clients.
type Group struct {
	Name      string `json:"identity"`
	Clients   int64  `json:"clients"`
	Requests  int64  `json:"requests"`
	Protected bool   `json:"protected"`
	Target    bool   `json:"target"`
}

// role returns what the group is, in words.
func (g *Group) role() string {
	var roles []string
	if g.Protected {
		roles = append(roles, "protected")
	}
	if g.Target {
		roles = append(roles, "target")
	}
	return strings.Join(roles, ", ")
}

// A Client is one that lists name.
type Client struct {
	Name, Short, Agent, Group string
	Requests                  int64
}

// A Shape is limits that differ in their N only.
type Shape struct {
	Kind, Title   string
	Before, After string // around N in the text of a limit; both "": each stop has its own
	Stepped       bool   // what a limit does holds up to the next stop
	Note          string // what the curve is
	Stops         []Stop
	Why           [3]string // around what a client needs, and N
	Keeps         []int     // by percent: the first stop that keeps it; −1: none
	Listed        []suggest.Listed
	Lines         []PatternLines // of the server
	Lack          string         // why there are none
}

// name tells one shape from others.
func (s *Shape) name() string { return s.Kind + " " + s.Title }

// A Stop is one limit, and what it does.
type Stop struct {
	N, Scaled    int64
	Limit        string  // as --limit takes it, the scale in it
	Hit, Refused []int64 // by group; Refused is nil where that was not counted
	Lines        []Lines // if they are not those of the pattern
}

// PatternLines are lines of a server in which N may be put: pieces of text, and between them numbers to add to it.
type PatternLines struct {
	Place string
	Parts []string
	Adds  []int64 // one less than Parts
}

// With puts a limit in.
func (p *PatternLines) With(n int64) Lines {
	var b strings.Builder
	for i, part := range p.Parts {
		if i > 0 {
			b.WriteString(strconv.FormatInt(n+p.Adds[i-1], 10))
		}
		b.WriteString(part)
	}
	return Lines{Place: p.Place, Text: b.String()}
}

// An explorer is what the templates write of it. Groups and clients are those of the first limit, for readers without a
// script.
type explorer struct {
	About    string
	Asked    *Asked   // nil: the limits of Kinds are on the page
	Kinds    []kind   // to choose from
	Percents []string // of protected clients that the least N for them is known of
	Limit    string
	Answered bool // whether Limit is an answer
	Groups   *table.Page
	Clients  *table.Page // nil: none are listed
}

// A kind is shapes under one heading.
type kind struct {
	Name   string
	Shapes []choice
}

type choice struct {
	Index    int
	Name     string
	Selected bool
}

// show adds what can be chosen, and which clients it hits, with scripts that say how.
func (v *view) show(e *explorer, scripts ...string) {
	v.Scripts = append(v.Scripts, scripts...)
	s := v.begin("explore", "Any limit", "Any limit")
	s.Scripted = true
	s.add("explore", e)
	s = v.begin("hit", "Clients that", "Clients hit")
	s.Limit, s.Scripted = e.Limit, len(e.Groups.Rows) == 0
	s.add("hit", e)
}

// grid returns a table that scripts know by its id.
func grid(id string, t *table.Table) *table.Page {
	p := t.Page(len(t.Rows), "", 0)
	p.ID = id
	return p
}

// kinds returns the names of the shapes, by kind.
func (e *Explored) kinds() (kinds []kind) {
	for i := range e.Shapes {
		s := &e.Shapes[i]
		if n := len(kinds); n == 0 || kinds[n-1].Name != s.Kind {
			kinds = append(kinds, kind{Name: s.Kind})
		}
		last := &kinds[len(kinds)-1]
		last.Shapes = append(last.Shapes, choice{i, s.Title, i == e.First})
	}
	return kinds
}

// first returns the stop that is shown first.
func (e *Explored) first() *Stop { return &e.Shapes[e.First].Stops[e.FirstStop] }

// groupTable returns a table of what a limit does to groups, and to all of them; without a limit, its heads.
func groupTable(of string, groups []Group, at *Stop) *table.Page {
	t := table.New(table.Words(of), table.Words("is"))
	t.Title = "What the limit does to the clients of each " + of
	t.Head(table.Numbers("clients", "hit", "%", "requests", "refused", "%")...)
	add := func(g *Group, hit, refused int64) {
		t.Add(
			table.Text(g.Name), table.Text(g.role()), table.Count(g.Clients), table.Count(hit), percentCell(hit, g.Clients),
			table.Count(g.Requests), table.Count(refused), percentCell(refused, g.Requests),
		)
	}
	all := Stop{Hit: []int64{0}, Refused: []int64{0}}
	sum := Group{Name: "all"}
	for i := range groups {
		g := &groups[i]
		add(g, at.Hit[i], at.Refused[i])
		sum.Clients, sum.Requests = sum.Clients+g.Clients, sum.Requests+g.Requests
		all.Hit[0], all.Refused[0] = all.Hit[0]+at.Hit[i], all.Refused[0]+at.Refused[i]
	}
	if at != nil {
		add(&sum, all.Hit[0], all.Refused[0])
	}
	return grid("groups", t)
}

// percentCell returns a share in percent, without a bar.
func percentCell(n, of int64) table.Cell { return table.Text(format.Percent(format.PercentOf(n, of))) }

// mostListed is the most clients that a page names of those that a limit hits.
const mostListed = 20

// clientTable returns a table of the clients that the first limit hits, of those that lists have room for; without
// limits, its heads.
func (e *Explored) clientTable(title string, most int) *table.Page {
	t := table.New(table.Words("client"), table.Words("identity"), table.Long("agent"))
	t.Title = title
	t.Head(append(table.Numbers("requests", "refused", "%"), table.Words("why"))...)
	var listed []suggest.Listed
	if len(e.Shapes) > 0 {
		listed = e.listed(&e.Shapes[e.First], most)
	}
	for _, l := range listed {
		refused := l.Refused[e.FirstStop]
		if refused == 0 || len(t.Rows) == mostListed {
			continue
		}
		c := &e.Clients[l.Client]
		t.Add(
			table.Text(c.Name), table.Text(c.Group), table.Brief(table.Clip(c.Agent, table.PageLong), c.Short),
			table.Count(c.Requests), table.Count(refused), percentCell(refused, c.Requests),
			table.Text(e.Shapes[e.First].why(l.Need, e.first().N)),
		)
	}
	return grid("clients", t)
}

// why says why a limit hits a client.
func (s *Shape) why(need, n int64) string {
	text := format.Thousands(need)
	if need == 0 {
		text = "more than " + format.Thousands(s.Stops[len(s.Stops)-1].N)
	}
	return s.Why[0] + text + s.Why[1] + format.Thousands(n) + s.Why[2]
}

// listed returns the clients of a list, so many of those to protect and as many others.
func (e *Explored) listed(s *Shape, most int) (some []suggest.Listed) {
	protected := map[string]bool{}
	for _, g := range e.Groups {
		protected[g.Name] = g.Protected
	}
	for _, want := range []bool{true, false} {
		left := most
		for _, l := range s.Listed {
			if left > 0 && protected[e.Clients[l.Client].Group] == want {
				left--
				some = append(some, l)
			}
		}
	}
	return some
}
