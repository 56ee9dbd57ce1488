package parse

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"shadow/parse/lex"
)

// One walk over the line, byte by byte, no look back: object and array call each other, at most maxJSONDepth deep.
// The values that the tree of keys has a use for are noted, the others only checked.
//
// It reads what RFC 8259 allows, and two things that nginx writes when the log_format looks like JSON but is not
// quite: \x22 in a string (without escape=json), and nothing or a lone "-" in the place of a number that was not
// there ("upstream_response_time":,). Of a key that occurs twice the last one counts.

// maxJSONDepth is the depth to which objects and arrays may nest. Logs nest to about five.
const maxJSONDepth = 64

// A jsonValue is a value that the line gave for a slot.
type jsonValue struct {
	text []byte // without quotes, escapes undone; nil when the line has none
	rank uint8
	unit int8
	at   int // offset in the line
}

type jsonScanner struct {
	line  []byte
	at    int // of the next byte to read
	found [slotCount]jsonValue
	blank uint32 // the slots, a bit each, of which a key is there and says nothing
	has   []bool // by the numbers of keys: whether one has a value. Where it is not nil, nothing is found
	fault Fault
}

// scan walks the whole line, which must be one object.
func (s *jsonScanner) scan(line []byte, root *jsonNode) bool {
	s.begin(line)
	if s.next() != '{' {
		return s.fail("not a JSON object")
	}
	if !s.object(root, 1) {
		return false
	}
	if s.next(); s.at < len(s.line) {
		return s.fail("something follows the JSON object")
	}
	return true
}

// fail notes the reason, at the byte where reading stopped.
func (s *jsonScanner) fail(reason string) bool {
	s.fault = Fault{Reason: reason, Column: min(s.at, len(s.line)) + 1}
	return false
}

// failOpen notes the reason, or that the line came to its end too soon.
func (s *jsonScanner) failOpen(reason string) bool {
	if s.at >= len(s.line) {
		reason = "the line ends inside the JSON object"
	}
	return s.fail(reason)
}

// next skips white space and returns the byte that it finds there, 0 at the end of the line.
func (s *jsonScanner) next() byte {
	for ; s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// object reads from the opening brace to behind the closing one.
func (s *jsonScanner) object(n *jsonNode, depth int) bool {
	s.at++
	if s.next() == '}' {
		s.at++
		return true
	}
	for {
		if s.next() != '"' {
			return s.failOpen("no key where one is expected in an object")
		}
		key, ok := s.quoted()
		if !ok {
			return false
		}
		if s.next() != ':' {
			return s.failOpen("no colon after a key")
		}
		s.at++
		child := n.child(key)
		if n != nil && n.pairs != nil && string(key) == "value" {
			child, s.found[slotName] = n.pairs.child(s.found[slotName].text), jsonValue{}
		}
		if !s.value(child, depth, true) {
			return false
		}
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return true
		default:
			return s.failOpen("no comma or brace after a value of an object")
		}
	}
}

// array reads from the opening bracket to behind the closing one. Its first element stands for the whole, unless it is
// one of pairs.
func (s *jsonScanner) array(n *jsonNode, depth int) bool {
	s.at++
	if s.next() == ']' {
		s.at++
		return true
	}
	for {
		if !s.value(n, depth, false) {
			return false
		}
		single := n != nil && n.single
		if n != nil && n.pairs == nil {
			n = nil
		}
		switch s.next() {
		case ',':
			if single {
				return s.fail("several requests in one line: write each in a line of its own")
			}
			s.at++
		case ']':
			s.at++
			return true
		default:
			return s.failOpen("no comma or bracket after an element of an array")
		}
	}
}

// value reads one value of any kind. Where it may be missing, nothing or "-" counts as null.
func (s *jsonScanner) value(n *jsonNode, depth int, mayMiss bool) bool {
	c := s.next()
	if c == '{' || c == '[' {
		if depth == maxJSONDepth {
			return s.fail("objects nest too deep")
		}
		if c == '{' {
			return s.object(n, depth+1)
		}
		return s.array(n, depth+1)
	}
	start := s.at
	var text []byte
	var ok bool
	if c == '"' {
		text, ok = s.quoted()
		start++
	} else {
		text, ok = s.bare(mayMiss)
	}
	if ok && n != nil {
		s.keep(n, text, start)
	}
	return ok
}

// bare reads a number, true, false or null; null comes out as nil.
func (s *jsonScanner) bare(mayMiss bool) (text []byte, ok bool) {
	start := s.at
	for s.at < len(s.line) && !endsBare(s.line[s.at]) {
		s.at++
	}
	text = s.line[start:s.at]
	switch {
	case isJSONNumber(text), string(text) == "true", string(text) == "false":
		return text, true
	case string(text) == "null":
		return nil, true
	case mayMiss && s.at < len(s.line) && (len(text) == 0 || string(text) == "-"):
		return nil, true
	case s.at == len(s.line):
		return nil, s.failOpen("")
	}
	s.at = start
	return nil, s.fail("neither a string nor a number, true, false or null")
}

func endsBare(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// keep notes a value for each slot that its key serves. A value that says nothing gives way to any other; else the
// better key wins, and of equal ones the last.
func (s *jsonScanner) keep(n *jsonNode, text []byte, at int) {
	for _, t := range n.targets {
		v, none := &s.found[t.slot], t.slot < slotExtra && (len(text) == 0 || string(text) == "-") || text == nil
		if s.has != nil && t.slot != slotName {
			s.has[t.number] = !none
			continue
		}
		if none {
			s.blank |= 1 << t.slot
			if v.text != nil && v.rank == t.rank {
				*v = jsonValue{} // the key came before; its last value counts
			}
			continue
		}
		if v.text == nil || t.rank <= v.rank {
			*v = jsonValue{text, t.rank, t.unit, at}
		}
	}
}

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
	r, n, isRune := lex.Escape(from)
	switch {
	case n == 1, from[1] == '\'', from[1] == 'v':
		return 0, 0
	case isRune:
		return n, utf8.EncodeRune(dst, r)
	}
	dst[0] = byte(r)
	return n, 1
}
