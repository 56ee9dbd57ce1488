// Package document writes reports for people: facts, warnings, headings, tables and plots come in; text for a
// terminal, Markdown or the parts of a page go out.
package document

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"shadow/internal/escape"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// A Fact is one thing to know, in a word and a sentence.
type Fact struct {
	Label, Text string
	Details     []string // further lines
	Prose       bool     // Details are sentences, which a terminal wraps; else it cuts them
	Strong      bool     // worth reading first
}

// Strong returns a fact that is worth reading first.
func Strong(label, text string) Fact { return Fact{Label: label, Text: text, Strong: true} }

// Facts are things to know, in the order in which a report lists them.
type Facts []Fact

// Add appends a fact for each text that is not empty.
func (f *Facts) Add(label string, texts ...string) {
	for _, text := range texts {
		if text != "" {
			*f = append(*f, Fact{Label: label, Text: text})
		}
	}
}

// A Section is a table with a title.
type Section struct {
	Title string
	Table *table.Table
	Notes []string // below it
}

// Write writes the section.
func (s Section) Write(w *Writer, level int) {
	switch {
	case level == 0 && w.Page != nil:
		w.Page.add(Block{Table: s.Table, Fold: s.Title})
	case s.Title != "":
		w.Section(level, s.Title)
		fallthrough
	default:
		w.Table(s.Table)
	}
	for _, note := range s.Notes {
		w.Note(note)
	}
}

// A Report is what can be written in each of format.Outputs; in JSON it is as encoding/json has it, with its schema.
type Report interface {
	Schema() format.Schema
	Text(w *Writer)
	CSV(w io.Writer) error
}

// Write writes all of a report or nothing. outputs are those to choose from.
func Write(w io.Writer, r Report, v View, output string, outputs []string) error {
	text := Writer{View: v, Markdown: output == "markdown"}
	var err error
	switch output {
	case "table", "markdown":
		r.Text(&text)
	case "json":
		err = format.WriteJSON(&text, r.Schema(), r)
	case "csv":
		err = r.CSV(&text)
	default:
		err = format.UnknownOutput(output, outputs)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text.Bytes())
	return err
}

const (
	pipeWidth  = 100 // columns of findings and warnings that do not go to a terminal
	pageWidth  = 120 // columns of tables that do not go to a terminal
	pageLong   = 60  // columns of a text of any length there
	labelWidth = 14
)

// A Writer collects a report from top to bottom: for a terminal; where Markdown is set, for a wiki or a pull request;
// where Page is, for that. In Markdown nothing is folded, and long texts are cut as on a page.
type Writer struct {
	bytes.Buffer
	View
	Markdown bool
	Page     *Page
	list     bool // the last thing written is a list of Markdown
}

// printf writes Markdown.
func (w *Writer) printf(layout string, arguments ...any) {
	w.list = false
	fmt.Fprintf(w, layout, arguments...)
}

// Title begins the report. A terminal has none.
func (w *Writer) Title(text string) {
	switch {
	case w.Page != nil:
		w.Page.Title = text
	case w.Markdown:
		w.printf("# %s\n", text)
	}
}

// Input lists what was read, at the foot of a page.
func (w *Writer) Input(facts ...Fact) {
	if w.Page != nil {
		w.Page.Input = append(w.Page.Input, facts...)
		return
	}
	w.Facts(facts...)
}

// Facts lists facts. Of several with one label, a terminal shows it once.
func (w *Writer) Facts(facts ...Fact) {
	if w.Page != nil {
		w.Page.facts(facts)
		return
	}
	label := ""
	for _, f := range facts {
		if w.Markdown {
			w.item(f)
			continue
		}
		c := Dim
		if f.Strong {
			c = Bold
		}
		shown := f.Label
		if f.Label == label {
			shown = ""
		}
		label = f.Label
		w.labelled(shown, w.wrapped(escape.Visible(f.Text), labelWidth), c)
		for _, line := range f.Details {
			lines := []string{escape.Visible(line)}
			switch {
			case w.Width > 0 && f.Prose:
				lines = table.Wrap(lines[0], w.Width-labelWidth)
			case w.Width > 0:
				lines[0] = table.Cut(lines[0], w.Width-labelWidth)
			}
			for _, line := range lines {
				fmt.Fprintf(w, "%*s%s\n", labelWidth, "", line)
			}
		}
	}
}

