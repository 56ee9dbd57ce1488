package logfile

import (
	"bytes"
	"errors"
	"io"
)

// A Span is some bytes of a file, from From to before To. A line belongs to the span that holds its first byte:
//
//	aaaa\nbbbb\ncccc\n
//	|------|---------      aaaa and bbbb belong to the first span, cccc to the second
//
// So spans that follow each other hold each line once, wherever they meet: in a line, at a line feed, or before it.
type Span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Empty reports whether no byte is in the span.
func (s Span) Empty() bool { return s.To <= s.From }

// Within makes the input the lines of a span. It must be called before Next, of a regular file. Of a compressed file
// only all of it or nothing can be read: then the span is its size on disk, or empty.
func (in *Input) Within(s Span) error {
	switch {
	case in.blocks != nil || !in.regular():
		return errors.New("logfile: Within after Next, or of a pipe")
	case s.Empty():
		in.blocks = over{Place{}}
		return nil
	case s.From == 0 && s.To >= in.id.size:
		return nil
	case in.codec != plain:
		return errors.New("logfile: a compressed file cannot be read in part")
	}
	f, err := in.openFile()
	if err != nil {
		return explain(in.name, err)
	}
	defer f.Close()
	if in.until, err = behindLine(f, s.To-1, in.id.size); err != nil {
		return explain(in.name, err)
	}
	if s.From > 0 { // a line that begins before the span ends at the next line feed, which may be the byte before it
		in.start, in.skipping = s.From-1, true
	}
	in.consumed.Store(in.start)
	return nil
}

// behindLine returns where the line ends that a byte of the file belongs to: behind its line feed, or at the end.
func behindLine(f io.ReaderAt, at, size int64) (int64, error) {
	buffer := make([]byte, 64<<10)
	for at < size {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), size-at)], at)
		if i := bytes.IndexByte(buffer[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if n == 0 && err != nil {
			return 0, err
		}
		at += int64(n)
	}
	return size, nil
}

// stop returns where reading ends.
func (in *Input) stop() int64 {
	if in.until > 0 {
		return in.until
	}
	return in.id.size
}
