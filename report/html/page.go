package html

import (
	"cmp"
	"fmt"
	"io"

	"shadow/internal/mapped"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
)

// What is on the page of a replay, from top to bottom: a summary that can be read by who knows nothing of rate limits,
// then what the candidates did, refusals over time, what has changed, whatever else was handed in, the curves, the
// clients and actions, and at last what all of it means.

// A Page is a report in HTML. Only Model must be there; whatever else is there is shown.
type Page struct {
	Model    *report.Model
	Curves   *Curves            // what every limit would refuse
	Times    *Times             // refusals over time; nil: none
	Untimed  string             // whose refusals over time are not known: a sentence
	Sections []document.Section // whatever else there is to say, before the curves
	news     []string           // what has changed since earlier runs
}

// NewPage is the report as a page, with what has changed: the lists that Markdown shows, each folded. What each run
// found stands night by night.
func NewPage(m *report.Model) *Page {
	page := &Page{Model: m}
	h := m.History
	if h == nil {
		return page
	}
	var more, others []string // policies whose newest run is the highest, and the others
	for i := range m.Policies[:m.Detailed] {
		p := &h.Policies[i]
		text := p.Policy + ": " + p.Headline(h, m.Policies[i].RefusedPercent) + "."
		newest, rises := p.Newest()
		if newest != "" {
			text += " " + format.Sentence(newest) + "."
		}
		if rises {
			more = append(more, text)
		} else {
			others = append(others, text)
		}
		for _, s := range p.Moves(h) {
			s.Title = p.Policy + ": " + s.Title
			page.Sections = append(page.Sections, s)
		}
	}
	page.news = append(more, others...)
	for _, f := range h.Facts() {
		page.news = append(page.news, format.Sentence(f.Label)+": "+f.Text+".")
	}
	return page
}

// Write writes the page, all of it or nothing. A page that would be too large is made with less room for lists and
// curves, and says so.
func (p *Page) Write(w io.Writer) error {
	return write(w, func(halvings int) (*view, bool) {
		room := room(halvings)
		return p.view(room), room.drawn(MostPoints) >= 2
	})
}

func (p *Page) view(room room) *view {
	m := p.Model
	title := "What the limits would have done"
	if len(m.Policies) == 0 && p.Curves != nil {
		title = "What every limit would have done"
	}
	alerts := mapped.Of(room.texts(m.Alerts()), func(text string) Alert { return Alert{"warn", text} })
	sections := p.Sections[:min(len(p.Sections), room.listed(60))]
	alerts = append(alerts, leftOut(len(sections), len(p.Sections))...)
	v := reported(&m.Head, title, ledeOf(&m.Head), p.cards(), alerts)
	v.Scripts = append(v.Scripts, "charts.js", "times.js")
	v.Island = &island{Percents: []string{}}
	v.Lacks = "tables cannot be sorted or searched, and there are no charts with a slider. All figures of the tables " +
		"are here."
	if m.Stored != nil {
		v.Stored = clipped(m.Stored.String())
	}
	judged := len(m.Policies) > 0 && m.Input.Requests > 0
	if judged {
		v.add("verdicts", verdicts(m))
	}
	v.add("safe", p.Curves.safe())
	if judged {
		p.candidates(v, room)
	}
	v.begin("news", "What has changed", "What has changed").add("list", room.texts(p.news))
	v.nights(m.History, room, m.Input.AgentsLogged)
	for i := range sections {
		p.handedIn(v, i, room)
	}
	p.Curves.show(v, room)
	if judged {
		details(v.begin("who", "Clients and actions", "Clients and actions"), m, room)
	}
	s := v.begin("means", "What it means, and what it cannot tell", "What it means")
	s.add("words", words{})
	if judged {
		s.add("meanings", meanings(m, room))
	}
	s.add("title", "What was read")
	s.add("facts", room.facts(m.Facts()))
	return v
}

