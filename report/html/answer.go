package html

import (
	"fmt"
	"io"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/suggest"
	"shadow/report/document"
	"shadow/report/table"
)

// The answer to what a limit should be, as a page. On top is what suggest says on a terminal. Below it any limit can be
// chosen: of a page that is served, or stands in another one, each is asked and computed; else those of some shapes lie
// in an island of JSON. Without a script there are the answer, the clients that it hits, and the map, which has the N
// of each shape and promise.

// An Answer is such a page. Texts and figures are those of the report that it is made from.
type Answer struct {
	Shadow, Command string
	What            string // the log
	Alerts          []document.Alert
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
	Asked             *Asked   // how any limit can be asked about; nil: those of Explored are on the page
	Percents          []string // of protected clients; none: no client is protected
	Explored
}

// Asked holds what a page that asks begins with. Its questions go to the address "ask" below that of the page, or as
// messages to the page that it stands in.
type Asked struct {
	Keys    []string // by which limits may count
	Actions []string // whose requests may be looked at alone
	State   any      // of a log that grows, as the question "state" tells it; nil: it does not
	Start
}

var (
	storedScripts = []string{"charts.js", "explorer.js", "stored.js"}
	askedScripts  = []string{"charts.js", "explorer.js", "asked.js", "log.js"}
)

// AskedHashes returns the hashes of the script and of the style of a page that asks, for the rules of one that it
// stands in.
func AskedHashes() (script, style string) {
	f := framed(askedScripts...)
	return hashOf(string(f.Script)), hashOf(string(f.Style))
}

// Write writes the page, all of it or nothing.
func (p *Answer) Write(w io.Writer) error { return write(w, p.view) }

func (p *Answer) view(room room) *view {
	v := &view{
		section: section{Title: "What should the limit be?"}, Lede: p.What, Begin: "Answer",
		Shadow: p.Shadow, Command: p.Command,
		Lacks:  "N cannot be moved. The answer, the clients that it hits, and the map with the N of each shape are here.",
		Island: &island{Bound: p.Bound, Protects: p.Protects, Percents: append([]string{}, p.Percents...)},
	}
	v.add("answer", answered{p, p.blocks()})
	v.alert("What was found in the log", p.Alerts, room, p.Tone == "not_judgeable")
	p.explore(v, room.drawn(suggest.MostListed))
	v.begin("means", "What it means", "What it means").add("words", words{true, room.texts(p.Notes, mostNotes)})
	return v
}

// words tell what the words of an answer mean, or of a replay.
type words struct {
	Answer bool
	Notes  []string
}

// An answered is an answer, and what it does and how to begin with it.
type answered struct {
	*Answer
	Blocks []block
}

// blocks returns what the answer does, and how to begin with it.
func (p *Answer) blocks() []block {
	var s section
	s.add("facts", p.Facts)
	if len(p.Paste) > 0 {
		s.add("note", p.Note)
		s.add("paste", p.Paste)
		s.add("text", p.Watch)
		s.add("paste", pasted(Lines{Text: p.Count, What: "A command"}, Lines{Text: p.Log, What: "Lines for the log"}))
	}
	next := mapped.Add(nil, p.Next, func(command string) Lines { return Lines{Text: command, What: "A command"} })
	if next != nil {
		s.add("title", "Next")
	}
	s.add("paste", next)
	return s.Blocks
}

// pasted returns those lines that have a text.
func pasted(all ...Lines) []Lines {
	return slices.DeleteFunc(all, func(l Lines) bool { return l.Text == "" })
}

// explore adds what can be chosen.
func (p *Answer) explore(v *view, most int) {
	e := &explorer{Percents: p.Percents, Answered: p.Limit != "", Asked: p.Asked}
	e.About = fmt.Sprintf("Each figure is that of a replay of the whole log. Protected: %s. Target: %s.",
		p.Protects, p.Targets)
	switch a := p.Asked; {
	case a != nil:
		e.Limit, e.Groups = a.Limit, groupTable("identity", nil, nil, 0)
		e.Clients = clientTable("Clients that the limit hits; press one to see its requests", nil, new(Shape), 0)
		v.Island.State, v.Island.Answer = a.State, a.Start
		v.show(e, askedScripts...)
		v.ask()
	case len(p.Shapes) > 0:
		v.Island.Stored = p.stored(most)
		first, stop := &v.Island.Stored.Shapes[p.First], p.FirstStop
		e.Stored, e.Limit, e.Groups = &p.Explored, first.limit(stop), groupTable("identity", p.Groups, first, stop)
		e.Clients = clientTable("Clients that the limit hits", v.Island.Stored.Clients, first, stop)
		v.Island.Answer = Start{Limit: e.Limit, N: first.Stops[stop], Why: p.WhyLooser}
		if p.Limit != "" {
			v.Island.Answer.Shape = first.Name
		}
		v.show(e, storedScripts...)
	}
}

// ask adds what only a log that is still there can tell.
func (v *view) ask() {
	for _, part := range [][2]string{{"time", "Over time"}, {"one", "One client"}, {"compare", "Compare"}} {
		s := v.begin(part[0], part[1], part[1])
		s.Scripted = true
		s.add(part[0], true)
	}
	both := table.New(table.Words("identity"))
	both.Title = "What both limits do to the clients of each identity"
	both.Head(table.Numbers("hit", "by the other", "refused", "by the other")...)
	either := table.New(table.Words("client"), table.Words("is"), table.Words("identity"), table.Long("agent"))
	either.Title = "Clients that only one of the limits hits"
	either.Head(table.Numbers("requests", "refused")...)
	compare := v.Sections[len(v.Sections)-1]
	compare.add("grid", grid("both", both))
	compare.add("grid", grid("either", either))
}
