package lex

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Servers write what could break a line as escapes: nginx \x22 for a quote, Apache \" and \n, both in JSON \u0022.
// Every escape is longer than what it stands for, so undoing them never needs more room than the text has.

// Unescape undoes the escapes in b within b's own bytes and returns what is left of it. A backslash that opens no
// escape stays.
func Unescape(b []byte) []byte {
	from := bytes.IndexByte(b, '\\')
	if from < 0 {
		return b
	}
	to := from
	for from < len(b) {
		if b[from] != '\\' {
			b[to] = b[from]
			from, to = from+1, to+1
			continue
		}
		r, width, isRune := Escape(b[from:])
		if isRune {
			to += utf8.EncodeRune(b[to:to+3+width/12], r)
		} else {
			b[to] = byte(r)
			to++
		}
		from += width
	}
	return b[:to]
}

// Escape reads the escape that b opens with: what it stands for, how long it is, and whether it names a character
// (\u) rather than a byte.
func Escape(b []byte) (r rune, width int, isRune bool) {
	if len(b) < 2 {
		return '\\', 1, false
	}
	switch b[1] {
	case 'x':
		if v, ok := Hex(b, 2, 4); ok {
			return v, 4, false
		}
	case 'u':
		if v, ok := Hex(b, 2, 6); ok {
			r, width = surrogates(b, v)
			return r, width, true
		}
	default:
		if c := afterBackslash[b[1]]; c != 0 {
			return rune(c), 2, false
		}
	}
	return '\\', 1, false
}

// afterBackslash maps the letter after a backslash to the byte that the two stand for; 0 where they are no escape.
var afterBackslash = [256]byte{
	'"': '"', '\\': '\\', '/': '/', '\'': '\'',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// surrogates joins v with a second \u escape when the two are a surrogate pair.
func surrogates(b []byte, v rune) (r rune, width int) {
	if utf16.IsSurrogate(v) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := Hex(b, 8, 12); ok {
			if r := utf16.DecodeRune(v, low); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return v, 6
}

// Hex reads the hexadecimal digits b[from:to].
func Hex(b []byte, from, to int) (v rune, ok bool) {
	if len(b) < to {
		return 0, false
	}
	for _, c := range b[from:to] {
		switch {
		case c-'0' < 10:
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
