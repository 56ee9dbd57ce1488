package report

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

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

// escapeJSON writes what is not harmless as \uXXXX. In what encoding/json writes, that occurs inside strings only.
func escapeJSON(plain []byte) []byte {
	out := make([]byte, 0, len(plain))
	for len(plain) > 0 {
		r, n := utf8.DecodeRune(plain)
		switch {
		case r == '\n' || harmless(r):
			out = append(out, plain[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		plain = plain[n:]
	}
	return out
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
