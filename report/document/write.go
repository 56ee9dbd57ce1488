package document

import (
	"fmt"
	"io"

	"shadow/report/format"
)

// A Report is what can be written in each of format.Outputs; in JSON it is as encoding/json has it.
type Report interface {
	Text(w Writer)
	CSV() ([]byte, error)
}

// Write writes all of a report or nothing. outputs are those to choose from.
func Write(w io.Writer, r Report, v View, output string, outputs []string) error {
	text, err := render(r, v, output, outputs)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text)
	return err
}

func render(r Report, v View, output string, outputs []string) ([]byte, error) {
	switch output {
	case "table":
		t := &Terminal{View: v}
		r.Text(t)
		return t.Bytes(), nil
	case "json":
		return format.JSON(r)
	case "csv":
		return r.CSV()
	case "markdown":
		m := &Markdown{}
		r.Text(m)
		return m.Bytes(), nil
	}
	return nil, format.UnknownOutput(output, outputs)
}