// item writes a fact in Markdown.
func (w *Writer) item(f Fact) {
	if !w.list {
		w.WriteByte('\n')
	}
	w.printf("- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
	for _, line := range f.Details {
		w.printf("  - %s\n", table.MarkdownText(strings.TrimSpace(line)))
	}
	w.list = true
}

// labelled writes lines with a label beside the first.
func (w *Writer) labelled(label string, lines []string, c color) {
	for _, line := range lines {
		w.WriteString(w.Paint(c, label))
		if line != "" {
			fmt.Fprintf(w, "%*s%s", labelWidth-len(label), "", line)
		}
		w.WriteByte('\n')
		label = ""
	}
}

func (w *Writer) wrapped(text string, indent int) []string {
	if w.Width == 0 {
		return []string{text}
	}
	return table.Wrap(text, w.Width-indent)
}

// A Level says how loud an alert is.
type Level struct {
	label string
	Tone  string // on a page
	color color
}

// The levels.
var (
	Stop    = Level{"stop", "stop", Red}
	Warning = Level{"warning", "warn", Yellow}
	Note    = Level{"note", "info", Dim}
)

// Alert writes a text as a fact that one sees, or as a quotation.
func (w *Writer) Alert(l Level, text string) {
	switch {
	case w.Page != nil:
		w.Page.Alerts = append(w.Page.Alerts, Alert{l, text})
	case w.Markdown:
		w.printf("\n> **%s**: %s\n", format.Sentence(l.label), table.MarkdownText(text))
	default:
		w.labelled(l.label, table.Wrap(escape.Visible(text), cmp.Or(w.Width, pipeWidth)-labelWidth), l.color)
	}
}

// Part begins a part of the report, which a terminal gives no title.
func (w *Writer) Part(level int, title string) {
	if w.Markdown || w.Page != nil {
		w.Section(level, title)
	} else {
		w.Space()
	}
}

// Heading begins a section on what has a name, and says something of it. In Markdown its level is from 1.
func (w *Writer) Heading(level int, name, text string) {
	if w.Page != nil {
		w.Page.begin(level, name, format.Sentence(text)+".")
		return
	}
	if w.Markdown {
		w.Section(level, name)
		w.Remark(format.Sentence(text) + ".")
		return
	}
	name = escape.Visible(name)
	lines := w.wrapped(name+" "+escape.Visible(text), 0)
	if rest, whole := strings.CutPrefix(lines[0], name); whole {
		lines[0] = w.Paint(Bold, name) + rest
	}
	w.WriteString("\n" + strings.Join(lines, "\n") + "\n")
}

// Topic is a Heading with a colon on a terminal.
func (w *Writer) Topic(level int, name, text string) {
	if !w.Markdown && w.Page == nil {
		name += ":"
	}
	w.Heading(level, name, text)
}

// Section begins a section. In Markdown level 0 is a line.
func (w *Writer) Section(level int, title string) {
	switch {
	case w.Page != nil:
		w.Page.begin(level, title, "")
	case !w.Markdown:
		fmt.Fprintf(w, "\n%s\n", w.Paint(Bold, escape.Visible(title)))
	case level == 0:
		w.Remark(title)
	default:
		w.printf("\n%s %s\n", strings.Repeat("#", level), table.MarkdownText(title))
	}
}

// Name writes what the facts below are about.
func (w *Writer) Name(name string) {
	switch {
	case w.Page != nil:
		w.Page.add(Block{Title: name})
	case w.Markdown:
		w.Remark(name)
	default:
		fmt.Fprintf(w, "\n%s\n", escape.Visible(name))
	}
}

// Table writes a table: on a terminal its blocks, with an empty line above each.
func (w *Writer) Table(t *table.Table) {
	if w.Page != nil {
		w.Page.add(Block{Table: t})
		return
	}
	if w.list = false; w.Markdown {
		t.Markdown(w)
		return
	}
	width, most := w.Width, 0
	if w.Width == 0 {
		width, most = pageWidth, pageLong
		if t.Whole {
			width = table.Unbounded
		}
	}
	for _, lines := range t.Blocks(width, most) {
		fmt.Fprintf(w, "\n%s\n", w.Paint(Dim, lines[0]))
		for _, line := range lines[1:] {
			w.WriteString(line + "\n")
		}
	}
}

// Plot draws a curve, below an empty line and a title if it has one, and above notes. Markdown has none.
func (w *Writer) Plot(title string, p plot.Drawing, notes ...string) {
	switch {
	case w.Page != nil:
		w.Page.add(Block{Title: title, Plot: p})
	case w.Markdown:
		return
	default:
		if title != "" {
			w.Remark(title)
		}
		for _, line := range p.Draw(w.Color) {
			w.WriteString(line + "\n")
		}
	}
	for _, note := range notes {
		w.Note(note)
	}
}

// Note writes a sentence below a table.
func (w *Writer) Note(text string) {
	if w.Markdown || w.Page != nil {
		w.Remark(text)
		return
	}
	for _, line := range w.wrapped(escape.Visible(text), 0) {
		fmt.Fprintf(w, "%s\n", w.Paint(Dim, line))
	}
}

// Remark writes a sentence by itself, below an empty line.
func (w *Writer) Remark(text string) {
	switch {
	case w.Page != nil:
		w.Page.add(Block{Text: text})
	case w.Markdown:
		w.printf("\n%s\n", table.MarkdownText(text))
	default:
		fmt.Fprintf(w, "\n%s\n", w.Paint(Dim, escape.Visible(text)))
	}
}

// Paragraph writes a text from the margin of a terminal.
func (w *Writer) Paragraph(text string) { w.WriteString(strings.Join(w.wrapped(text, 0), "\n") + "\n") }

// Space sets facts apart from what is above them on a terminal.
func (w *Writer) Space() {
	if !w.Markdown && w.Page == nil {
		w.WriteByte('\n')
	}
}

// Stored ends the report with where the run is.
func (w *Writer) Stored(where string) {
	if w.Markdown {
		w.Remark("Stored in " + where + ".")
		return
	}
	w.Space()
	w.Input(Fact{Label: "stored", Text: where})
}

// Lines writes lines that are to be copied, below an empty one.
func (w *Writer) Lines(lines []string) {
	if w.Page != nil {
		w.Page.add(Block{Lines: lines})
		return
	}
	indent := "  "
	if w.list = false; w.Markdown {
		indent = "    " // as code
	}
	w.WriteByte('\n')
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s\n", indent, escape.Visible(line))
	}
}
