package parse

import "bytes"

// The scanner runs a program over the bytes of a line: each step finds the end of its value, keeps it, and goes on
// behind the text that follows. There is no going back, no regular expression and no allocation; most of the time is
// spent in bytes.IndexByte.

// A scanner is the Parser of the formats that a program can express.
type scanner struct {
	reader
}

// Parse implements Parser.
func (s *scanner) Parse(line []byte, r *Record) Fault {
	*r = blank
	fault := s.scan(line, r)
	if fault.OK() {
		fault = s.complete(r, bytes.IndexByte(line, '\\') >= 0)
	}
	if !fault.OK() {
		*r = blank
	}
	return fault
}

// scan runs the steps.
func (s *scanner) scan(line []byte, r *Record) Fault {
	prog := s.prog
	if len(line) < len(prog.open) || string(line[:len(prog.open)]) != prog.open {
		return Fault{prog.noOpen, 1}
	}
	at := len(prog.open)
	for i := range prog.steps {
		st := &prog.steps[i]
		end, reason := s.value(st, line, at, r)
		if reason != "" {
			return Fault{reason, at + 1}
		}
		if st.extra >= 0 {
			r.Extra[st.extra] = line[at:end]
		}
		at = end
		if st.span == spanQuoted {
			at++
		}
		if !st.follows(line, at) {
			if st.tail && endsField(line, at) {
				return Fault{}
			}
			return Fault{st.bad, at + 1}
		}
		at += len(st.follow)
	}
	if at < len(line) && !(prog.lenient && line[at] == ' ') {
		return Fault{"text behind the last field", at + 1}
	}
	return Fault{}
}

// value reads the value that begins at from, keeps it in r, and returns its end.
func (s *scanner) value(st *step, line []byte, from int, r *Record) (end int, reason string) {
	if st.span == spanMeasured {
		n, reason := s.measure(st, line[from:], r)
		return from + n, reason
	}
	if end = st.find(line, from); end < 0 {
		return 0, st.noEnd
	}
	keep(st.use, line[from:end], r)
	return end, ""
}

// find returns where the value that begins at from ends, or −1.
func (st *step) find(line []byte, from int) (end int) {
	switch st.span {
	case spanQuoted:
		if end = st.quote(line, from, false); end < 0 && st.tail {
			end = st.quote(line, from, true)
		}
		return end
	case spanPhrase:
		if end = st.phrase(line, from); end < 0 && st.tail {
			end = word(line, from, ' ')
		}
		return end
	case spanWord:
		if end = word(line, from, st.stop); end == len(line) && !st.tail {
			return -1
		}
		return end
	case spanSlash:
		if n := bytes.IndexByte(line[from:], '/'); n >= 0 {
			return from + n
		}
		return -1
	}
	return len(line)
}

// quote finds the quote that closes the value: an unescaped one with st.follow behind it, or if tail is set one that
// ends a field. Others are taken for quotes that the writer failed to escape.
func (st *step) quote(line []byte, from int, tail bool) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		if at > from && line[at-1] == '\\' && escaped(line[from:at]) {
			continue
		}
		if tail && endsField(line, at+1) || st.closes(line, at+1) {
			return at
		}
	}
}

// closes tells whether what stands behind a quote is what the format wants there. Behind the last value that is the
// end of the line; one more quoted field is not taken for a part of the value, so that it becomes a Fault.
func (st *step) closes(line []byte, at int) bool {
	if !st.follows(line, at) {
		return false
	}
	if !st.last {
		return true
	}
	at += len(st.follow)
	if st.tail {
		return endsField(line, at)
	}
	return at == len(line) || bytes.HasPrefix(line[at:], []byte(` "`))
}

// phrase finds where st.follow begins; behind the last value it stands at the end of the line.
func (st *step) phrase(line []byte, from int) int {
	if st.last && !st.tail {
		if end := len(line) - len(st.follow); end >= from && st.follows(line, end) {
			return end
		}
		return -1
	}
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], st.stop)
		if n < 0 {
			return -1
		}
		if at += n; st.follows(line, at) {
			return at
		}
	}
}

// word finds the first stop byte, or the end of the line. Spaces of a list, as in "10.0.0.2, 10.0.0.1" and
// "0.1 : 0.2", do not stop it.
func word(line []byte, from int, stop byte) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(line[at:], stop)
		if n < 0 {
			return len(line)
		}
		at += n
		switch {
		case stop != ' ' || at == from:
			return at
		case line[at-1] == ',':
		case bytes.HasPrefix(line[at:], []byte(" : ")):
			at += 2
		default:
			return at
		}
	}
}

// follows tells whether st.follow stands in line at at.
func (st *step) follows(line []byte, at int) bool {
	return len(line)-at >= len(st.follow) && string(line[at:at+len(st.follow)]) == st.follow
}

// endsField tells whether a field can end at at: with the line or before a space.
func endsField(line []byte, at int) bool { return at == len(line) || line[at] == ' ' }

// escaped tells whether what follows b is escaped: b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}
