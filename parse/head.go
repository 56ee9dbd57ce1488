package parse

import (
	"bytes"
	"encoding/binary"

	"shadow/parse/lex"
)

// Nearly all logs begin as the combined format does, and nearly all their lines without any surprise:
//
//	192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "https://example.org/" "…
//
// This head of a line is read in one go rather than step by step, which spares two fifths of the time of a line. It is
// the quick twin of the first steps of the program: at the least surprise it gives up, and the program reads the line
// from its start. So it never decides that a line is bad, and need not know escapes, lists, users or quotes inside of
// quotes.

// headSteps are the steps that the head stands for: what each reads, and what follows.
var headSteps = []struct {
	kind   fieldKind
	follow string
}{
	{kindClient, " - "},
	{kindUser, " ["},
	{kindLocal, `] "`},
	{kindRequest, " "},
	{kindStatus, " "},
	{kindBytes, ` "`},
	{kindReferer, ` "`},
}

// hasHead reports whether a program begins with the steps of the head, and keeps nothing but their usual fields.
func hasHead(prog *program) bool {
	if prog.open != "" || len(prog.steps) <= len(headSteps) {
		return false
	}
	for i, want := range headSteps {
		st := &prog.steps[i]
		if st.kind != want.kind || string(st.follow) != want.follow || st.idle || st.extra >= 0 {
			return false
		}
	}
	return true
}

// head reads the head of a line and returns the place behind it, or 0 if it has to be read step by step.
func (s *scanner) head(line []byte, r *Record) int {
	client := bytes.IndexByte(line, ' ')
	if client < 2 || line[client-1] == ',' || len(line) < client+40 || !startsWith(line[client:], " - - [") {
		return 0
	}
	at := client + len(" - - [")
	stamp, n, reason := s.clock.local(line[at:])
	if at += n; reason != "" || !startsWith(line[at:], `] "`) {
		return 0
	}
	request := at + len(`] "`)
	end := ordinaryQuote(line, request, ' ')
	if end < request+2 {
		return 0
	}
	status, at := threeDigits(line, end+len(`" `))
	if status < 0 {
		return 0
	}
	size, n := sizeOrDash(line[at:])
	if at += n; n <= 0 || !startsWith(line[at:], ` "`) {
		return 0
	}
	referer := at + len(` "`)
	at = ordinaryQuote(line, referer, ' ')
	if at < 0 || at+2 >= len(line) || line[at+2] != '"' {
		return 0
	}
	r.Client, s.stamp = line[:client], stamp
	r.Method, r.Path = requestParts(line[request:end])
	r.NotHTTP = r.Method == nil
	r.Status, r.Bytes = status, size
	keep(kindReferer, line[referer:at], r)
	return at + len(`" "`)
}

// sizeOrDash reads a byte count, or the "-" that Apache writes for none.
func sizeOrDash(b []byte) (size int64, n int) {
	if len(b) > 0 && b[0] == '-' {
		return 0, 1
	}
	return lex.Integer(b)
}

// startsWith is bytes.HasPrefix for a text, without a call.
func startsWith(b []byte, text string) bool {
	return len(b) >= len(text) && string(b[:len(text)]) == text
}

// ordinaryQuote returns the place of the first quote from a place on, if it is not escaped and next stands behind it;
// else −1.
func ordinaryQuote(line []byte, from int, next byte) int {
	n := bytes.IndexByte(line[from:], '"')
	if n < 0 || from+n+1 >= len(line) || line[from+n+1] != next || n > 0 && line[from+n-1] == '\\' {
		return -1
	}
	return from + n
}

// threeDigits reads a status of three digits and the space behind it, and returns the place behind that. The status is
// −1 if something else stands there.
func threeDigits(line []byte, at int) (status int32, next int) {
	if len(line) < at+4 {
		return -1, 0
	}
	w := binary.LittleEndian.Uint32(line[at:])
	a, b, c := w&0xFF-'0', w>>8&0xFF-'0', w>>16&0xFF-'0'
	if a > 9 || b > 9 || c > 9 || w>>24 != ' ' {
		return -1, 0
	}
	return int32(100*a + 10*b + c), at + 4
}
