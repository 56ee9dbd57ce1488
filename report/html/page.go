package html

import (
	"fmt"
	"html/template"
	"strings"

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
	CSP    template.HTML
	Style  template.CSS
	Script template.JS
	Data   template.JS

	Title    string
	Lede     string
	Cards    []card
	Verdicts []verdict
	Safe     []string // sentences on limits that leave people alone
	Warnings []string

	Policies *table.Page
	Bands    *table.Page // from what to what the figures of Policies may go
	Times    int         // policies of which there are refusals over time
	Untimed  string
	Sections []sectionView
	Curves   *curvesView
	Details  []detailView
	More     string // what has no section of its own

	Facts   []document.Fact
	Means   []meaning
	Shadow  string // the program, and how it was called
	Command string
	Stored  string
}

// A card is a figure and what it counts.
type card struct{ Figure, Label string }

func (p *Page) view(room room) (*pageView, error) {
	m := p.Model
	data, err := p.dataOf(room)
	v := &pageView{
		CSP:   template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + contentPolicy + `">`), //nolint:gosec // made of hashes
		Style: template.CSS(style), Script: template.JS(script), Data: data,                                 //nolint:gosec // our own files
		Title: "What the limits would have done", Lede: ledeOf(m), Cards: p.cards(), Safe: p.safe(),
		Warnings: clippedAll(m.Warnings, room.notes), Facts: clippedFacts(report.Facts(m), room.notes),
		Shadow: strings.TrimSpace("shadow " + m.Version), Command: table.Clip(m.Command, textLength),
	}
	if len(m.Policies) == 0 && p.Curves != nil {
		v.Title = "What every limit would have done"
	}
	if m.Stored != nil {
		v.Stored = table.Clip(report.StoredText(m.Stored), textLength)
	}
	if len(m.Policies) > 0 && m.Input.Requests > 0 {
		v.Verdicts = verdicts(m)
		v.Policies = report.PolicyTable(m, true).Page(room.policies, "candidates", int64(len(m.Policies)))
		if m.Banded() {
			v.Bands = report.BandTable(m).Page(room.policies, "candidates", int64(len(m.Policies)))
		}
		v.Details, v.More = details(m, room)
		v.Means = meanings(m, room)
		v.Times, v.Untimed = min(len(p.Times), room.details), table.Clip(p.Untimed, textLength)
	}
	for i := range p.Sections {
		v.Sections = append(v.Sections, sectionViewOf(&p.Sections[i], room.of(len(p.Sections)), room.notes))
	}
	v.Curves = p.Curves.view(room)
	return v, err
}

// ledeOf says what the page is.
func ledeOf(m *report.Model) string {
	in := &m.Input
	if in.Span == nil {
		return "The log has no request to judge."
	}
	const layout = "2 January 2006 15:04"
	return fmt.Sprintf("A replay of what was logged from %s to %s UTC. Nobody was blocked: this page tells who would have been.",
		in.Span.First.Format(layout), in.Span.Last.Format(layout))
}

func (p *Page) cards() []card {
	in := &p.Model.Input
	cards := []card{
		{format.Thousands(in.Requests), "requests"},
		{format.Thousands(in.Clients), "clients"},
	}
	if in.Span != nil {
		cards = append(cards, card{format.Span(in.Span.Length()), "of log"})
	}
	if n := len(p.Model.Policies); n > 0 {
		cards = append(cards, card{format.Thousands(int64(n)), format.Plural(n, "candidate limit")})
	}
	if p.Curves != nil {
		n := len(p.Curves.Curves)
		cards = append(cards, card{format.Thousands(int64(n)), format.Plural(n, "curve")})
	}
	if in.Unreadable > 0 {
		cards = append(cards, card{format.Percent(in.UnreadablePercent) + " %", "of lines unreadable"})
	}
	return cards
}

// NewPage is the report as a page, with what has changed.
func NewPage(m *report.Model) *Page { return &Page{Model: m, Sections: pageHistory(m)} }

// pageHistory is what has changed, for a page: the sections that Markdown shows. Their notes stand above their tables.
func pageHistory(m *report.Model) []document.Section {
	if m.History == nil {
		return nil
	}
	changed := document.Section{Title: "What has changed"}
	for _, f := range m.History.Facts() {
		changed.Notes = append(changed.Notes, f.Label+": "+f.Text)
	}
	all := []document.Section{changed}
	for i := range m.Policies[:m.Detailed] {
		p := &m.History.Policies[i]
		for j, s := range p.Sections(m.History, m.Input.AgentsLogged) {
			s.Title = p.Policy + ": " + s.Title
			if j == 0 {
				s.Notes = []string{format.Sentence(p.Headline(m.History, m.Policies[i].RefusedPercent)) + "."}
			}
			all = append(all, s)
		}
	}
	return all
}
