package html

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"shadow/report/format"
	"shadow/report/table"
)

// Any limit: what is shown of one, of those that a page has or of those that it can ask about.

// Explored holds limits that a page has, what each does, and which one is shown first.
type Explored struct {
	Groups    []Group   `json:"groups"`
	Requests  int64     `json:"requests"` // of all groups, where it is not known which sent how many
	Shapes    []Shape   `json:"shapes"`
	Clients   []*Client `json:"clients"` // null: no shape lists it
	First     int       `json:"-"`       // shape
	FirstStop int       `json:"-"`
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
	Name     string `json:"client"`
	Short    string `json:"short"` // agent
	Agent    string `json:"agent"`
	Group    string `json:"identity"`
	Requests int64  `json:"requests"`
}

// A Shape is limits that differ in their N only.
type Shape struct {
	Kind    string          `json:"-"`
	Title   string          `json:"-"`
	Name    string          `json:"shape"`  // of both
	Before  string          `json:"before"` // N in the text of a limit
	After   string          `json:"after"`
	Limits  []string        `json:"limits"`  // or all of it, by stop, the scale in it
	Stops   Column          `json:"stops"`   // N
	Scaled  Column          `json:"scaled"`  // N in lines; null: the same
	Stepped bool            `json:"stepped"` // what a limit does holds up to the next stop
	Counted []int           `json:"counted"` // stops whose Refused is known; null: all
	Hit     []Column        `json:"hit"`     // clients by group, then by stop
	Refused []Column        `json:"refused"` // requests by group, then by stop or by Counted
	Keeps   []int           `json:"keeps"`   // the first stop that keeps each of the percents; −1: none
	Why     [3]string       `json:"why"`     // around what a client needs, and N
	Listed  []Listed        `json:"listed"`
	Lines   []PatternLines  `json:"lines"` // of the server
	Other   map[int][]Lines `json:"other"` // by stop, where they are not those of the pattern
	Lack    string          `json:"lack"`  // why there are none
	Note    string          `json:"note"`  // what the curve is
}

// A Column holds numbers that come one after the other. In JSON they are differences, most of which are short; the last
// number is written once.
type Column []int64

// MarshalJSON returns the differences.
func (c Column) MarshalJSON() ([]byte, error) {
	differences := slices.Clone([]int64(c))
	for i := len(c) - 1; i > 0; i-- {
		differences[i] -= c[i-1]
	}
	for n := len(differences); n > 0 && differences[n-1] == 0; n-- {
		differences = differences[:n-1]
	}
	return json.Marshal(differences)
}

// A Listed is a client that some stops hit.
type Listed struct {
	Client  int    `json:"client"`  // index
	Need    int64  `json:"need"`    // the least N that does not hit it; 0: the last stop hits it
	Refused Column `json:"refused"` // by stop
}

// limit returns the text of a limit.
func (s *Shape) limit(stop int) string {
	if s.Limits != nil {
		return s.Limits[stop]
	}
	return s.Before + format.Plain(s.Stops[stop]) + s.After
}

// PatternLines are lines of a server in which N may be put: pieces of text, and between them numbers to add to it.
type PatternLines struct {
	Place string   `json:"place"`
	Parts []string `json:"parts"`
	Adds  []int64  `json:"adds"` // one less than Parts
}

// With puts a limit in.
func (p *PatternLines) With(n int64) Lines {
	var b strings.Builder
	for i, part := range p.Parts {
		if i > 0 {
			b.WriteString(format.Plain(n + p.Adds[i-1]))
		}
		b.WriteString(part)
	}
	return Lines{Place: p.Place, Text: b.String()}
}

// stored returns the limits with so many clients of each shape at most, those to protect and others.
func (e *Explored) stored(most int) *Explored {
	d := &Explored{Requests: e.Requests, Clients: make([]*Client, len(e.Clients))}
	protected := map[string]bool{}
	for _, g := range e.Groups {
		protected[g.Name] = g.Protected
	}
	d.Groups = append([]Group{}, e.Groups...)
	for _, s := range e.Shapes {
		all := s.Listed
		s.Name, s.Listed = s.Kind+" "+s.Title, []Listed{}
		for _, want := range []bool{true, false} {
			left := most
			for _, l := range all {
				c := e.Clients[l.Client]
				if left == 0 || protected[c.Group] != want {
					continue
				}
				left--
				s.Listed = append(s.Listed, l)
				agent := table.Clip(c.Agent, table.PageLong)
				d.Clients[l.Client] = &Client{name(c.Name), name(c.Short), agent, c.Group, c.Requests}
			}
		}
		d.Shapes = append(d.Shapes, s)
	}
	return d
}

// An explorer is what the templates write of it. Groups and clients are those of the first limit, for readers without a
// script.
type explorer struct {
	About    string
	Asked    *Asked // nil: the limits of Stored are on the page
	Stored   *Explored
	Percents []string // of protected clients that the least N for them is known of
	Limit    string
	Answered bool // whether Limit is an answer
	Groups   *table.Page
	Clients  *table.Page // nil: none are listed
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
	if e.Stored != nil && len(e.Percents) > 0 {
		s = v.begin("map", "Map: the least N that leaves so many unhurt", "Map")
		of := "all requests"
		if e.Stored.aims() {
			of = "the target requests"
		}
		s.add("text", fmt.Sprintf("A column is a share of %s that are not hit. A cell has the least N that keeps it, and the "+
			"share of %s that it refuses; press one to choose it.", v.Island.Protects, of))
		s.add("maps", e.Stored.maps(e.Percents))
	}
}

