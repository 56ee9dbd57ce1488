package document

import (
	"bytes"
	"fmt"
	"strings"

	"shadow/escape"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/table"
)

// A Markdown collects a report for a wiki or a pull request. Nothing is folded; long texts are cut as on a page.
type Markdown struct {
	bytes.Buffer
	list bool // the last thing written is a list
}

func (m *Markdown) printf(layout string, arguments ...any) {
	m.list = false
	fmt.Fprintf(m, layout, arguments...)
}

// Title writes the title of the page.
func (m *Markdown) Title(text string) { m.printf("# %s\n", text) }

// Facts writes a list.
func (m *Markdown) Facts(facts ...Fact) {
	for _, f := range facts {
		if !m.list {
			m.WriteByte('\n')
		}
		m.printf("- **%s**: %s\n", f.Label, table.MarkdownText(f.Text))
		for _, line := range f.Details {
			m.printf("  - %s\n", table.MarkdownText(strings.TrimSpace(line)))
		}
		m.list = true
	}
}

// Warnings writes warnings as quotations.
func (m *Markdown) Warnings(texts []string) {
	for _, text := range texts {
		m.printf("\n> **Warning**: %s\n", table.MarkdownText(text))
	}
}

// Part writes the title of a part.
func (m *Markdown) Part(level int, title string) { m.Section(level, title) }

// Heading writes a title and a sentence below it.
func (m *Markdown) Heading(level int, name, text string) {
	m.Section(level, name)
	m.Remark(format.Sentence(text) + ".")
}

// Topic is a Heading.
func (m *Markdown) Topic(level int, name, text string) { m.Heading(level, name, text) }

// Section writes a title.
func (m *Markdown) Section(level int, title string) {
	if level == 0 {
		m.Remark(title)
		return
	}
	m.printf("\n%s %s\n", strings.Repeat("#", level), table.MarkdownText(title))
}

// Name writes a name.
func (m *Markdown) Name(name string) { m.Remark(name) }

// Table writes a table.
func (m *Markdown) Table(t *table.Table) {
	m.list = false
	t.Markdown(m)
}

// Plot does nothing.
func (m *Markdown) Plot(string, plot.Drawing, ...string) {}

// Note writes a sentence.
func (m *Markdown) Note(text string) { m.Remark(text) }

// Remark writes a sentence.
func (m *Markdown) Remark(text string) { m.printf("\n%s\n", table.MarkdownText(text)) }

// Space does nothing.
func (m *Markdown) Space() {}

// Stored writes a sentence.
func (m *Markdown) Stored(where string) { m.Remark("Stored in " + where + ".") }

// Lines writes lines as code.
func (m *Markdown) Lines(lines []string) {
	m.printf("\n")
	for _, line := range lines {
		m.printf("    %s\n", escape.Visible(line))
	}
}
