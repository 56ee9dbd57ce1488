package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names come from logs and are hostile: a VARCHAR must be valid UTF-8, and whoever selects from the database with
// another tool has a terminal that a control character could play with. So what is not valid UTF-8, and what controls
// terminals or the direction of text, is stored as \xHH, byte by byte. The text stays unambiguous: where a name itself
// holds something that reads like such an escape, its backslash is stored as \x5c.

const hexDigits = "0123456789abcdef"

// encodeText makes a name fit for a VARCHAR. Nearly all names stay as they are.
func encodeText(s string) string {
	for i := 0; i < len(s); {
		n := plain(s[i:])
		if n == 0 {
			return escape(s, i)
		}
		i += n
	}
	return s
}

// plain is the length of the character at the beginning of s if it can stay, or 0.
func plain(s string) int {
	if c := s[0]; c < utf8.RuneSelf {
		if c < ' ' || c == 0x7f || c == '\\' && isEscape(s) {
			return 0
		}
		return 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return 0
	}
	return n
}

// isEscape reports whether s begins with \xHH.
func isEscape(s string) bool {
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' &&
		strings.IndexByte(hexDigits, s[2]) >= 0 && strings.IndexByte(hexDigits, s[3]) >= 0
}

// escape encodes s, of which the first i bytes can stay.
func escape(s string, i int) string {
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		if n := plain(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		for _, c := range []byte(s[i : i+n]) {
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
		i += n
	}
	return b.String()
}

// decodeText gives back the name that encodeText has made s of.
func decodeText(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !isEscape(s[i:]) {
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(byte(strings.IndexByte(hexDigits, s[i+2])<<4 | strings.IndexByte(hexDigits, s[i+3])))
		i += 3
	}
	return b.String()
}
