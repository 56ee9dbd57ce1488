package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What strangers wrote into a log can drive a terminal (ESC and the C1 controls), turn a line around (bidirectional
// overrides), or hide (zero-width characters). All escapes show what was there, as people write it in source code.

// harmless reports whether a character may go to a terminal: it is visible and takes up the columns that its width says.
func harmless(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
	return unicode.IsPrint(r) && !unicode.Is(invisible, r)
}

// invisible lists the characters that Unicode counts as letters, marks or symbols and that are invisible.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // empty Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}, // variation selectors supplement
}

// Visible replaces what is not harmless: a line feed becomes \n, ESC \x1b, a right-to-left override \u202e, a byte
// that is not UTF-8 \xff. A backslash stays as it is: the result is for eyes, not for parsing back.
func Visible(s string) string {
	clean := 0
	for clean < len(s) && ' ' <= s[clean] && s[clean] <= '~' {
		clean++
	}
	if clean == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:clean])
	for rest := s[clean:]; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if harmless(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(rest[:n])
		} else {
			b.WriteString(escaped(r, n, rest[0]))
		}
		rest = rest[n:]
	}
	return b.String()
}

// Lines is Visible of each line: a text of several lines keeps them. It is for messages, so none is endless.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Visible(Short(line))
	}
	return strings.Join(lines, "\n")
}

// longest bounds the bytes of a message, above what any of ours has with the path of a file.
const longest = 2000

// Short cuts a message that quotes something endless: its beginning says what is wrong and where, its end what helps.
func Short(s string) string {
	if len(s) <= longest {
		return s
	}
	const kept = 300
	left := fmt.Sprintf(" … (%d of %d bytes are left out) … ", len(s)-2*kept, len(s))
	return strings.ToValidUTF8(s[:kept], "") + left + strings.ToValidUTF8(s[len(s)-kept:], "")
}

func escaped(r rune, n int, first byte) string {
	switch {
	case n == 1 && r == '\n':
		return `\n`
	case n == 1 && r == '\r':
		return `\r`
	case n == 1 && r == '\t':
		return `\t`
	case n == 1: // ASCII, or a byte that is not UTF-8
		return fmt.Sprintf(`\x%02x`, first)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// JSON writes what is not harmless as \uXXXX. In what encoding/json writes, that occurs inside strings only.
func JSON(plain []byte) []byte {
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
