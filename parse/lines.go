package parse

import (
	"bytes"

	"shadow/logfile"
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

	plain bool     // whether plain lines are read by their index; if not, there is none
	marks []uint32 // the index of a part of the block, in the room of which it is made again
	mark  int      // the first of the marks that lies in the next line
	base  int      // what the marks count from
}

// indexed is how many bytes of a block are indexed at a time: so few that their marks stay in the caches.
const indexed = 16 << 10

// NewLines returns what reads lines of the format.
func (f *Format) NewLines() *Lines {
	l := &Lines{parser: f.NewParser()}
	l.scanner, _ = l.parser.(*scanner)
	l.clock = clockOf(l.parser)
	if l.plain = indexesChunks && l.scanner != nil && hasPlain(l.scanner.prog); l.plain {
		l.marks = make([]uint32, 0, indexed+indexRoom)
	}
	return l
}

// clockOf is what a parser reads stamps with.
func clockOf(p Parser) *clock {
	switch p := p.(type) {
	case *scanner:
		return &p.clock
	case *jsonParser:
		return &p.clock
	case *gonxParser:
		return &p.clock
	case *logfmtParser:
		return &p.clock
	case *wrappedParser:
		return clockOf(p.Parser)
	}
	return new(clock)
}

// Begin begins with a block of whole lines. Parsing may change their bytes.
func (l *Lines) Begin(block []byte) {
	l.data, l.at = block, 0
	l.marks, l.mark, l.base = l.marks[:0], 0, 0
	if w, is := l.parser.(*w3cParser); is {
		w.begin()
	}
	if l.scanner != nil {
		l.scanner.unescaped = bytes.IndexByte(block, '\\') < 0
	}
}

// Zone is what the stamp of the latest line that could be read says of its own.
func (l *Lines) Zone() Zone { return l.clock.said }

// More reports whether the block has another line.
func (l *Lines) More() bool { return l.at < len(l.data) }

// Next parses the next line into r, as Parser.Parse does. A line that is empty or longer than MaxLine is a Fault
// whatever its format. Of a line with a Fault it returns the text, without its line ending.
func (l *Lines) Next(r *Record) (line []byte, fault Fault) {
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

// index returns the marks of the next line and what they count from. There may be fewer than wanted.
func (l *Lines) index(wanted int) []uint32 {
	if len(l.marks)-l.mark < wanted {
		l.base, l.mark = l.at, 0
		l.marks = appendIndex(l.marks[:0], l.data[l.at:min(len(l.data), l.at+indexed)])
	}
	return l.marks[l.mark:]
}

// The index of some lines is where their quotes, line feeds and backslashes stand, in the order in which they come.
// A line without a backslash and with all the quotes of its format shows by them alone where each field lies:
//
//	192.0.2.7 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 312 "https://example.org/" "curl/8"⏎
//	                                           ^              ^         ^                    ^ ^      ^^
//
// Processors with AVX2 find them 64 bytes at a time (index_amd64.s). On others, to look for one after the other costs
// as much as the index saves: there the scanner reads all lines. So it does when built with the tag purego.

const (
	chunk     = 64             // bytes that are indexed at a time
	excess    = 4              // marks that may be written behind those of chunks
	indexRoom = chunk + excess // marks more than bytes that an index needs room for
)

// appendIndex appends to marks, which has room for len(data)+indexRoom more, the index of data. It may be called where
// indexesChunks is true.
func appendIndex(marks []uint32, data []byte) []uint32 {
	whole := len(data) / chunk * chunk
	marks = appendChunks(marks, data[:whole])
	if whole == len(data) {
		return marks
	}
	var rest [chunk]byte // so that nothing behind data is read
	copy(rest[:], data[whole:])
	n := len(marks)
	marks = appendChunks(marks, rest[:])
	for i := range marks[n:] {
		marks[n+i] += uint32(whole)
	}
	return marks
}

// appendChunks is appendIndex of whole chunks.
func appendChunks(marks []uint32, data []byte) []uint32 {
	n, end := len(marks), len(marks)+len(data)+excess
	if len(data) == 0 {
		return marks
	}
	return marks[:n+indexChunks(&data[0], len(data)/chunk, &marks[n:end][0])]
}
