package html

import (
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"

	"shadow/internal/suggest"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// The answer to what a limit should be, as a page. On top is what suggest says on a terminal. Below it N can be moved. The
// figures of all stops lie in an island of JSON, and answer.js only looks them up. Without a script there are the answer,
// the clients that it hits, and the map, which has the N of each shape and promise.

// An Answer is such a page. Texts and figures are those of the report that it is made from.
type Answer struct {
	Shadow, Command string
	What            string // the log
	Alerts          []Alert
	Verdict         string // in a word or two
	Tone            string // deploy, ceiling, no_limit_can, not_judgeable
	Reason          string
	Facts           []document.Fact // the limit, and what it does
	Note            string
	Paste           []Lines
	Watch           string // how to begin with the lines
	Count, Log      string // a command that counts what would be refused, and lines that have it logged
	Next            []string
	Notes           []string // what the figures below are, and are not

	Protects, Targets string   // which clients
	Bound             *float64 // percent of the target requests that any limit could refuse; nil: unknown
	Groups            []AnswerGroup
	Percents          []string // of protected clients; none: no client is protected
	Shapes            []AnswerShape
	Clients           []AnswerClient
	First, FirstStop  int // what is shown first
}

// An Alert is something notable of the log.
type Alert struct{ Tone, Text string } // stop, warn, info

// Lines are lines that go to one place.
type Lines struct{ Place, Text string }

// An AnswerGroup is a group of clients.
type AnswerGroup struct {
	Name              string `json:"name"`
	Clients           int64  `json:"clients"`
	Requests          int64  `json:"requests"`
	Protected, Target bool   `json:"-"`
	Role              string `json:"role"`
}

// An AnswerClient is a client that lists name.
type AnswerClient struct {
	Name, Short, Agent, Group string
	Requests                  int64
}

// An AnswerShape is limits that differ in their N only.
type AnswerShape struct {
	Key         string // in the address
	Kind, Title string
	Why         [3]string // around what a client needs, and N
	Stops       []AnswerStop
	Keeps       []int // by percent: the first stop that keeps it; −1: none
	Listed      []suggest.Listed
	Lines       []PatternLines // of the server
	Lack        string         // why there are none
}

// An AnswerStop is one limit, and what it does.
type AnswerStop struct {
	N, Scaled    int64
	Limit        string  // as --limit takes it, the scale in it
	Hit, Refused []int64 // by group
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
	return Lines{p.Place, b.String()}
}

var answerFrame = sync.OnceValue(func() frame { return framed("page.js", "tables.js", "copy.js", "answer.js") })

// Write writes the page, all of it or nothing. A page that would be too large is made with less room for lists.
func (p *Answer) Write(w io.Writer) error {
	return write(w, "answer.html", func(halvings int) (any, bool, error) {
		most := suggest.MostListed >> halvings
		view, err := p.view(most)
		return view, most > 0, err
	})
}

// answerView holds what the templates write.
type answerView struct {
	*Answer
	frame
	Alerts []Alert
	Notes  []string
	Kinds  []curveGroup
	Limit  string // at first
	Groups []groupRow
	Hit    []hitRow
	HitBy  string // what is shown of them
	Map    []mapKind
}

type groupRow struct{ Name, Role, Clients, Hit, HitPercent, Requests, Refused, RefusedPercent string }

type hitRow struct{ Client, Short, Agent, Group, Requests, Refused, From, Why string }

type mapKind struct {
	Kind string
	Rows []mapRow
}

type mapRow struct {
	Name  string
	Cells []mapCell
}

type mapCell struct {
	N, Percent, Class, Words string
	Address                  template.URL
}

// mostListed is the most clients that a page names of those that a limit hits.
const mostListed = 20

func (p *Answer) view(most int) (*answerView, error) {
	v := &answerView{Answer: p, frame: answerFrame()}
	v.Title = "What should the limit be?"
	v.Alerts = p.alerts()
	v.Notes = clippedAll(p.Notes, 40)
	for i := range p.Shapes {
		s := &p.Shapes[i]
		if n := len(v.Kinds); n == 0 || v.Kinds[n-1].Kind != s.Kind {
			v.Kinds = append(v.Kinds, curveGroup{Kind: s.Kind})
			v.Map = append(v.Map, mapKind{Kind: s.Kind})
		}
		kind := &v.Kinds[len(v.Kinds)-1]
		kind.Curves = append(kind.Curves, curveName{i, s.Title, i == p.First})
		row := mapRow{Name: s.Title}
		for k := range p.Percents {
			row.Cells = append(row.Cells, p.mapCell(s, k))
		}
		rows := &v.Map[len(v.Map)-1].Rows
		*rows = append(*rows, row)
	}
	if len(p.Percents) == 0 {
		v.Map = nil
	}
	if len(p.Shapes) > 0 {
		p.first(v, most)
	}
	var err error
	v.Data, err = p.data(most)
	return v, err
}

// alerts returns what is notable of the log, as far as there is room.
func (p *Answer) alerts() (some []Alert) {
	for _, alert := range p.Alerts[:min(len(p.Alerts), 40)] {
		some = append(some, Alert{alert.Tone, clipped(alert.Text)})
	}
	return some
}

// mapCell is the least limit of a shape that keeps a promise.
func (p *Answer) mapCell(s *AnswerShape, percent int) mapCell {
	if s.Keeps[percent] < 0 {
		return mapCell{N: "–", Words: "no N keeps it"}
	}
	stop := &s.Stops[s.Keeps[percent]]
	refused, all := p.targeted(stop)
	address := fmt.Sprintf("#kind=%s&n=%d&protect=%s", s.Key, stop.N, p.Percents[percent])
	share := table.Share(format.PercentOf(refused, all))
	c := mapCell{
		N: format.Thousands(stop.N), Class: share.Heated().Class,
		Percent: format.Percentage(format.PercentOf(refused, all)),
		Address: template.URL(address), //nolint:gosec // of our own words
	}
	c.Words = fmt.Sprintf("%s, %s %%: N = %s refuses %s of the target", s.Title, p.Percents[percent], c.N, c.Percent)
	return c
}

// targeted returns how many requests of the target a stop refuses, and how many there are.
func (p *Answer) targeted(stop *AnswerStop) (refused, all int64) {
	for g := range p.Groups {
		if p.Groups[g].Target {
			refused, all = refused+stop.Refused[g], all+p.Groups[g].Requests
		}
	}
	return refused, all
}

// first fills in what is shown before anything is moved.
func (p *Answer) first(v *answerView, most int) {
	s := &p.Shapes[p.First]
	stop := &s.Stops[p.FirstStop]
	v.Limit = stop.Limit
	var sum AnswerGroup
	var hit, refused int64
	row := func(g AnswerGroup, hit, refused int64) groupRow {
		return groupRow{
			g.Name, g.Role, format.Thousands(g.Clients), format.Thousands(hit), format.Percent(format.PercentOf(hit, g.Clients)),
			format.Thousands(g.Requests), format.Thousands(refused), format.Percent(format.PercentOf(refused, g.Requests)),
		}
	}
	for i, g := range p.Groups {
		v.Groups = append(v.Groups, row(g, stop.Hit[i], stop.Refused[i]))
		sum.Clients, sum.Requests = sum.Clients+g.Clients, sum.Requests+g.Requests
		hit, refused = hit+stop.Hit[i], refused+stop.Refused[i]
	}
	sum.Name = "all"
	v.Groups = append(v.Groups, row(sum, hit, refused))
	for _, l := range p.listed(s, most) {
		if l.Refused[p.FirstStop] == 0 || len(v.Hit) == mostListed {
			continue
		}
		c := &p.Clients[l.Client]
		r := hitRow{
			Client: name(c.Name), Short: name(c.Short), Agent: table.Clip(c.Agent, table.PageLong), Group: c.Group,
			Requests: format.Thousands(c.Requests), Refused: format.Thousands(l.Refused[p.FirstStop]),
			From: format.Thousands(l.Need),
		}
		need := r.From
		if l.Need == 0 {
			last := format.Thousands(s.Stops[len(s.Stops)-1].N)
			r.From, need = "> "+last, "more than "+last
		}
		r.Why = s.Why[0] + need + s.Why[1] + format.Thousands(stop.N) + s.Why[2]
		v.Hit = append(v.Hit, r)
	}
	v.HitBy = hitText(len(v.Hit), hit)
}

// hitText says how many of the clients hit are shown; answer.js says the same.
func hitText(shown int, hit int64) string {
	switch {
	case hit == 0:
		return "It hits no client."
	case int64(shown) == hit:
		return "All " + format.Count(hit, "client") + " that it hits."
	}
	return fmt.Sprintf("%s of the %s that it hits: protected ones first, then those that need the highest N.",
		format.Thousands(int64(shown)), format.Count(hit, "client"))
}

// listed are the clients of a list, so many of those to protect and as many others.
func (p *Answer) listed(s *AnswerShape, most int) (some []suggest.Listed) {
	protected := map[string]bool{}
	for _, g := range p.Groups {
		protected[g.Name] = g.Protected
	}
	for _, want := range []bool{true, false} {
		left := most
		for _, l := range s.Listed {
			if left > 0 && protected[p.Clients[l.Client].Group] == want {
				left--
				some = append(some, l)
			}
		}
	}
	return some
}
