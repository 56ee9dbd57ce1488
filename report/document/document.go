// Package document writes reports for people: facts, warnings, headings, tables and plots come in; text for a
// terminal or Markdown goes out.
package document

import (
	"shadow/report/plot"
	"shadow/report/table"
)

// A Writer writes a report from top to bottom. A Terminal and a Markdown do.
type Writer interface {
	// Title begins the report. A terminal has none.
	Title(text string)
	// Facts lists facts. Of several with one label, a terminal shows it once.
	Facts(facts ...Fact)
	Warnings(texts []string)
	// Part begins a part of the report, which only Markdown gives a title.
	Part(level int, title string)
	// Heading begins a section on what has a name, and says something of it. In Markdown its level is from 1.
	Heading(level int, name, text string)
	// Topic is a Heading with a colon on a terminal.
	Topic(level int, name, text string)
	// Section begins a section. In Markdown level 0 is a line.
	Section(level int, title string)
	// Name writes what the facts below are about.
	Name(name string)
	Table(t *table.Table)
	// Plot draws a curve between a title and notes, if there are any. Markdown has none.
	Plot(title string, p plot.Drawing, notes ...string)
	// Note writes a sentence below a table.
	Note(text string)
	// Remark writes a sentence by itself.
	Remark(text string)
	// Space sets facts apart from what is above them.
	Space()
	// Stored ends the report with where the run is.
	Stored(where string)
	// Lines writes lines that are to be copied.
	Lines(lines []string)
}

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
func (s *Section) Write(w Writer, level int) {
	if s.Title != "" {
		w.Section(level, s.Title)
	}
	w.Table(s.Table)
	for _, note := range s.Notes {
		w.Note(note)
	}
}
