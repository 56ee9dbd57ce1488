package parse

import "strings"

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

// A step reads one value and the text that follows it.
type step struct {
	kind     fieldKind
	span     span
	idle     bool
	stop     byte   // the first byte of follow, or the quote before it
	last     bool   // whether no step follows
	tail     bool   // whether the line may end behind this value, or go on with a space and what we do not read
	extra    int    // the value's place in Record.Extra, or −1
	follow   []byte // the text behind the value, without the quote of a quoted one
	want     uint64 // its first eight bytes as a number, the first byte lowest
	mask     uint64 // the bits of want that count
	strptime strptime

	noEnd  string // the reason of a Fault when the value's end is not found
	noText string // the reason when there is a closing quote, and not what should stand behind it
	bad    string // the reason when the value cannot be read or is not followed by what it should
	excess string // the reason when the number is too large
}

// A span says how the end of a value is found.
type span uint8

const (
	spanMeasured span = iota // the value knows its own end
	spanQuoted               // at an unescaped quote with follow behind it
	spanPhrase               // where follow begins
	spanWord                 // where follow begins, which must be at its first byte, unless that goes on a list
	spanSlash                // before the slash that the next value begins with
	spanPort                 // at the last colon of the word: an IPv6 address has more of them
	spanRest                 // at the end of the line
)

// newStep makes the step of one variable.
func newStep(p *token, follow string, next []token) step {
	s := step{kind: p.kind, idle: p.idle, extra: p.extra, strptime: p.strptime}
	noun := kindInfos[p.kind].noun
	switch {
	case p.kind.measured():
		s.bad = kindInfos[p.kind].bad
		s.excess = noun + " is too large"
	case follow == "" && len(next) > 0:
		s.span, s.stop, s.noEnd = spanSlash, '/', "no '/' behind the "+noun
	case follow == "":
		s.span = spanRest
	case follow[0] == '"':
		s.span, s.stop, s.noEnd = spanQuoted, '"', "no closing quote behind the "+noun
		follow = follow[1:]
		of := " behind the closing quote of the " + noun
		if p.kind == kindSkip {
			s.noEnd, of = "no closing quote", " behind a closing quote"
		}
		if s.noText = "text" + of; follow != "" {
			s.noText = missingText(follow) + of
		}
	default:
		s.span, s.stop = spanPhrase, follow[0]
		if p.kind == kindClient && follow == ":" && len(next) > 0 && next[0].key == "remote_port" {
			s.span = spanPort
		} else if p.list || p.kind == kindClient {
			s.span = spanWord
		}
		s.noEnd = missingText(follow) + where(next)
	}
	s.follow = []byte(follow)
	for i := range min(len(follow), 8) {
		s.want |= uint64(follow[i]) << (8 * i)
		s.mask |= 0xFF << (8 * i)
	}
	return s
}

// missingText says in words that text is not there.
func missingText(text string) string {
	switch bare := strings.TrimSpace(text); {
	case bare != "":
		return "no '" + bare + "'"
	case strings.HasPrefix(text, "\t"):
		return "no tab"
	}
	return "no space"
}

// where says in words in front of what some text is missing.
func where(next []token) string {
	if len(next) == 0 {
		return " at the end of the line"
	}
	return " before the " + kindInfos[next[0].kind].noun
}
