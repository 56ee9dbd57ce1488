package document

import (
	"bytes"
	"fmt"
	"strings"

	"shadow/escape"
	"shadow/report/plot"
	"shadow/report/table"
)

// A View is how a report meets its reader.
type View struct {
	Width int  // of the terminal; 0 when it is none
	Color bool // whether the terminal may be told to change colour
}

const (
	pageWidth  = 120 // columns of tables that do not go to a terminal
	pageLong   = 60  // columns of a text of any length there
	labelWidth = 12
)

// A Terminal collects the text of a report.
type Terminal struct {
	bytes.Buffer
	View
}

// Title does nothing.
func (t *Terminal) Title(string) {}

// Facts writes a label and a text beside it for each fact.
func (t *Terminal) Facts(facts ...Fact) {
	label := ""
	for _, f := range facts {
		c := Dim
		if f.Strong {
			c = Bold
		}
		if f.Label == label && label != "" {
			f.Label = ""
		} else {
			label = f.Label
		}
		t.entry(f.Label, f.Text, c)
		for _, line := range f.Details {
			for _, line := range t.detailLines(escape.Visible(line), f.Prose) {
				fmt.Fprintf(t, "%*s%s\n", labelWidth, "", line)
			}
		}
	}
}

// detailLines returns a detail of a fact as the terminal has room for it.
func (t *Terminal) detailLines(line string, prose bool) []string {
	switch {
	case t.Width == 0:
		return []string{line}
	case prose:
		return table.Wrap(line, t.Width-labelWidth)
	}
	return []string{table.Cut(line, t.Width-labelWidth)}
}

// Warnings writes warnings as facts that one sees.
func (t *Terminal) Warnings(texts []string) {
	for _, text := range texts {
		t.entry("warning", text, Yellow)
	}
}

// entry writes a label and a text beside it, which is wrapped at the width of a terminal.
func (t *Terminal) entry(label, text string, c color) {
	for _, line := range t.wrapped(escape.Visible(text), labelWidth) {
		t.WriteString(t.Paint(c, label))
		if line != "" {
			fmt.Fprintf(t, "%*s%s", labelWidth-len(label), "", line)
		}
		t.WriteByte('\n')
		label = ""
	}
}

func (t *Terminal) wrapped(text string, indent int) []string {
	if t.Width == 0 {
		return []string{text}
	}
	return table.Wrap(text, t.Width-indent)
}

// Part begins a part with an empty line.
func (t *Terminal) Part(int, string) { t.Space() }

// Heading writes a name and what there is to say of it.
func (t *Terminal) Heading(_ int, name, text string) {
	name = escape.Visible(name)
	lines := t.wrapped(name+" "+escape.Visible(text), 0)
	rest, whole := strings.CutPrefix(lines[0], name)
	if whole {
		lines[0] = t.Paint(Bold, name) + rest
	}
	t.WriteString("\n" + strings.Join(lines, "\n") + "\n")
}

// Topic is a Heading with a colon.
func (t *Terminal) Topic(level int, name, text string) { t.Heading(level, name+":", text) }

// Section writes a title.
func (t *Terminal) Section(_ int, title string) {
	fmt.Fprintf(t, "\n%s\n", t.Paint(Bold, escape.Visible(title)))
}

// Name writes a name.
func (t *Terminal) Name(name string) { fmt.Fprintf(t, "\n%s\n", escape.Visible(name)) }

// Table writes the blocks of a table with an empty line above each.
func (t *Terminal) Table(g *table.Table) {
	width, most := t.Width, 0
	if t.Width == 0 {
		width, most = pageWidth, pageLong
		if g.Whole {
			width = table.Unbounded
		}
	}
	for _, lines := range g.Blocks(width, most) {
		fmt.Fprintf(t, "\n%s\n", t.Paint(Dim, lines[0]))
		for _, line := range lines[1:] {
			t.WriteString(line + "\n")
		}
	}
}

// Plot draws a curve, below an empty line and a title if it has one, and above notes.
func (t *Terminal) Plot(title string, p plot.Drawing, notes ...string) {
	if title != "" {
		fmt.Fprintf(t, "\n%s\n", t.Paint(Dim, escape.Visible(title)))
	}
	for _, line := range p.Draw(t.Color) {
		t.WriteString(line + "\n")
	}
	for _, note := range notes {
		fmt.Fprintf(t, "%s\n", t.Paint(Dim, note))
	}
}

// Note writes a sentence.
func (t *Terminal) Note(text string) {
	for _, line := range t.wrapped(escape.Visible(text), 0) {
		fmt.Fprintf(t, "%s\n", t.Paint(Dim, line))
	}
}

// Remark writes a sentence below an empty line.
func (t *Terminal) Remark(text string) { fmt.Fprintf(t, "\n%s\n", t.Paint(Dim, escape.Visible(text))) }

// Paragraph writes a text from the margin.
func (t *Terminal) Paragraph(text string) {
	for _, line := range t.wrapped(text, 0) {
		t.WriteString(line + "\n")
	}
}

// Space writes an empty line.
func (t *Terminal) Space() { t.WriteByte('\n') }

// Stored writes a fact.
func (t *Terminal) Stored(where string) {
	t.Space()
	t.Facts(Fact{Label: "stored", Text: where})
}

// Lines writes lines below an empty one.
func (t *Terminal) Lines(lines []string) {
	t.Space()
	for _, line := range lines {
		fmt.Fprintf(t, "  %s\n", escape.Visible(line))
	}
}

// A color is the number of a Select Graphic Rendition sequence.
type color int

// The colours.
const (
	Bold   color = 1
	Dim    color = 2
	Yellow color = 33
)

// Paint returns a text in a colour, if the terminal may be told to.
func (v View) Paint(c color, s string) string {
	if !v.Color || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, s)
}
