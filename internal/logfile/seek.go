package logfile

import (
	"bytes"
	"errors"
	"io"
)

// To find a moment in a log of many gigabytes, SkipTo looks at a few lines here and there: first in strides from the
// beginning until it meets a line that is wanted, then, by halving, inside that stride.
//
//	0                          lo     middle    hi               size
//	|  ·      ·      ·      ·  |·       ?       |·                |
//	|      may be skipped      |                |     is read     |
//
// Before lo may be skipped; reading must not begin behind hi. Logs are only nearly sorted, so one line proves little: a
// look counts as older only if all its readable lines are, and in every doubt less is skipped. The strides are for
// files in which rotations were joined in the wrong order: halving alone would jump over a wanted part.

const (
	seekPiece   = 32 << 10 // bytes of one look; a range that short is read rather than halved
	seekLimit   = 3 << 20  // bytes after which a look gives up finding a readable line: two of the longest and some
	seekStrides = 64
	seekWhole   = 8 << 20 // bytes of an object that is fetched at once rather than looked into
)

var carriageReturn = []byte{'\r'}

// SkipTo moves the beginning of reading forward to the start of some line, so that all lines before it may be skipped.
// Of a line, without its line ending, before reports whether it is older than the wanted moment, and whether that is known
// at all (an unreadable line: the following ones are asked).
//
// A line may be skipped although it is not older than the moment, if one behind it is: so pass a moment that lies back
// by as much as the log may be out of order. Where readable lines are sorted to that degree, no wanted line is skipped.
//
// Of n bytes it reads 64 + O(log n) small pieces. Compressed inputs, pipes and standard input are left as they are, and so is
// a file that cannot be read (Next will say so). The numbers of the lines that
// are left are not known.
// SkipTo must be called before Next.
func (in *Input) SkipTo(before func(line []byte) (older, known bool)) error {
	if !in.regular() || in.codec != plain {
		return nil
	}
	if in.blocks != nil {
		return errors.New("logfile: SkipTo after Next")
	}
	f, err := in.openFile()
	if err != nil {
		return nil
	}
	defer f.Close()
	if o, ok := f.(*objectFile); ok && o.info.Size <= seekWhole {
		if o.fill(seekWhole) != nil {
			return nil
		}
	}
	s := seeker{file: f, size: in.id.size, before: before}
	in.start = s.find()
	in.consumed.Store(in.start)
	return nil
}

// Skipped reports whether reading begins in the middle, after SkipTo.
func (in *Input) Skipped() bool { return in.start > 0 }

// A seeker looks for a moment in a file.
type seeker struct {
	file   io.ReaderAt
	size   int64 // bytes
	before func(line []byte) (older, known bool)
	block  Block
}

// A sample says what a look at some lines told.
type sample int

const (
	nothing sample = iota // no readable line
	older                 // all readable lines are older than wanted
	wanted                // some are not
)

// find returns where to begin.
func (s *seeker) find() int64 {
	lo, hi := s.stride()
	for hi-lo > seekPiece {
		middle := lo + (hi-lo)/2
		if saw, end := s.look(middle, hi); saw == older {
			lo = end
		} else {
			hi = middle
		}
	}
	return lo
}

// stride narrows the file down to the stride in which the first wanted line lies.
func (s *seeker) stride() (lo, hi int64) {
	step := max(s.size/seekStrides, seekPiece)
	for at := int64(0); at < s.size; {
		saw, end := s.look(at, s.size)
		switch {
		case saw == wanted:
			return lo, at
		case saw == older:
			lo = end
		case at == 0:
			return 0, 0 // hardly a log: not worth many looks
		}
		at = max(at+step, end)
	}
	return lo, s.size
}

// look reads the lines that begin behind a place (or at 0), until a piece held readable ones. It also returns the end
// of the last readable line, or how far it got without finding one.
func (s *seeker) look(at, hi int64) (saw sample, end int64) {
	cut := newCutter(io.NewSectionReader(s.file, at, min(s.size-at, seekLimit)), at)
	cut.size = seekPiece
	cut.skipping = at > 0 // the rest of a line
	for saw == nothing && cut.offset < hi {
		if cut.next(&s.block) != nil {
			break
		}
		saw, end = s.judge(&s.block, hi)
	}
	if saw == nothing {
		end = cut.offset
	}
	return saw, end
}

// judge asks about the lines of a block that begin before hi.
func (s *seeker) judge(b *Block, hi int64) (saw sample, end int64) {
	at, rest := b.Offset, b.Data
	for at < hi {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			break // the end of the file or of the look, perhaps in the middle of a number
		}
		isOlder, known := false, false
		if n <= MaxLine {
			isOlder, known = s.before(bytes.TrimSuffix(rest[:n], carriageReturn))
		}
		at, rest = at+int64(n)+1, rest[n+1:]
		switch {
		case known && !isOlder:
			return wanted, at
		case known:
			saw, end = older, at
		}
	}
	return saw, end
}