// candidates adds the candidates side by side, and their refusals over time.
func (p *Page) candidates(v *view, room room) {
	m := p.Model
	s := v.begin("candidates", "Candidates side by side", "Candidates")
	s.add("text", "Each row is a limit and what it would have done with the same requests.")
	s.add("tables", report.PolicyTable(m).Pages(room.listed(300), "candidates", int64(len(m.Policies))))
	if m.Banded() {
		s.add("tables", report.BandTable(m).Pages(room.listed(300), "candidates", int64(len(m.Policies))))
	}
	if p.Times == nil {
		return
	}
	v.Island.Times = p.Times.joined(room.drawn(1000), room)
	s = v.begin("times", "Requests and refusals over time", "")
	s.add("times", true)
	if p.Times.Requests == nil {
		s.add("note", "When all requests came is not in the database: a run of shadow tail does not keep it.")
	}
	if left := format.Count(p.Times.Left, "request"); p.Times.Left > 0 {
		s.add("note", left+" of another time would make the bars longer and are left out.")
	}
	s.add("note", clipped(p.Untimed))
	table := []block{{"tables", p.Times.table(room)}}
	s.add("fold", &fold{Class: "kind", Title: "The figures of the chart", Blocks: table})
}

// handedIn adds a section that others have handed in. Of lists of what has changed there are many, which are folded.
func (p *Page) handedIn(v *view, i int, room room) {
	s, link := p.Sections[i], ""
	if i == 0 {
		link = name(s.Title)
	}
	shown := v.begin(fmt.Sprint("s-", i), name(s.Title), link)
	shown.Folded = p.Model.History != nil && s.Table != nil
	for _, text := range room.texts(s.Notes) {
		shown.add("text", text)
	}
	if s.Table != nil {
		s.Table.Title = s.Title
		shown.add("table", s.Table.Page(room.rows(len(p.Sections)), "rows", int64(len(s.Table.Rows))))
	}
}

func (p *Page) cards() []card {
	in := &p.Model.Input
	cards := cardsOf(in)
	add := func(n int, what string) {
		cards = append(cards, card{format.Thousands(int64(n)), format.Plural(n, what)})
	}
	if n := len(p.Model.Policies); n > 0 {
		add(n, "candidate limit")
	}
	if p.Curves != nil {
		add(len(p.Curves.Curves), "curve")
	}
	if in.Unreadable > 0 {
		cards = append(cards, card{format.Percentage(in.UnreadablePercent), "of lines unreadable"})
	}
	return cards
}

// details adds what a page has of each candidate by itself: which clients it hits, what it means, how a server is told.
func details(s *section, m *report.Model, room room) {
	shown := min(len(m.Policies), room.details())
	rows := room.rows(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		blocks := []block{{"text", format.Sentence(report.Headline(p)) + "."}}
		if len(p.TopClients) > 0 {
			blocks = append(blocks, block{"table", report.ClientTable(m, p).Page(rows, "clients", p.ClientsHit)})
		}
		if len(p.TopActions) > 0 { // how many there are in all is not known
			blocks = append(blocks, block{"table", report.ActionTable(p).Page(rows, "actions", 0)})
		}
		facts := document.Facts(room.facts(append(p.RetryFacts(), p.HarmFacts(m.Input.Span.Layouts())...)))
		facts.Add("means", room.texts(p.Meanings())...)
		facts.Add("in nginx", room.texts(p.NginxTexts())...)
		blocks = append(blocks, block{"facts", facts})
		s.add("fold", &fold{Class: "detail", Title: name(p.Policy), Level: 3, Open: true, Blocks: blocks})
	}
	if all := len(m.Policies); shown < all {
		s.add("note", fmt.Sprintf("The first %d of %d candidates have their clients and actions here; --output json has "+
			"those of all.", shown, all))
	}
}

// meanings say once for each kind of limit what it means, of those without a section of their own.
func meanings(m *report.Model, room room) (all []document.Fact) {
	explained := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		kind := cmp.Or(p.Kind, p.Policy)
		if i >= room.details() && !explained[kind] && len(all) < room.notes() {
			all = append(all, document.Fact{
				Label: name(p.Policy), Text: clipped(p.Semantics), Details: []string{"In nginx: " + clipped(p.Nginx)},
			})
		}
		explained[kind] = true
	}
	return all
}
