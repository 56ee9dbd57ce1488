package parse

import (
	"bytes"
	"encoding/binary"

	"shadow/limit"
)

// Most lines of most logs are plain: of the combined format, without a user, an escape, a quote too many or anything
// behind the agent. The seven marks of such a line tell where all its fields are, and little is left to look at:
//
//	client - - [26 bytes of time] "GET path HTTP/1.1" 200 312 "referer" "agent"⏎
//	                              1                 2         3       4 5     67
//
// A plain line is read into the record that the scanner would make of it. At the least surprise it is none, and the
// scanner reads it: so what is plain never decides that a line is bad, and whatever the scanner does with odd lines
// need not be done here.

// plainMarks is the number of marks of a plain line.
const plainMarks = 7

// What stands at places of a plain line, as numbers: the first byte is the lowest.
const (
	openTime     = ' ' | '-'<<8 | ' '<<16 | '-'<<24 | ' '<<32 | '['<<40 // " - - ["
	shutTime     = ']' | ' '<<8 | '"'<<16                               // `] "`, up to mark 1
	quoteAgent   = '"' | ' '<<8 | '"'<<16                               // `" "`, marks 4 and 5
	quoteReferer = ' ' | '"'<<8                                         // ` "`, up to mark 3
	quoteEnd     = '"' | '\n'<<8                                        // marks 6 and 7
	get          = 'G' | 'E'<<8 | 'T'<<16 | ' '<<24                     // "GET "
	http         = ' ' | 'H'<<8 | 'T'<<16 | 'T'<<24 | 'P'<<32 | '/'<<40 // " HTTP/"

	low16, low24, low48 = 1<<16 - 1, 1<<24 - 1, 1<<48 - 1
)

// How long parts of a plain line are.
const (
	timeLength   = 26 // the time between its brackets
	toTime       = len(" - - [")
	toRequest    = toTime + timeLength + len(`] `) // from the end of the client to mark 1
	toSize       = len(`" 200 `)                   // from mark 2 to the byte count
	mostDigits   = 8                               // of a byte count
	leastClient  = 2                               // as in head
	leastRequest = 2                               // as in head
)

// hasPlain reports whether plain lines are of a program's format: it has the steps of the head, and then an agent.
func hasPlain(prog *program) bool {
	if !prog.head || len(prog.steps) != len(headSteps)+1 {
		return false
	}
	agent := &prog.steps[len(headSteps)]
	return agent.kind == kindAgent && agent.span == spanQuoted && len(agent.follow) == 0 && agent.last && agent.extra < 0
}

// readPlain reads the next line, if it is plain.
func (l *Lines) readPlain(r *Record) bool {
	marks := l.index(plainMarks)
	if len(marks) < plainMarks {
		return false
	}
	m := (*[plainMarks]uint32)(marks)
	q1, q2, q3, q4, q5, q6, end := int(m[0]), int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), int(m[6])
	start := l.at - l.base
	b := l.data[l.base : l.base+end+1] // marks ascend, so all that is looked at below lies in b
	client, digits := q1-toRequest, q3-1-(q2+toSize)
	if client < start+leastClient || q2 < q1+1+leastRequest || digits < 1 || digits > mostDigits || q5 != q4+2 || end != q6+1 ||
		word16(b[q6:]) != quoteEnd || word32(b[q4:])&low24 != quoteAgent || word16(b[q3-1:]) != quoteReferer ||
		word64(b[client:])&low48 != openTime || word32(b[q1-2:])&low24 != shutTime {
		return false
	}
	stamp, ok := l.plainTime(b[client+toTime : end])
	status, _ := threeDigits(b, q2+2)
	size := plainSize(word64(b[q2+toSize:]), digits)
	if !ok || status < 0 || size < 0 || b[q2+1] != ' ' || b[q2] != '"' {
		return false
	}
	name := b[start:client]
	clean := dotted(name)
	if !clean && (bytes.IndexByte(name, ' ') >= 0 || name[len(name)-1] == ',') {
		return false
	}
	if !r.plain {
		*r = blank
		r.plain = true
	}
	r.Stamp, r.Start, r.Client, r.Status, r.Bytes = stamp, stamp, name, status, size
	r.Method, r.Path = plainRequest(b[q1+1 : q2])
	r.NotHTTP = r.Method == nil
	r.Referer, r.Agent = undashed(b[q3+1:q4]), undashed(b[q5+1:q6])
	if !clean {
		cleanClient(r)
		r.plain = r.Forwarded == nil
	}
	l.at += end + 1 - start
	l.mark += plainMarks
	return true
}

// plainTime reads a time of 26 bytes, of which most are those of the line before.
func (l *Lines) plainTime(b []byte) (limit.Time, bool) {
	t, n, reason := l.scanner.clock.local(b)
	return t, n == timeLength && reason == ""
}

// plainSize reads a byte count: the first so many bytes of a word are its digits, or the "-" for none. It is −1 where
// they are something else.
//
// The digits are moved to the end of eight, behind zeros. Then neighbours are joined to numbers of two digits, these to
// numbers of four, and these to one, all of a kind at once.
func plainSize(w uint64, digits int) int64 {
	if digits == 1 && byte(w) == '-' {
		return 0
	}
	const (
		zeros = 0x3030303030303030 // "00000000"
		high  = 0xF0F0F0F0F0F0F0F0
		six   = 0x0606060606060606 // beyond '9' it makes the next sixteen
	)
	w = w<<(64-8*digits) | zeros>>(8*digits)
	if w&high != zeros || (w+six)&high != zeros {
		return -1
	}
	w = (w & ^uint64(high)) * (10<<8 + 1) >> 8
	w = (w & 0x00FF00FF00FF00FF) * (100<<16 + 1) >> 16
	return int64((w & 0x0000FFFF0000FFFF) * (10000<<32 + 1) >> 32)
}

// plainRequest is requestParts, which has less to do for nearly all requests: GET of a path, with the protocol behind it.
func plainRequest(b []byte) (method, target []byte) {
	protocol := len(b) - len(" HTTP/1.1")
	if protocol > len("GET ") && word32(b) == get && b[len("GET ")] == '/' && word64(b[protocol:])&low48 == http &&
		b[len(b)-3]-'0' < 10 && b[len(b)-1]-'0' < 10 {
		return b[:len("GET")], b[len("GET "):protocol]
	}
	return requestParts(b)
}

// undashed is a text, nil if it is the "-" for none.
func undashed(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

func word16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func word32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func word64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
