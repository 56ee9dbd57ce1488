// Package document writes reports for people: facts, warnings, headings, tables and plots come in; text for a
// terminal or Markdown goes out.
package document

import (
	"fmt"
	"io"

	"shadow/report/format"
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
func (s *Section) Write(w *Writer, level int) {
	if s.Title != "" {
		w.Section(level, s.Title)
	}
	w.Table(s.Table)
	for _, note := range s.Notes {
		w.Note(note)
	}
}

// A Report is what can be written in each of format.Outputs; in JSON it is as encoding/json has it.
type Report interface {
	Text(w *Writer)
	CSV() ([]byte, error)
}

// Write writes all of a report or nothing. outputs are those to choose from.
func Write(w io.Writer, r Report, v View, output string, outputs []string) error {
	var text []byte
	var err error
	switch output {
	case "table", "markdown":
		d := &Writer{View: v, Markdown: output == "markdown"}
		r.Text(d)
		text = d.Bytes()
	case "json":
		text, err = format.JSON(r)
	case "csv":
		text, err = r.CSV()
	default:
		err = format.UnknownOutput(output, outputs)
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text)
	return err
}
