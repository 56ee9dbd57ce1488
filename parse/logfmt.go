package parse

import "bytes"

// logfmt is rows of key=value, as loggers of Go write them. A value with spaces is quoted, with the escapes of JSON:
//
//	time=2026-01-01T00:00:00Z level=info method=GET path="/a b" status=200 remote_addr=192.0.2.7:40112 duration=4ms
//
// What the keys mean is said as for JSON.

// CompileLogfmt makes a format of the keys that a mapping names.
func CompileLogfmt(m FieldMapping, o Options) (*Format, error) {
	f, err := CompileNamedJSON("logfmt", m, o)
	if err != nil {
		return nil, err
	}
	objects := f.parser
	f.parser = func() Parser { return &logfmtParser{objects().(*jsonParser)} }
	return f, nil
}

type logfmtParser struct{ *jsonParser }

// Parse implements Parser.
func (p *logfmtParser) Parse(line []byte, r *Record) Fault {
	*r = blank
	if p.pairs(line, p.tree) && p.fill(r) {
		return Fault{}
	}
	*r = blank
	return p.fault
}

// pairs notes the values of a line.
func (s *jsonScanner) pairs(line []byte, root *jsonNode) bool {
	s.line, s.at, s.found, s.blank, s.fault = line, 0, [slotCount]jsonValue{}, 0, Fault{}
	for s.next() != 0 {
		start := s.at
		for s.at < len(line) && line[s.at] != '=' && line[s.at] != ' ' {
			s.at++
		}
		if s.at == len(line) || line[s.at] == ' ' {
			continue // a word without a value
		}
		n := root.child(line[start:s.at])
		if s.at++; !s.pairValue(n) {
			return false
		}
	}
	return true
}

// pairValue reads what stands behind "=".
func (s *jsonScanner) pairValue(n *jsonNode) bool {
	start, ok := s.at, true
	var text []byte
	if s.at < len(s.line) && s.line[s.at] == '"' {
		start++
		text, ok = s.quoted()
	} else {
		if end := bytes.IndexByte(s.line[s.at:], ' '); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.line)
		}
		text = s.line[start:s.at]
	}
	if ok && n != nil {
		s.keep(n, text, start)
	}
	return ok
}

// LooksLikeLogfmt reports whether a line has three pairs, the first at its beginning.
func LooksLikeLogfmt(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte{' '})
	return bytes.IndexByte(word, '=') > 0 && word[0]|0x20 >= 'a' && word[0]|0x20 <= 'z' && bytes.Count(line, []byte{'='}) >= 3
}
