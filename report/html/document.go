package html

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// mostParts is the most parts of a report that its page shows.
const mostParts = 60

// Write writes the page, all of it or nothing.
func (d *Document) Write(w io.Writer) error {
	text := document.Writer{Page: &document.Page{}}
	d.Text(&text)
	return write(w, func(room room) *view { return d.view(text.Page, room) })
}

func (d *Document) view(p *document.Page, room room) *view {
	alerts := p.Alerts
	parts, lists := p.Parts[:min(len(p.Parts), room.listed(mostParts))], []int(nil)
	if len(parts) < len(p.Parts) {
		text := fmt.Sprintf("The page has room for the first %d of %d sections; other outputs have all.", len(parts), len(p.Parts))
		alerts = append([]document.Alert{{Level: document.Warning, Text: text}}, alerts...)
	}
	v := &view{
		section: section{Title: p.Title}, Lede: cmp.Or(d.Lede, ledeOf(d.Head)), Begin: "Summary",
		Shadow: strings.TrimSpace("shadow " + d.Head.Version), Command: clipped(d.Head.Command),
		Lacks: "tables cannot be sorted or searched, and no chart has a slider. All figures are here.",
	}
	if d.Times != nil || d.Curves != nil {
		v.Scripts, v.Island = []string{"charts.js"}, &island{Percents: []string{}}
	}
	v.add("cards", cardsOf(&d.Head.Input))
	v.add("cards", d.candidates())
	v.alert("Before you trust the figures", alerts, room, false)
	v.add("strong", append(room.facts(p.Strong), d.Curves.safe()...))
	for i := range parts {
		for _, b := range parts[i].Blocks {
			if b.Table != nil {
				lists = append(lists, len(b.Table.Rows))
			}
		}
	}
	d.add(v, room)
	s := &v.section
	for i := range parts {
		part := &parts[i]
		if part.Title != "" {
			s = v.begin(fmt.Sprint("s-", i), table.Clip(part.Title, table.PageLong), table.Clip(part.Title, 40))
		}
		s.add("text", clipped(part.Text))
		s.addAll(part, room, room.rows(lists))
	}
	if d.Model != nil || d.Curves != nil {
		v.begin("means", "What it means, and what it cannot tell", "What it means").add("words", words{})
	}
	v.begin("read", "What was read", "What was read").add("facts", room.facts(p.Input))
	return v
}

// addAll adds the blocks of a part of a report. Facts that follow facts are one list.
func (s *section) addAll(part *document.Part, room room, rows int) {
	var facts []document.Fact
	about := "" // the last title of a block
	for i := range part.Blocks {
		b := &part.Blocks[i]
		about = cmp.Or(b.Title, about)
		facts = append(facts, room.facts(b.Facts)...)
		if i+1 < len(part.Blocks) && b.Facts != nil && part.Blocks[i+1].Facts != nil {
			continue
		}
		if curve, is := b.Plot.(plot.Curve); is {
			s.add("chart", curveChart(clipped(b.Title), &curve))
		} else {
			s.add("title", clipped(b.Title))
		}
		s.add("text", clipped(b.Text))
		s.add("facts", facts)
		facts = nil
		if b.Table != nil {
			t := *b.Table
			t.Title = cmp.Or(t.Title, part.Title)
			if b.Fold != "" {
				t.Title = table.Clip(about, 40) + ": " + b.Fold
			}
			tables := block{"tables", t.Pages(rows, "rows", int64(len(t.Rows)))}
			if b.Fold == "" {
				s.Blocks = append(s.Blocks, tables)
			} else {
				s.add("fold", &fold{Class: "kind", Title: table.Clip(b.Fold, table.PageLong), Blocks: []block{tables}})
			}
		}
		if b.Lines != nil {
			lines := strings.Join(room.texts(b.Lines, MostRows), "\n") + "\n"
			s.add("lines", Lines{Text: lines, What: "Lines"})
		}
	}
}

// ledeOf says what the page is.
func ledeOf(h *report.Head) string {
	in := &h.Input
	if in.Span == nil {
		return "The log has no request to judge."
	}
	const layout = "2 January 2006 15:04"
	return fmt.Sprintf("A replay of what was logged from %s to %s UTC. No client was blocked: this page tells who "+
		"would have been.", in.Span.First.Format(layout), in.Span.Last.Format(layout))
}

// A card is a figure and what it counts.
type card struct{ Figure, Label string }

// cardsOf returns what was read.
func cardsOf(in *report.Input) []card {
	cards := []card{{format.Thousands(in.Requests), "requests"}, {format.Thousands(in.Clients), "clients"}}
	if in.Span != nil {
		cards = append(cards, card{format.Span(in.Span.Length()), "of log"})
	}
	return cards
}
