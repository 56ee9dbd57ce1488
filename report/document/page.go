package document

import (
	"cmp"

	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// A Page is a report as a page shows it: package html escapes and frames it.
type Page struct {
	Title  string
	Input  Facts // what was read
	Strong Facts // worth reading first
	Alerts []Alert
	Parts  []Part
}

// An Alert is a finding or a warning.
type Alert struct {
	Level Level
	Text  string
}

// A Part is what stands below a title. The first one may have none.
type Part struct {
	Title, Text string
	Blocks      []Block

	untitled bool // in the report itself
}

// A Block has one of these, or a plot with its title.
type Block struct {
	Facts Facts
	Title string // of what follows
	Text  string // a sentence
	Table *table.Table
	Fold  string // the title of a table that is folded
	Plot  plot.Drawing
	Lines []string // to be copied
}

// begin begins a part, or what is a part of one.
func (p *Page) begin(level int, title, text string) {
	if level > 2 {
		p.add(Block{Title: title, Text: text})
		return
	}
	p.Parts = append(p.Parts, Part{Title: title, Text: text})
}

// add adds a block to the last part. A table outside of parts has one to itself, which is called as it is, or as its rows.
func (p *Page) add(b Block) {
	if len(p.Parts) == 0 {
		p.Parts = []Part{{untitled: true}}
	}
	if b.Table != nil && p.Parts[len(p.Parts)-1].untitled {
		p.Parts = append(p.Parts, Part{
			Title: cmp.Or(b.Table.Title, format.Sentence(b.Table.Columns[0].Head)), untitled: true,
		})
	}
	last := &p.Parts[len(p.Parts)-1]
	last.Blocks = append(last.Blocks, b)
}

// facts adds facts. Those that are worth reading first stand at the head of the page.
func (p *Page) facts(facts []Fact) {
	for _, f := range facts {
		if f.Strong {
			p.Strong = append(p.Strong, f)
		} else {
			p.add(Block{Facts: Facts{f}})
		}
	}
}
