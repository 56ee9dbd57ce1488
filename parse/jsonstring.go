package parse

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	eachByte = 0x0101010101010101 // times a byte: that byte, eight times
	highBits = 0x8080808080808080
)

// quoted reads a string from its opening quote to behind the closing one, and undoes escapes inside the line.
func (s *jsonScanner) quoted() (text []byte, ok bool) {
	s.at++
	start := s.at
	s.at = plainEnd(s.line, s.at)
	if s.at < len(s.line) && s.line[s.at] == '"' {
		s.at++
		return s.line[start : s.at-1], true
	}
	return s.escaped(start)
}

// escaped is quoted's slow part, from the first byte that is not plain. What it writes is never longer than what it
// has read, so that it can write over it.
func (s *jsonScanner) escaped(start int) (text []byte, ok bool) {
	to := s.at
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case c == '"':
			s.at++
			return s.line[start:to], true
		case c == '\\':
			n, width := unescapeJSON(s.line[to:], s.line[s.at:])
			if n == 0 {
				return nil, s.fail("an escape in a string that JSON does not have")
			}
			s.at, to = s.at+n, to+width
		case c < ' ':
			return nil, s.fail("a control character in a string")
		default:
			end := plainEnd(s.line, s.at)
			to += copy(s.line[to:], s.line[s.at:end])
			s.at = end
		}
	}
	return nil, s.fail("the line ends inside a string")
}

// plainEnd returns the offset of the first quote, backslash or control character from at on, or len(b). It looks at
// eight bytes at once: x-0x01 borrows from the high bit of a byte only where x is 0 (Bit Twiddling Hacks, "Determine
// if a word has a zero byte", and "… a byte less than n"). A borrow spoils only bytes above the first hit.
func plainEnd(b []byte, at int) int {
	for ; at+8 <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		quote, slash := w^('"'*eachByte), w^('\\'*eachByte)
		hit := (quote-eachByte)&^quote | (slash-eachByte)&^slash | (w-' '*eachByte)&^w
		if hit &= highBits; hit != 0 {
			return at + bits.TrailingZeros64(hit)/8
		}
	}
	for ; at < len(b); at++ {
		if c := b[at]; c == '"' || c == '\\' || c < ' ' {
			return at
		}
	}
	return at
}

// unescapeJSON undoes the escape that from begins with and writes the result to dst, which may lie before from in the
// same array. It returns how many bytes it read, 0 if that is no escape of JSON, nor \x22, which nginx writes without
// escape=json; and how many it wrote. Half of a surrogate pair becomes U+FFFD.
func unescapeJSON(dst, from []byte) (n, width int) {
	r, n, isRune := escape(from)
	switch {
	case n == 1, from[1] == '\'', from[1] == 'v':
		return 0, 0
	case isRune:
		return n, utf8.EncodeRune(dst, r)
	}
	dst[0] = byte(r)
	return n, 1
}
