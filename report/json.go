package report

import (
	"encoding/json"
	"fmt"

	"shadow/traffic"
)

// indentedJSON writes a report. Strings are as they were in the log, apart from bytes that are not UTF-8, which JSON cannot
// hold (each becomes U+FFFD); what could harm a terminal or an HTML page is escaped.
func indentedJSON(v any) ([]byte, error) {
	plain, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(escapeJSON(plain), '\n'), nil
}

// MarshalJSON writes an object with a key per class, in their order.
func (c Classes) MarshalJSON() ([]byte, error) { return marshalEach[traffic.Class](c[:]) }

// marshalEach writes an object with what there is of each K, in their order.
func marshalEach[K interface {
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