// aims reports whether limits are meant for some of the groups.
func (e *Explored) aims() bool {
	return slices.ContainsFunc(e.Groups, func(g Group) bool { return g.Target })
}

// maps returns the least limits of each shape that keep each promise, by kind.
func (e *Explored) maps(percents []string) (maps []*table.Page) {
	for i := range e.Shapes {
		s := &e.Shapes[i]
		if n := len(maps); n == 0 || maps[n-1].Title != s.Kind {
			t := table.New(table.Words("limit"))
			t.Title = s.Kind
			for _, percent := range percents {
				t.Head(table.Number(percent + " %"))
			}
			maps = append(maps, t.Page(0, "", 0))
			maps[n].Class = "heat"
		}
		row := []table.PageCell{{Text: s.Title}}
		for k, percent := range percents {
			row = append(row, e.mapCell(s, s.Keeps[k], percent))
		}
		last := maps[len(maps)-1]
		last.Rows = append(last.Rows, row)
	}
	return maps
}

// mapCell returns the least limit of a shape that keeps a promise, and what it refuses of the target, or of all requests.
func (e *Explored) mapCell(s *Shape, stop int, percent string) table.PageCell {
	c := table.PageCell{Text: "–", Class: "num"}
	if stop < 0 {
		return c
	}
	at := stop
	if s.Counted != nil {
		at = slices.Index(s.Counted, stop)
	}
	refused, all := int64(0), int64(0)
	for g := range e.Groups {
		if at >= 0 && e.Groups[g].Target == e.aims() {
			refused, all = refused+s.Refused[g][at], all+e.Groups[g].Requests
		}
	}
	c.Lead = format.Thousands(s.Stops[stop])
	if at >= 0 {
		share := format.PercentOf(refused, cmp.Or(all, e.Requests))
		c.Text = format.Percentage(share)
		if n := table.Twentieths(share); n > 0 {
			c.Class = fmt.Sprintf("num bar b%d", n)
		}
	}
	c.Title = fmt.Sprintf("%s, %s %%: N = %s refuses %s", s.Title, percent, c.Lead, c.Text)
	c.Link = "#" + url.Values{"limit": {s.limit(stop)}}.Encode()
	return c
}

// grid returns a table that scripts know by its id.
func grid(id string, t *table.Table) *table.Page {
	p := t.Page(len(t.Rows), "", 0)
	p.ID = id
	return p
}

// groupTable returns a table of what a limit does to groups, and to all of them; without groups, its heads.
func groupTable(of string, groups []Group, s *Shape, stop int) *table.Page {
	t := table.New(table.Words(of), table.Words("is"))
	t.Title = "What the limit does to the clients of each " + of
	t.Head(table.Numbers("clients", "hit", "%", "requests", "refused", "%")...)
	add := func(g Group, hit, refused int64) {
		t.Add(
			table.Text(g.Name), table.Text(g.role()),
			table.Count(g.Clients), table.Count(hit), percentCell(hit, g.Clients),
			table.Count(g.Requests), table.Count(refused), percentCell(refused, g.Requests),
		)
	}
	sum, hit, refused := Group{Name: "all"}, int64(0), int64(0)
	for i, g := range groups {
		add(g, s.Hit[i][stop], s.Refused[i][stop])
		sum.Clients, sum.Requests = sum.Clients+g.Clients, sum.Requests+g.Requests
		hit, refused = hit+s.Hit[i][stop], refused+s.Refused[i][stop]
	}
	if groups != nil {
		add(sum, hit, refused)
	}
	return grid("groups", t)
}

// percentCell returns a share in percent, without a bar.
func percentCell(n, of int64) table.Cell { return table.Text(format.Percent(format.PercentOf(n, of))) }

// mostListed is the most clients that a page names of those that a limit hits.
const mostListed = 20

// clientTable returns a table of the clients of a list that a limit hits; without a list, its heads.
func clientTable(title string, clients []*Client, s *Shape, stop int) *table.Page {
	t := table.New(table.Words("client"), table.Words("identity"), table.Long("agent"))
	t.Title = title
	t.Head(append(table.Numbers("requests", "refused", "%"), table.Words("why"))...)
	for _, l := range s.Listed {
		refused := l.Refused[stop]
		if refused == 0 || len(t.Rows) == mostListed {
			continue
		}
		need := format.Thousands(l.Need)
		if l.Need == 0 {
			need = "more than " + format.Thousands(s.Stops[len(s.Stops)-1])
		}
		c := clients[l.Client]
		t.Add(
			table.Text(c.Name), table.Text(c.Group), table.Brief(c.Agent, c.Short),
			table.Count(c.Requests), table.Count(refused), percentCell(refused, c.Requests),
			table.Text(s.Why[0]+need+s.Why[1]+format.Thousands(s.Stops[stop])+s.Why[2]),
		)
	}
	return grid("clients", t)
}

// An island is what the scripts of a page need, as JSON.
type island struct {
	Answer   Start     `json:"answer"`
	Bound    *float64  `json:"bound"`    // percent of the target requests that any limit could refuse; null: unknown
	Protects string    `json:"protects"` // which clients
	Percents []string  `json:"percents"`
	Stored   *Explored `json:"stored"` // null: what is asked is computed
	Times    *Times    `json:"times"`  // null: there are none
	State    any       `json:"state"`  // of a log that grows; null: it does not
}

// A Start is the limit that is shown first.
type Start struct {
	Limit  string `json:"limit"`
	By     string `json:"by"`
	Action string `json:"action"` // for which it is; "": all requests
	Shape  string `json:"shape"`  // the curve that it lies on, if it is an answer; "": none
	N      int64  `json:"n"`
	Why    string `json:"why"` // it may be looser than the least that hits no protected client
}
