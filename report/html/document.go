package html

import (
	"cmp"
	"io"
	"strings"
	"sync"

	"shadow/report"
	"shadow/report/document"
	"shadow/report/plot"
	"shadow/report/table"
)

// A report that is written for people, as a page: what is worth reading first on top, then its parts in their order, and
// at the foot what was read.

// A Document is such a page.
type Document struct {
	head *report.Head
	lede string
	text func(*document.Writer)
}

// NewDocument returns a report as a page. text writes it; lede says what it is, unless it is about a replay.
func NewDocument(head *report.Head, lede string, text func(*document.Writer)) *Document {
	return &Document{head, cmp.Or(lede, ledeOf(head)), text}
}

// documentView holds what the templates write.
type documentView struct {
	frame
	Lede    string
	Cards   []card
	Alerts  []Alert
	Strong  []document.Fact
	Parts   []partView
	Left    string // what there is no room for
	Input   []document.Fact
	Shadow  string
	Command string
}

type partView struct {
	Title, Text string
	Blocks      []blockView
}

// A blockView has one of these; a drawing that is no chart has lines.
type blockView struct {
	Facts  []document.Fact
	Title  string
	Text   string
	Tables []*table.Page
	Chart  *chart
	Lines  []string
	Drawn  []string
}

var documentFrame = sync.OnceValue(func() frame { return plain("page.js", "tables.js", "copy.js") })

// Write writes the page, all of it or nothing.
func (d *Document) Write(w io.Writer) error {
	text := document.Writer{Page: &document.Page{}}
	d.text(&text)
	return write(w, "document.html", func(halvings int) (any, bool, error) {
		room := roomAfter(2 * halvings)
		return d.view(text.Page, room), room.rows > 1, nil
	})
}

func (d *Document) view(p *document.Page, room room) *documentView {
	v := &documentView{
		frame: documentFrame(), Lede: d.lede, Cards: cardsOf(&d.head.Input),
		Strong: clippedFacts(p.Strong, room.notes), Input: clippedFacts(p.Input, room.notes),
		Shadow: strings.TrimSpace("shadow " + d.head.Version), Command: clipped(d.head.Command),
	}
	v.Title, v.Data = p.Title, "{}"
	for _, a := range p.Alerts[:min(len(p.Alerts), room.notes)] {
		v.Alerts = append(v.Alerts, Alert{a.Level.Tone, clipped(a.Text)})
	}
	parts, tables := p.Parts[:min(len(p.Parts), room.sections)], 0
	for _, part := range parts {
		for i := range part.Blocks {
			if part.Blocks[i].Table != nil {
				tables++
			}
		}
	}
	for _, part := range parts {
		shown := partView{Title: table.Clip(part.Title, table.PageLong), Text: clipped(part.Text)}
		for i := range part.Blocks {
			shown.add(&part.Blocks[i], room, tables)
		}
		v.Parts = append(v.Parts, shown)
	}
	v.Left = leftOut(len(v.Parts), len(p.Parts))
	return v
}

// add adds a block. Facts that follow facts are one list.
func (v *partView) add(b *document.Block, room room, tables int) {
	shown := blockView{Title: clipped(b.Title), Text: clipped(b.Text), Facts: clippedFacts(b.Facts, room.notes)}
	if last := len(v.Blocks) - 1; len(b.Facts) > 0 && last >= 0 && len(v.Blocks[last].Facts) > 0 {
		v.Blocks[last].Facts = append(v.Blocks[last].Facts, shown.Facts...)
		return
	}
	switch curve, drawn := b.Plot.(plot.Curve); {
	case drawn && curve.Clock:
		shown.Chart, shown.Title = curveChart(shown.Title, &curve), ""
	case b.Plot != nil:
		shown.Drawn = b.Plot.Draw(false)
	}
	if b.Table != nil {
		t := *b.Table
		t.Title = v.Title
		shown.Tables = t.Pages(room.of(tables), "rows", int64(len(t.Rows)))
	}
	shown.Lines = clippedAll(b.Lines, room.list)
	v.Blocks = append(v.Blocks, shown)
}
