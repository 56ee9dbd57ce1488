package parse

import (
	"bytes"
	"cmp"

	"shadow/internal/logfile"
	"shadow/parse/lex"
)

// Lines reads the lines of blocks, one after the other, for one goroutine. It is the quick way of parsing many lines:
// where the format and the processor allow it, plain lines are read by their index (plain.go), and the parser gets the
// others.
type Lines struct {
	parser  Parser
	scanner *scanner // the parser, if it is one
	clock   *clock   // that of the parser

	data []byte // the block
	at   int    // where its next line begins
	from int    // where the one before it began

	plain bool     // whether plain lines are read by their index; if not, there is none
	marks []uint32 // the index of a part of the block; its room is used again
	mark  int      // the first of the marks that lies in the next line
	base  int      // what the marks count from
}

// indexed is the number of bytes of a block that are indexed at a time: so few that their marks stay in the caches.
const indexed = 16 << 10

// NewLines returns what reads lines of the format.
func (f *Format) NewLines() *Lines {
	l := &Lines{parser: f.NewParser()}
	l.scanner, _ = l.parser.(*scanner)
	l.clock = clockOf(l.parser)
	if l.plain = lex.HasIndex && l.scanner != nil && hasPlain(l.scanner.prog); l.plain {
		l.marks = make([]uint32, 0, indexed+lex.IndexRoom)
	}
	return l
}

// clockOf returns the clock with which a parser reads stamps.
func clockOf(p Parser) *clock {
	switch p := p.(type) {
	case *scanner:
		return &p.clock
	case *jsonParser:
		return &p.clock
	case *gonxParser:
		return &p.clock
	case *pairParser:
		return &p.clock
	case *columnParser:
		return &p.clock
	case *wrappedParser:
		return clockOf(p.Parser)
	case *eitherParser:
		return clockOf(cmp.Or(p.latest, p.first))
	}
	return new(clock)
}

// Begin begins with a block of whole lines. Parsing may change their bytes.
func (l *Lines) Begin(block []byte) {
	l.data, l.at = block, 0
	l.marks, l.mark, l.base = l.marks[:0], 0, 0
	if w, is := l.parser.(*w3cParser); is {
		w.columns = w.first
	}
	if l.scanner != nil {
		l.scanner.unescaped = bytes.IndexByte(block, '\\') < 0
	}
}

// Zone returns what the stamp of the latest readable line says of its own zone.
func (l *Lines) Zone() Zone {
	if p, is := l.parser.(*eitherParser); is {
		return clockOf(p).said
	}
	return l.clock.said
}

// More reports whether the block has another line.
func (l *Lines) More() bool { return l.at < len(l.data) }

// Next parses the next line into r, as Parser.Parse does. A line that is empty or longer than MaxLine is a Fault
// whatever its format. Of a line with a Fault it returns the text, without its line ending.
func (l *Lines) Next(r *Record) (line []byte, fault Fault) {
	l.from = l.at
	if l.plain && l.readPlain(r) {
		return nil, Fault{}
	}
	line, rest := logfile.CutLine(l.data[l.at:])
	l.at = len(l.data) - len(rest)
	for l.mark < len(l.marks) && l.base+int(l.marks[l.mark]) < l.at {
		l.mark++
	}
	switch {
	case len(line) == 0:
		return line, Empty
	case len(line) > logfile.MaxLine:
		return line, TooLong
	}
	return line, l.parser.Parse(line, r)
}

// Text returns the line that was read last, with its ending. It is a part of the block.
func (l *Lines) Text() []byte { return l.data[l.from:l.at] }

// index returns the marks of the next line and what they count from. There may be fewer than wanted.
func (l *Lines) index(wanted int) []uint32 {
	if len(l.marks)-l.mark < wanted {
		l.base, l.mark = l.at, 0
		l.marks = lex.AppendIndex(l.marks[:0], l.data[l.at:min(len(l.data), l.at+indexed)])
	}
	return l.marks[l.mark:]
}
