package html

import (
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"shadow/internal/suggest"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// The answer to what a limit should be, as a page. On top is what suggest says on a terminal. Below it any limit can be
// chosen: of a page that is served, or stands in another one, each is asked and computed; else those of some shapes lie in an
// island of JSON (stored.go). Without a script there are the answer, the clients that it hits, and the map, which has the N
// of each shape and promise.

// An Answer is such a page. Texts and figures are those of the report that it is made from.
type Answer struct {
	Shadow, Command string
	What            string // the log
	Alerts          []Alert
	Verdict         string // in a word or two
	Tone            string // deploy, ceiling, no_limit_can, not_judgeable
	Limit, InWords  string // the answer; "": there is none
	Reason          string
	Facts           []document.Fact // the limit, and what it does
	Note            string
	Paste           []Lines
	Watch           string // how to begin with the lines
	Count, Log      string // a command that counts what would be refused, and lines that have it logged
	Next            []string
	Notes           []string // what the figures below are, and are not

	Protects, Targets string   // which clients
	WhyLooser         string   // than the least limit that hits no protected client
	Bound             *float64 // percent of the target requests that any limit could refuse; nil: unknown
	Asked             *Asked   // how any limit can be asked about; nil: those of Shapes are on the page
	Groups            []Group
	Percents          []string // of protected clients; none: no client is protected
	Shapes            []AnswerShape
	Clients           []AnswerClient
	First, FirstStop  int // what is shown first
}

// An Alert is something notable of the log.
type Alert struct{ Tone, Text string } // stop, warn, info

// Lines are lines that go to one place.
type Lines struct{ Place, Text string }

// Asked holds what a page that asks begins with. Its questions go to the address "ask" below that of the page, or as messages
// to the page that it stands in.
type Asked struct {
	Keys    []string // by which limits may count
	Actions []string // whose requests may be looked at alone
	Limit   string   // that is shown first
	Size    int64    // its size
	Action  string   // for which it is; "" for all requests
	Shape   string   // the curve that it lies on; "": none
	State   any      // of a log that grows, as the question "state" tells it; nil: it does not
}

// An AnswerClient is a client that lists name.
type AnswerClient struct {
	Name, Short, Agent, Group string
	Requests                  int64
}

// An AnswerShape is limits that differ in their N only.
type AnswerShape struct {
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

var (
	answerFrame = sync.OnceValue(func() frame { return framed("page.js", "copy.js", "charts.js", "explorer.js", "stored.js") })
	askedFrame  = sync.OnceValue(func() frame {
		return served("page.js", "copy.js", "charts.js", "explorer.js", "asked.js", "log.js")
	})
)

// AskedHashes returns the hashes of the script and of the style of a page that asks, for the rules of one that it stands in.
func AskedHashes() (script, style string) {
	f := askedFrame()
	return hashOf(string(f.Script)), hashOf(string(f.Style))
}

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
	Alerts   []Alert
	Notes    []string
	Explorer *explorerView // nil: there is nothing to choose
	Map      []mapKind
}

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
	v := &answerView{Answer: p, frame: answerFrame(), Alerts: p.alerts(), Notes: clippedAll(p.Notes, 40)}
	island := island{Bound: p.Bound, Protects: p.Protects, Percents: append([]string{}, p.Percents...)}
	about := fmt.Sprintf("Each figure is that of a replay of the whole log. Protected: %s. Target: %s.", p.Protects, p.Targets)
	switch {
	case p.Asked != nil:
		v.frame = askedFrame()
		v.Explorer = &explorerView{Asked: p.Asked, Limit: p.Asked.Limit}
		island.State = p.Asked.State
		island.Answer = start{p.Asked.Limit, "client", p.Asked.Action, p.Asked.Shape, p.Asked.Size, p.WhyLooser}
	case len(p.Shapes) > 0:
		shape := &p.Shapes[p.First]
		stop := &shape.Stops[p.FirstStop]
		v.Explorer = &explorerView{
			Kinds: p.kinds(), Limit: stop.Limit, Groups: groupRows(p.Groups, stop.Hit, stop.Refused), Hit: p.hitRows(most),
		}
		island.Answer = start{Limit: stop.Limit, N: stop.N, Why: p.WhyLooser}
		if p.Limit != "" {
			island.Answer.Shape = shape.name()
		}
		island.Stored = p.stored(most)
	}
	if v.Explorer != nil {
		v.Explorer.About, v.Explorer.Grouped, v.Explorer.Listed, v.Explorer.Percents = about, "identity", true, p.Percents
		v.Explorer.Answered = p.Limit != ""
	} else {
		v.frame = documentFrame()
	}
	if len(p.Percents) > 0 && p.Asked == nil {
		v.Map = p.maps()
	}
	v.Title = "What should the limit be?"
	var err error
	v.Data, err = island.text()
	return v, err
}

// kinds are the names of the shapes, by kind.
func (p *Answer) kinds() (kinds []curveGroup) {
	for i := range p.Shapes {
		s := &p.Shapes[i]
		if n := len(kinds); n == 0 || kinds[n-1].Kind != s.Kind {
			kinds = append(kinds, curveGroup{Kind: s.Kind})
		}
		kind := &kinds[len(kinds)-1]
		kind.Curves = append(kind.Curves, curveName{i, s.Title, i == p.First})
	}
	return kinds
}

// maps are the least limits of each shape that keep each promise, by kind.
func (p *Answer) maps() (kinds []mapKind) {
	for i := range p.Shapes {
		s := &p.Shapes[i]
		if n := len(kinds); n == 0 || kinds[n-1].Kind != s.Kind {
			kinds = append(kinds, mapKind{Kind: s.Kind})
		}
		row := mapRow{Name: s.Title}
		for k := range p.Percents {
			row.Cells = append(row.Cells, p.mapCell(s, k))
		}
		rows := &kinds[len(kinds)-1].Rows
		*rows = append(*rows, row)
	}
	return kinds
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
	address := "#" + url.Values{"limit": {stop.Limit}}.Encode()
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

// hitRows are clients that the first limit hits, of those that lists have room for.
func (p *Answer) hitRows(most int) (rows []hitRow) {
	s := &p.Shapes[p.First]
	for _, l := range p.listed(s, most) {
		if l.Refused[p.FirstStop] == 0 || len(rows) == mostListed {
			continue
		}
		c := &p.Clients[l.Client]
		need := format.Thousands(l.Need)
		if l.Need == 0 {
			need = "more than " + format.Thousands(s.Stops[len(s.Stops)-1].N)
		}
		rows = append(rows, hitRow{
			Client: name(c.Name), Short: name(c.Short), Agent: table.Clip(c.Agent, table.PageLong), Group: c.Group,
			Requests: format.Thousands(c.Requests), Refused: format.Thousands(l.Refused[p.FirstStop]),
			Percent: format.Percent(format.PercentOf(l.Refused[p.FirstStop], c.Requests)),
			Why:     s.Why[0] + need + s.Why[1] + format.Thousands(s.Stops[p.FirstStop].N) + s.Why[2],
		})
	}
	return rows
}

// name tells one shape from others.
func (s *AnswerShape) name() string { return s.Kind + " " + s.Title }

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
