package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"shadow/internal/escape"
)

// JSON writes an object: its schema, and what v has. Strings are as they were in the log, apart from bytes that are not
// UTF-8, which JSON cannot hold (each becomes U+FFFD); what could harm a terminal or an HTML page is escaped.
func JSON(s Schema, v any) ([]byte, error) {
	plain, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	keys, found := bytes.CutPrefix(plain, []byte("{\n"))
	if !found {
		return nil, fmt.Errorf("%s is to be an object with keys, not %.20s", s, plain)
	}
	return append(fmt.Appendf(nil, "{\n  \"schema\": %q,\n", s), append(EscapeJSON(keys), '\n')...), nil
}

// EachJSON writes an object with what there is of each K, in their order.
func EachJSON[K interface {
	~uint8
	fmt.Stringer
}, T any](figures []T) ([]byte, error) {
	b := []byte{'{'}
	for i := range figures {
		text, err := json.Marshal(figures[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(fmt.Appendf(b, "%q:", K(i)), text...)
	}
	return append(b, '}'), nil
}

// WriteJSON writes an object as JSON does.
func WriteJSON(w io.Writer, s Schema, value any) error {
	text, err := JSON(s, value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// EscapeJSON escapes control characters in text that is JSON already.
func EscapeJSON(plain []byte) []byte { return escape.JSON(plain) }

// Outputs are the values of --output.
func Outputs() []string { return []string{"table", "json", "csv", "markdown"} }

// PageOutputs returns the outputs of reports that can also be a page.
func PageOutputs() []string { return append(Outputs(), "html") }

// UnknownOutput is the error of an output that formats lack.
func UnknownOutput(format string, formats []string) error {
	return fmt.Errorf("output %q: want one of %s", format, strings.Join(formats, ", "))
}
