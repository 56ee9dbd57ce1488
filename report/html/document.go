package html

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/internal/mapped"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// A report that is written for people, as a page: what is worth reading first on top, then its parts in their order,
// and at the foot what was read.

// A Document is such a page.
type Document struct {
	head *report.Head
	lede string
	text func(*document.Writer)
}

// WriteReport writes a report in one of format.PageOutputs, all of it or nothing. lede says what it is, unless it is
// about a replay.
func WriteReport(w io.Writer, r document.Report, head *report.Head, lede, output string) error {
	if output == "html" {
		return NewDocument(head, lede, r.Text).Write(w)
	}
	return document.Write(w, r, head.View, output, format.PageOutputs())
}

// NewDocument returns a report as a page. text writes it; lede says what it is, unless it is about a replay.
func NewDocument(head *report.Head, lede string, text func(*document.Writer)) *Document {
	return &Document{head, cmp.Or(lede, ledeOf(head)), text}
}

// Write writes the page, all of it or nothing.
func (d *Document) Write(w io.Writer) error {
	text := document.Writer{Page: &document.Page{}}
	d.text(&text)
	return write(w, func(halvings int) (*view, bool) {
		room := room(2 * halvings)
		return d.view(text.Page, room), room.listed(900) > 1
	})
}

func (d *Document) view(p *document.Page, room room) *view {
	alerts := mapped.Of(p.Alerts, func(a document.Alert) Alert { return Alert{a.Level.Tone, a.Text} })
	parts, tables := p.Parts[:min(len(p.Parts), room.listed(60))], 0
	alerts = append(room.alerts(alerts), leftOut(len(parts), len(p.Parts))...)
	v := reported(d.head, p.Title, d.lede, cardsOf(&d.head.Input), alerts)
	v.Lacks = "tables cannot be sorted or searched. All figures are here."
	v.add("strong", room.facts(p.Strong))
	for i := range parts {
		for _, b := range parts[i].Blocks {
			if b.Table != nil {
				tables++
			}
		}
	}
	for i := range parts {
		s, part := &v.section, &parts[i]
		if part.Title != "" {
			s = v.begin(fmt.Sprint("s-", i), table.Clip(part.Title, table.PageLong), table.Clip(part.Title, 40))
		}
		s.add("text", clipped(part.Text))
		s.addAll(part, room, tables)
	}
	v.begin("read", "What was read", "What was read").add("facts", room.facts(p.Input))
	return v
}

// addAll adds the blocks of a part of a report. Facts that follow facts are one list.
func (s *section) addAll(part *document.Part, room room, tables int) {
	var facts []document.Fact
	for i := range part.Blocks {
		b := &part.Blocks[i]
		facts = append(facts, room.facts(b.Facts)...)
		if i+1 < len(part.Blocks) && b.Facts != nil && part.Blocks[i+1].Facts != nil {
			continue
		}
		curve, drawn := b.Plot.(plot.Curve)
		if drawn = drawn && curve.Clock; !drawn {
			s.add("title", clipped(b.Title))
		}
		s.add("text", clipped(b.Text))
		s.add("facts", facts)
		facts = nil
		if b.Table != nil {
			t := *b.Table
			t.Title = table.Clip(part.Title, table.PageLong)
			s.add("tables", t.Pages(room.rows(tables), "rows", int64(len(t.Rows))))
		}
		switch {
		case drawn:
			s.add("chart", curveChart(clipped(b.Title), &curve))
		case b.Plot != nil:
			s.add("drawn", b.Plot.Draw(false))
		}
		if b.Lines != nil {
			lines := clippedAll(b.Lines, room.listed(MostRows))
			s.add("lines", Lines{Text: strings.Join(lines, "\n") + "\n", what: "Lines"})
		}
	}
}

// reported returns the page of a report on a log, with what stands on top of it.
func reported(h *report.Head, title, lede string, cards []card, alerts []Alert) *view {
	v := &view{
		section: section{Title: title}, Lede: lede, Begin: "Summary",
		Shadow: strings.TrimSpace("shadow " + h.Version), Command: clipped(h.Command),
	}
	v.add("cards", cards)
	v.alert("Before you trust the figures", alerts, false)
	return v
}

// leftOut says that not all sections are shown.
func leftOut(shown, all int) (alerts []Alert) {
	if shown < all {
		text := fmt.Sprintf("The page has room for the first %d of %d sections; other outputs have all.", shown, all)
		alerts = append(alerts, Alert{"warn", text})
	}
	return alerts
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
