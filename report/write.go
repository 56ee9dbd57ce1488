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

// Write writes the report in one of PageFormats, all of it or nothing.
func (m *Model) Write(w io.Writer, format string) error {
	if format == "html" {
		return m.Page().Write(w)
	}
	text, err := m.render(format)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text)
	return err
}

func (m *Model) render(format string) ([]byte, error) {
	switch format {
	case "table":
		return m.table(), nil
	case "json":
		return m.json()
	case "csv":
		return m.csv()
	case "markdown":
		return m.markdown(), nil
	}
	return nil, unknownFormat(format, PageFormats())
}

func unknownFormat(format string, formats []string) error {
	return fmt.Errorf("output %q: want one of %s", format, strings.Join(formats, ", "))
}
