// Package document writes what all reports are made of, for a terminal: facts, warnings, headings, tables and plots.
package document

import (
	"bytes"
	"fmt"
	"shadow/escape"
	"shadow/report/plot"
	"shadow/report/table"
	"strings"
)

// A Fact is one thing to know about the input, in a word and a sentence; terminal and Markdown show the same ones.
type Fact struct {
	Label, Text string
	Details     []string // further lines
	Prose       bool     // details are sentences, which a terminal wraps; else it cuts them
}

// A Terminal collects the text of a report.
type Terminal struct {
	bytes.Buffer
	View
}

func (t *Terminal) Fact(f Fact) {
	t.Entry(f.Label, f.Text, Dim)
	for _, line := range f.Details {
		for _, line := range t.detailLines(escape.Visible(line), f.Prose) {
			fmt.Fprintf(t, "%*s%s\n", labelWidth, "", line)
		}
	}
}

// detailLines are a detail of a fact as the terminal has room for it.
func (t *Terminal) detailLines(line string, prose bool) []string {
	switch {
	case t.Width == 0:
		return []string{line}
	case prose:
		return table.Wrap(line, t.Width-labelWidth)
	}
	return []string{table.Cut(line, t.Width-labelWidth)}
}

// Entry writes a label and a text beside it, which is wrapped at the width of a terminal.
func (t *Terminal) Entry(label, text string, c color) {
	lines := []string{escape.Visible(text)}
	if t.Width > 0 {
		lines = table.Wrap(lines[0], t.Width-labelWidth)
	}
	for _, line := range lines {
		t.WriteString(t.Paint(c, label))
		if line != "" {
			fmt.Fprintf(t, "%*s%s", labelWidth-len(label), "", line)
		}
		t.WriteByte('\n')
		label = ""
	}
}

// Heading writes a name and what there is to say of it.
func (t *Terminal) Heading(name, text string) {
	lines := []string{name + " " + text}
	if t.Width > 0 {
		lines = table.Wrap(lines[0], t.Width)
	}
	rest, whole := strings.CutPrefix(lines[0], name)
	if whole {
		lines[0] = t.Paint(Bold, name) + rest
	}
	t.WriteString(strings.Join(lines, "\n") + "\n")
}

func (t *Terminal) Grid(g *table.Table) { t.Blocks(g.Blocks(t.Tables())) }

// Blocks writes those of a table with an empty line above each.
func (t *Terminal) Blocks(blocks [][]string) {
	for _, lines := range blocks {
		fmt.Fprintf(t, "\n%s\n", t.Paint(Dim, lines[0]))
		for _, line := range lines[1:] {
			t.WriteString(line + "\n")
		}
	}
}

// OnlyFirst labels the first of several texts.
func OnlyFirst(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

// A color is the number of a Select Graphic Rendition sequence.
type color int

const (
	Bold   color = 1
	Dim    color = 2
	Yellow color = 33
)

func (v View) Paint(c color, s string) string {
	if !v.Color || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, s)
}

// A View is how a report meets its reader.
type View struct {
	Width int  // of the terminal; 0 when it is none
	Color bool // whether the terminal may be told to change colour
}

// Tables are the width of tables and the most that a cell may have of it.
func (v View) Tables() (width, most int) {
	if v.Width == 0 {
		return pageWidth, PageAgent
	}
	return v.Width, 0
}

// Note writes a sentence about a table.
func (t *Terminal) Note(text string) {
	lines := []string{escape.Visible(text)}
	if t.Width > 0 {
		lines = table.Wrap(lines[0], t.Width)
	}
	for _, line := range lines {
		fmt.Fprintf(t, "%s\n", t.Paint(Dim, line))
	}
}

// Paragraph writes a text from the margin.
func (t *Terminal) Paragraph(text string) {
	for _, line := range table.Wrap(text, t.Width) {
		t.WriteString(line + "\n")
	}
}

const (
	pageWidth  = 120 // columns of tables that do not go to a terminal
	PageAgent  = 60  // columns of an agent there
	labelWidth = 12
)

// Plot draws a curve with an empty line neither above nor below.
func (t *Terminal) Plot(p plot.Plot) {
	p.Color = t.Color
	for _, line := range p.Draw() {
		t.WriteString(line + "\n")
	}
}
