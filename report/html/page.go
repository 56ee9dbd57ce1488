package html

import (
	"cmp"
	"fmt"
	"strings"

	"shadow/internal/request"
	"shadow/internal/traffic/who"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/table"
)

// What is on the page, from top to bottom: a summary that can be read by who knows nothing of rate limits, then what
// the candidates did, refusals over time, whatever else was handed in, the curves, the clients and actions, and at
// last what all of it means.

// A pageView is all that the templates write.
type pageView struct {
	frame
	Lede     string
	Cards    []card
	Verdicts []verdict
	Safe     []string // sentences on limits that leave people alone
	Warnings []string

	Policies []*table.Page
	Bands    []*table.Page // the ranges of the figures of Policies
	Times    []*table.Page // behind the chart of refusals over time
	Untimed  []string      // what the chart leaves out
	News     []string      // what has changed since earlier runs
	Nights   *nightsView   // of stored runs; nil: fewer than two
	Sections []sectionView // that others have handed in
	Curves   *curvesView
	Details  []detailView
	More     string // what has no section of its own

	Facts   []document.Fact
	Means   []meaning
	Shadow  string // the program, and how it was called
	Command string
	Stored  string
}

// untimed says what the chart of refusals over time leaves out.
func (p *Page) untimed() (notes []string) {
	if p.Times.Requests == nil {
		notes = append(notes, "When all requests came is not in the database: a run of shadow tail does not keep it.")
	}
	if p.Times.Left > 0 {
		notes = append(notes, format.Count(p.Times.Left, "request")+" of another time would make the bars longer and are left out.")
	}
	if p.Untimed != "" {
		notes = append(notes, p.Untimed)
	}
	return notes
}

type sectionView struct {
	Title  string
	Folded bool
	Notes  []string
	Table  *table.Page
}

// A card is a figure and what it counts.
type card struct{ Figure, Label string }

func (p *Page) view(room room) (*pageView, error) {
	m := p.Model
	v := &pageView{
		frame: pageFrame(), Lede: ledeOf(&m.Head), Cards: p.cards(), Safe: p.safe(),
		Warnings: clippedAll(m.Alerts(), room.notes),
		Facts:    clippedFacts(m.Facts(), room.notes),
		Shadow:   strings.TrimSpace("shadow " + m.Version), Command: clipped(m.Command),
	}
	v.Title = "What the limits would have done"
	if len(m.Policies) == 0 && p.Curves != nil {
		v.Title = "What every limit would have done"
	}
	if m.Stored != nil {
		v.Stored = clipped(m.Stored.String())
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		v.Verdicts = verdicts(m)
		v.Policies = report.PolicyTable(m).Pages(room.policies, "candidates", int64(len(m.Policies)))
		if m.Banded() {
			v.Bands = report.BandTable(m).Pages(room.policies, "candidates", int64(len(m.Policies)))
		}
		v.Details, v.More = details(m, room)
		v.Means = meanings(m, room)
		if p.Times != nil {
			v.Times, v.Untimed = p.Times.table(room), clippedAll(p.untimed(), room.notes)
		}
	}
	v.News = clippedAll(p.news, room.notes)
	v.Nights = nightsOf(m.History, room, m.Input.AgentsLogged)
	for _, s := range p.Sections[:min(len(p.Sections), room.sections)] {
		section := sectionView{Title: name(s.Title), Notes: clippedAll(s.Notes, room.notes), Folded: m.History != nil && s.Table != nil}
		if s.Table != nil {
			s.Table.Title = s.Title
			section.Table = s.Table.Page(room.of(len(p.Sections)), "rows", int64(len(s.Table.Rows)))
		}
		v.Sections = append(v.Sections, section)
	}
	if left := leftOut(len(v.Sections), len(p.Sections)); left != "" {
		v.Warnings = append(v.Warnings, left)
	}
	if v.Curves = p.Curves.view(room); v.Curves != nil {
		frame := sweepFrame()
		v.Style, v.Script, v.CSP = frame.Style, frame.Script, frame.CSP
	}
	var err error
	v.Data, err = p.dataOf(room)
	return v, err
}

