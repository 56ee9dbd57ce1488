package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"shadow/traffic"
)

// json writes the Model. Strings are as they were in the log, apart from bytes that are not UTF-8, which JSON cannot
// hold (each becomes U+FFFD); what could harm a terminal or an HTML page is escaped.
func (m *Model) json() ([]byte, error) {
	plain, err := json.MarshalIndent(m, "", "  ")
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
func (c Classes) MarshalJSON() ([]byte, error) { return marshalClasses(c[:]) }

// marshalClasses writes what there is of each class.
func marshalClasses[T any](classes []T) ([]byte, error) {
	var b bytes.Buffer
	for class, figures := range classes {
		text, err := json.Marshal(figures)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `,%q:%s`, traffic.Class(class), text)
	}
	b.Bytes()[0] = '{'
	b.WriteByte('}')
	return b.Bytes(), nil
}
