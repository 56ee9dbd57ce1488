package logfile

import (
	"bytes"
	"io"
	"slices"
)

// MaxLine is the longest line that is handed over whole, in bytes without its line feed. Of a longer one only the
// first MaxLine+1 bytes come, so that its length tells; the rest is skipped unseen, and it counts as one line.
const MaxLine = 1 << 20

// blockSize is the number of bytes of content that a Block holds when no line is longer than that: enough to make what
// happens once per block cheap, and little enough for a block to stay in the cache of the core that parses it.
const blockSize = 512 << 10

// A Block is a run of whole lines of one input.
type Block struct {
	Data   []byte // whole lines; the last one may lack its line feed at the end of the input
	Offset int64  // of its first byte in the input (after decompression)
}

// End returns the place behind the block.
func (b *Block) End() Place {
	if len(b.Data) == MaxLine+2 && bytes.IndexByte(b.Data, '\n') == MaxLine+1 { // a cut line, with a line feed that is ours
		return Place{Offset: b.Offset + MaxLine + 1, Skipping: true}
	}
	return Place{Offset: b.Offset + int64(len(b.Data))}
}

// A cutter cuts a stream into blocks of whole lines.
//
//	stream  aaaa\nbbbb\ncccc\ndddd\n
//	read    |------------|              into the caller's buffer, in one piece
//	block   aaaa\nbbbb\n
//	carry               ccc             moved to the front of the next block: the only bytes that are copied
//
// A line that does not fit the buffer makes it grow, up to max bytes. What is longer is cut: its first max+1 bytes
// become a block of their own, and the cutter skips to the next line feed.
//
// A byte order mark at the beginning, as editors on Windows put in front of UTF-8, is no part of the first line.
type cutter struct {
	src  io.Reader
	size int // bytes of a block, at most max+1
	max  int // bytes of the longest whole line, without its line feed

	last     lastLine // what becomes of a last line without a line feed
	carry    []byte   // beginning of the line that the last block left unfinished
	offset   int64    // of the next byte to hand over
	skipping bool     // inside a line of which no more is wanted
	err      error    // what ended src
}

// newCutter cuts src, whose first byte lies at offset in the input.
func newCutter(src io.Reader, offset int64) *cutter {
	return &cutter{src: src, size: blockSize, max: MaxLine, offset: offset}
}

// Cut reads about a block of whole lines of a file of so many bytes, from a place on, and returns where reading may go on. It
// reads nothing if there is no whole line yet. last reports whether nothing will be added to the file any more: then a last
// line without a line feed is a line all the same.
func Cut(b *Block, file io.ReaderAt, from Place, size int64, last bool) (Place, error) {
	c := newCutter(io.NewSectionReader(file, from.Offset, size-from.Offset), from.Offset)
	c.skipping, c.last = from.Skipping, lastWaits
	if last {
		c.last = lastUnlessDamaged
	}
	c.size = int(min(int64(c.size), max(0, size-from.Offset)+1)) // so that the end shows
	err := c.next(b)
	if err == io.EOF {
		err = nil
	}
	return c.place(), err
}

// next fills b with the next lines, or returns what ended the stream once all of it has been handed over.
func (c *cutter) next(b *Block) error {
	data := append(b.Data[:0], c.carry...)
	c.carry = c.carry[:0]
	data = c.skipMark(c.fill(c.skip(data), c.size))
	end := bytes.LastIndexByte(data, '\n') + 1
	for end == 0 && c.err == nil && len(data) <= c.max {
		data = c.fill(data, min(2*len(data), c.max+1))
		end = bytes.LastIndexByte(data, '\n') + 1
	}
	if len(data) == 0 {
		b.Data = data
		return c.err
	}
	switch {
	case end == 0 && len(data) > c.max:
		c.hand(b, data)
		b.Data = append(b.Data, '\n')
		c.skipping = true // the rest of the line
	case c.err != nil && (c.last == lastCounts || c.last == lastUnlessDamaged && c.err == io.EOF):
		c.hand(b, data)
	case c.err != nil && end == 0:
		b.Data = data[:0]
		return c.err
	case c.err != nil:
		c.hand(b, data[:end])
	default:
		c.carry = append(c.carry, data[end:]...)
		c.hand(b, data[:end])
	}
	return nil
}

// fill reads until data is n bytes long or the stream ends.
func (c *cutter) fill(data []byte, n int) []byte {
	if cap(data) < n && c.err == nil {
		data = slices.Grow(data, n+1-len(data)) // and a line feed, should the line be cut
	}
	for len(data) < n && c.err == nil {
		var k int
		k, c.err = c.src.Read(data[len(data):n])
		data = data[:len(data)+k]
	}
	return data
}

// skip drops the rest of an unwanted line from data, and reads on until that line has ended.
func (c *cutter) skip(data []byte) []byte {
	for c.skipping {
		data = c.fill(data, c.size)
		n := bytes.IndexByte(data, '\n') + 1
		c.skipping = n == 0
		if n == 0 {
			n = len(data)
		}
		c.offset += int64(n)
		data = data[:copy(data, data[n:])]
		if c.err != nil {
			break
		}
	}
	return data
}

// skipMark drops what is no text from the beginning of the input.
func (c *cutter) skipMark(data []byte) []byte {
	if c.offset > 0 {
		return data
	}
	for n := notText(data); n > 0; n = notText(data) {
		c.offset += int64(n)
		data = c.fill(data[:copy(data, data[n:])], c.size)
	}
	return data
}

// notText returns how many bytes at the beginning of an input are none of its first line: a byte order mark, and the zeros
// that are left where a log was cut to nothing, and its writer went on where it was.
func notText(data []byte) int {
	if bytes.HasPrefix(data, ByteOrderMark) {
		return len(ByteOrderMark)
	}
	return len(data) - len(bytes.TrimLeft(data, "\x00"))
}

// hand makes data the content of b.
func (c *cutter) hand(b *Block, data []byte) {
	b.Data, b.Offset = data, c.offset
	c.offset += int64(len(data))
}

// place returns where reading may go on once the stream has ended.
func (c *cutter) place() Place { return Place{Offset: c.offset, Skipping: c.skipping} }

// TrimBeginning returns the beginning of an input without what is none of its first line.
func TrimBeginning(data []byte) []byte {
	for n := notText(data); n > 0; n = notText(data) {
		data = data[n:]
	}
	return data
}

// A lastLine says what becomes of a last line that has no line feed.
type lastLine int

const (
	lastCounts        lastLine = iota // it is a line like all others
	lastUnlessDamaged                 // it is, unless damage is why it has none
	lastWaits                         // its writer has not finished yet: it is left for the next time
)

// ByteOrderMark may stand before the first line.
var ByteOrderMark = []byte("\ufeff")

// CutLine splits data after its first line, which it returns without its line ending.
func CutLine(data []byte) (line, rest []byte) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		line = data
	} else {
		line, rest = data[:i], data[i+1:]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}
