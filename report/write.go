package report

import (
	"fmt"
	"io"
	"strings"
)

// Formats are the values of --output.
func Formats() []string { return []string{"table", "json", "csv", "markdown"} }

// PageFormats are those of reports that can also be a page.
func PageFormats() []string { return append(Formats(), "html") }

// A document is what can be written in each of Formats; in JSON it is as encoding/json has it.
type document interface {
	table() []byte
	csv() ([]byte, error)
	markdown() []byte
}

// writeDocument writes all of it or nothing. formats are those to choose from.
func writeDocument(w io.Writer, d document, format string, formats []string) error {
	text, err := render(d, format, formats)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text)
	return err
}

func render(d document, format string, formats []string) ([]byte, error) {
	switch format {
	case "table":
		return d.table(), nil
	case "json":
		return indentedJSON(d)
	case "csv":
		return d.csv()
	case "markdown":
		return d.markdown(), nil
	}
	return nil, unknownFormat(format, formats)
}

func unknownFormat(format string, formats []string) error {
	return fmt.Errorf("output %q: want one of %s", format, strings.Join(formats, ", "))
}

// Write writes the report in one of PageFormats, all of it or nothing.
func (m *Model) Write(w io.Writer, format string) error {
	if format == "html" {
		return m.Page().Write(w)
	}
	return writeDocument(w, m, format, PageFormats())
}

// Write writes the comparison in one of Formats, all of it or nothing.
func (d *Diff) Write(w io.Writer, format string) error { return writeDocument(w, d, format, Formats()) }

// Write writes the report in one of Formats, all of it or nothing.
func (k *Keys) Write(w io.Writer, format string) error { return writeDocument(w, k, format, Formats()) }

// Write writes the report in one of Formats, all of it or nothing.
func (s *Suggest) Write(w io.Writer, format string) error {
	return writeDocument(w, s, format, Formats())
}