// leftOut says that not all sections are shown.
func leftOut(shown, all int) string {
	if shown == all {
		return ""
	}
	return fmt.Sprintf("The page has room for the first %d of %d sections; other outputs have all.", shown, all)
}

// ledeOf says what the page is.
func ledeOf(h *report.Head) string {
	in := &h.Input
	if in.Span == nil {
		return "The log has no request to judge."
	}
	const layout = "2 January 2006 15:04"
	return fmt.Sprintf("A replay of what was logged from %s to %s UTC. No client was blocked: this page tells who would "+
		"have been.",
		in.Span.First.Format(layout), in.Span.Last.Format(layout))
}

// cardsOf returns what was read.
func cardsOf(in *report.Input) []card {
	cards := []card{
		{format.Thousands(in.Requests), "requests"},
		{format.Thousands(in.Clients), "clients"},
	}
	if in.Span != nil {
		cards = append(cards, card{format.Span(in.Span.Length()), "of log"})
	}
	return cards
}

func (p *Page) cards() []card {
	in := &p.Model.Input
	cards := cardsOf(in)
	if n := len(p.Model.Policies); n > 0 {
		cards = append(cards, card{format.Thousands(int64(n)), format.Plural(n, "candidate limit")})
	}
	if p.Curves != nil {
		n := len(p.Curves.Curves)
		cards = append(cards, card{format.Thousands(int64(n)), format.Plural(n, "curve")})
	}
	if in.Unreadable > 0 {
		cards = append(cards, card{format.Percentage(in.UnreadablePercent), "of lines unreadable"})
	}
	return cards
}

// NewPage is the report as a page, with what has changed: the lists that Markdown shows, each folded. What each run found
// stands in nightsView.
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

// What a page has of each candidate by itself: which clients it hits, what it means, how a server is told.

type detailView struct {
	Name, Text       string
	Facts            []document.Fact
	Means            []string
	Nginx            []string
	Clients, Actions *table.Page
}

// A meaning is what some policies mean.
type meaning struct{ Name, Semantics, Nginx string }

func details(m *report.Model, room room) (views []detailView, more string) {
	shown := min(len(m.Policies), room.details)
	rows := room.of(shown)
	for i := range m.Policies[:shown] {
		p := &m.Policies[i]
		d := detailView{
			Name: name(p.Policy), Text: format.Sentence(report.Headline(p)) + ".",
			Facts: clippedFacts(append(p.RetryFacts(), p.HarmFacts(m.Input.Span.Layouts())...), room.notes),
			Means: clippedAll(p.Meanings(), room.notes),
			Nginx: clippedAll(p.NginxTexts(), room.notes),
		}
		if len(p.TopClients) > 0 {
			d.Clients = report.ClientTable(m, p).Page(rows, "clients", p.ClientsHit)
		}
		if len(p.TopActions) > 0 {
			d.Actions = report.ActionTable(p).Page(rows, "actions", 0) // how many there are in all is not known
		}
		views = append(views, d)
	}
	if shown < len(m.Policies) {
		more = fmt.Sprintf("The first %d of %d candidates have their clients and actions here; --output json has those of "+
			"all.", shown, len(m.Policies))
	}
	return views, more
}

// meanings say once for each kind of limit what it means, of those without a section of their own.
func meanings(m *report.Model, room room) (all []meaning) {
	explained := map[string]bool{}
	for i := range m.Policies {
		p := &m.Policies[i]
		kind := cmp.Or(p.Kind, p.Policy)
		if i >= room.details && !explained[kind] && len(all) < room.notes {
			all = append(all, meaning{name(p.Policy), clipped(p.Semantics), clipped(p.Nginx)})
		}
		explained[kind] = true
	}
	return all
}

// The summary at the top of a page, for who knows nothing of rate limits: a few candidates in a sentence each, with
// bars that say how many clients of each class they hit, and which limits affect no people.

