package document

import (
	"fmt"
	"io"

	"shadow/report/format"
)

// A document is what can be written in each of Formats; in JSON it is as encoding/json has it.
type document interface {
	Terminal() []byte
	CSV() ([]byte, error)
	Markdown() []byte
}

// Write writes all of it or nothing. formats are those to choose from.
func Write(w io.Writer, d document, output string, formats []string) error {
	text, err := render(d, output, formats)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(text)
	return err
}

func render(d document, output string, formats []string) ([]byte, error) {
	switch output {
	case "table":
		return d.Terminal(), nil
	case "json":
		return format.JSON(d)
	case "csv":
		return d.CSV()
	case "markdown":
		return d.Markdown(), nil
	}
	return nil, format.UnknownOutput(output, formats)
}
