package parse

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
		fault = s.complete(line, r)
	}
	if !fault.OK() {
		*r = blank
	}
	return fault
}

// scan runs the steps. It is one loop because it is where the time goes.
func (s *scanner) scan(line []byte, r *Record) Fault {
	prog := s.prog
	if len(line) < len(prog.open) || string(line[:len(prog.open)]) != prog.open {
		return Fault{prog.noOpen, 1}
	}
	at, steps := len(prog.open), prog.steps
	if prog.head {
		if n := s.head(line, r); n > 0 {
			at, steps = n, steps[len(headSteps):]
		}
	}
	for i := range steps {
		st := &steps[i]
		var end, next int
		switch st.span {
		case spanMeasured:
			n, reason := s.measure(st, line[at:], r)
			if reason != "" {
				return Fault{reason, at + 1}
			}
			end = at + n
			if next = st.behind(line, end); next == nowhere {
				return Fault{st.bad, end + 1}
			}
		case spanQuoted:
			end, next = st.quoted(line, at)
		default:
			end, next = st.find(line, at)
		}
		if next == nowhere {
			return st.unended(line, at)
		}
		if st.span != spanMeasured {
			keep(st.kind, line[at:end], r)
		}
		if st.extra >= 0 {
			r.Extra[st.extra] = line[at:end]
		}
		if next == enough {
			return Fault{}
		}
		at = next
	}
	if at < len(line) && !(prog.lenient && line[at] == ' ') {
		return Fault{"text behind the last field", at + 1}
	}
	return Fault{}
}
