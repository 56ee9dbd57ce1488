package parse

import (
	"bytes"
	"regexp"
	"strings"

	"shadow/internal/lazy"
	"shadow/parse/lex"
)

// Pairs are rows of names with values, as loggers of Go, LTSV (ltsv.org) and log_formats for Splunk write them. A value
// with spaces is quoted, with the escapes of JSON, unless tabs divide the pairs:
//
//	time=2026-01-01T00:00:00Z level=info method=GET path="/a b" status=200 remote_addr=192.0.2.7:40112 duration=4ms
//	time:[01/Jan/2026:00:00:00 +0000]	host:192.0.2.7	req:GET /a b HTTP/1.1	status:200
//
// What the names mean is said as for JSON.

// A PairSyntax says how pairs are written.
type PairSyntax struct {
	Name   string
	assign byte // between name and value
	apart  byte // between pairs
	begins func() *regexp.Regexp
}

// pairSyntaxes lists them, the most special first.
var pairSyntaxes = []PairSyntax{
	{"ltsv", ':', '\t', lazy.Regexp(`(?:^|\t)[A-Za-z_][\w.-]*:`)},
	{"pairs with tabs", '=', '\t', lazy.Regexp(`(?:^|\t)[A-Za-z_@][\w.-]*=`)},
	{"pairs with bars", '=', '|', lazy.Regexp(`(?:^|\| ?)[A-Za-z_@][\w.-]*=`)},
	{"pairs with semicolons", '=', ';', lazy.Regexp(`(?:^|; ?)[A-Za-z_@][\w.-]*=`)},
	{"pairs with commas", '=', ',', lazy.Regexp(`(?:^|, ?)[A-Za-z_@][\w.-]*=`)},
	{"logfmt", '=', ' ', lazy.Regexp(`(?:^| )[A-Za-z_@][\w.-]*=`)},
}

// leastPairs is the fewest pairs of a line, the first at its beginning.
const leastPairs = 3

// Pairs returns how most lines write pairs, nil if they do not.
func Pairs(lines [][]byte) *PairSyntax {
	for i := range pairSyntaxes {
		if s := &pairSyntaxes[i]; len(lines) > 0 && Mostly(lines, s.fits) {
			return s
		}
	}
	return nil
}

// fits reports whether a line has pairs of this syntax, and no more where spaces divide them.
func (x *PairSyntax) fits(line []byte) bool {
	if bytes.Count(line, []byte{x.assign}) < leastPairs || bytes.Count(line, []byte{x.apart}) < leastPairs-1 {
		return false
	}
	all := x.begins().FindAllIndex(line, -1)
	if len(all) < leastPairs || all[0][0] != 0 {
		return false
	}
	return x.apart == ' ' || x.apart == '\t' || len(all) >= len(pairSyntaxes[len(pairSyntaxes)-1].begins().FindAllIndex(line, -1))
}

// Mapping is the part of a mapping whose keys occur in lines.
func (x *PairSyntax) Mapping(m FieldMapping, lines [][]byte) FieldMapping {
	var names []string
	for _, line := range lines[:min(len(lines), namedLines)] {
		for _, at := range x.begins().FindAllIndex(line, -1) {
			names = append(names, strings.TrimLeft(string(line[at[0]:at[1]-1]), " \t|;,"))
		}
	}
	found := m.Named(names).Timed(m)
	if x.assign == ':' && !found.has("client") { // what LTSV calls host is the client; the site is vhost
		for i, name := range found["host"] {
			if name == "host" {
				found["client"], found["host"] = []string{name}, append(found["host"][:i:i], found["host"][i+1:]...)
				break
			}
		}
	}
	return found
}

// namedLines is the most lines in which names are looked for.
const namedLines = 200

// Compile makes a format of the keys that a mapping names.
func (x *PairSyntax) Compile(m FieldMapping, o Options) (*Format, error) {
	f, err := CompileNamedJSON(x.Name, m, o)
	if err != nil {
		return nil, err
	}
	objects := f.parser
	f.parser = func() Parser { return &pairParser{objects().(*jsonParser), x} }
	return f, nil
}

type pairParser struct {
	*jsonParser
	syntax *PairSyntax
}

// Parse implements Parser.
func (p *pairParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if p.pairs(line, p.tree, p.syntax) && p.fill(r) {
		return Fault{}
	}
	*r = blank
	return p.fault
}

// begin makes the scanner ready for a line.
func (s *jsonScanner) begin(line []byte) {
	s.line, s.at, s.found, s.blank, s.fault = line, 0, [slotCount]jsonValue{}, 0, Fault{}
}

// pairs notes the values of a line.
func (s *jsonScanner) pairs(line []byte, root *jsonNode, x *PairSyntax) bool {
	s.begin(line)
	for s.next() != 0 {
		if c := line[s.at]; c == x.apart { // behind a quoted value
			s.at++
			continue
		}
		start := s.at
		for s.at < len(line) && line[s.at] != x.assign && line[s.at] != x.apart {
			s.at++
		}
		if s.at == len(line) || line[s.at] == x.apart {
			continue // a word without a value
		}
		n := root.child(line[start:s.at])
		if s.at++; !s.pairValue(n, x) {
			return false
		}
	}
	return true
}

// pairValue reads what stands behind the name.
func (s *jsonScanner) pairValue(n *jsonNode, x *PairSyntax) bool {
	start, ok := s.at, true
	var text []byte
	if s.at < len(s.line) && s.line[s.at] == '"' && x.assign == '=' {
		start++
		text, ok = s.quoted()
	} else {
		if end := bytes.IndexByte(s.line[s.at:], x.apart); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.line)
		}
		if text = s.line[start:s.at]; x.apart != ' ' {
			text = lex.Unescape(bytes.TrimSpace(text))
		}
	}
	if ok && n != nil {
		s.keep(n, text, start)
	}
	return ok
}