// A verdict is a policy in a sentence.
type verdict struct {
	Name, Text string
	Percent    string
	Parts      []bar
	Tag        string // loosest, strictest
}

// A bar is a class of clients in a verdict.
type bar struct {
	Class      string
	Hit        string // clients hit, of all
	Percent    string
	Twentieths int
}

// fewVerdicts is the most candidates that the summary speaks of.
const fewVerdicts = 4

// verdicts are the first few candidates; of many, also the loosest and the strictest of all.
func verdicts(m *report.Model) (all []verdict) {
	loosest, strictest := 0, 0
	for i := range m.Policies {
		if m.Policies[i].Refused < m.Policies[loosest].Refused {
			loosest = i
		}
		if m.Policies[i].Refused > m.Policies[strictest].Refused {
			strictest = i
		}
	}
	for i := range m.Policies {
		if i >= fewVerdicts && i != loosest && i != strictest {
			continue
		}
		p := &m.Policies[i]
		v := verdict{Name: name(p.Policy), Percent: format.Percent(p.RefusedPercent), Text: verdictText(p)}
		if m.Input.AgentsLogged {
			v.addBars(p)
		}
		if loosest != strictest {
			switch i {
			case loosest:
				v.Tag = "loosest"
			case strictest:
				v.Tag = "strictest"
			}
		}
		all = append(all, v)
	}
	return all
}

// addBars tells how many of each class are hit, of the classes that are there.
func (v *verdict) addBars(p *report.Policy) {
	add := func(whose string, f report.ClassFigures) {
		if f.Clients == 0 {
			return
		}
		share := format.PercentOf(f.ClientsHit, f.Clients)
		v.Parts = append(v.Parts, bar{
			Class: whose, Percent: format.Percent(share), Twentieths: table.Twentieths(share),
			Hit: format.Thousands(f.ClientsHit) + " of " + format.Thousands(f.Clients),
		})
	}
	for class, f := range p.ByClass {
		if p.ByIdentity == nil {
			add(report.ClassTitle(request.Class(class)), f)
		}
	}
	if p.ByIdentity != nil {
		for is, f := range p.ByIdentity {
			add(who.Identity(is).String(), f)
		}
	}
}

// verdictText is the policy for those who have never heard of one.
func verdictText(p *report.Policy) string {
	if p.Refused == 0 && p.Delayed == 0 && p.Range == nil {
		return "It would have refused nothing."
	}
	text := fmt.Sprintf("It would have refused %s of %s, of %s of %s.",
		p.RefusedText(), format.Count(p.Requests, "request"), p.HitText(), format.Count(p.Clients, "client"))
	if p.Range != nil {
		text += " An approximation: in brackets, what it may also be."
	}
	if p.Delayed > 0 {
		text += fmt.Sprintf(" %s would have had to wait, half of them for %s at most.", format.Count(p.Delayed, "request"),
			format.Wait(p.Delay.P50))
	}
	return text
}

// safe says which limits affect next to no people, by the curve that is looked at first.
func (p *Page) safe() (sentences []string) {
	c := p.Curves
	if c == nil || c.first() == nil {
		return nil
	}
	curve, last := c.first(), int64(0)
	clients, hit, who := c.protected()
	for _, share := range []int64{1000, 999, 990} {
		at := curve.Protecting(clients, share, hit)
		if at == nil || at.Limit == last {
			continue
		}
		last = at.Limit
		affects := "none"
		if share < 1000 {
			affects = "at most " + format.ShareText(1000-share)
		}
		sentences = append(sentences, fmt.Sprintf("%s affects %s of the %s, and refuses %s of all requests.",
			curve.Limit(at.Limit), affects, who, format.Percentage(format.PercentOf(at.Refused.Sum(), c.Judged))))
	}
	if sentences == nil {
		return nil
	}
	for _, text := range []string{c.whoText(), c.From} {
		if text != "" {
			sentences = append(sentences, text)
		}
	}
	return sentences
}
