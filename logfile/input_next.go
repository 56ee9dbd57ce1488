package logfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Next fills b with the next lines, about 512 KiB of them, and returns io.EOF when there are no more. It uses the
// capacity of b.Data, or exchanges it for another buffer; either way the array that b.Data had belongs to the Input
// afterwards, and the new one to the caller until b is handed to Next again. It returns fs.ErrClosed after Close, and
// no other error: see Problem.
//
// A line longer than MaxLine comes cut, MaxLine+1 bytes long and followed by a line feed. Line endings other than the
// line feed, NUL bytes and whatever else stands in the file are passed through.
func (in *Input) Next(b *Block) error {
	if in.closed() {
		return fs.ErrClosed
	}
	if in.peeked != nil {
		*b, in.peeked = *in.peeked, nil
		return nil
	}
	return in.take(b)
}

// take gets the next block from the source, opening that first.
func (in *Input) take(b *Block) error {
	if in.blocks == nil {
		in.begin()
	}
	err := in.blocks.next(b)
	if a, ok := in.blocks.(*ahead); ok && err != fs.ErrClosed && a.codec != nil {
		in.codec = a.codec
	}
	if err != nil {
		return in.end(err)
	}
	if in.codec == plain && in.raw != nil && (in.lean || in.raw.end != nil) {
		in.raw.file = nil
		in.release()
	}
	return nil
}

// begin opens the source. Plain files are read in place, straight into the caller's blocks; everything else runs ahead.
func (in *Input) begin() {
	if !in.regular() || in.codec != plain {
		in.blocks = startAhead(in.openHeld, in.cut, in.done)
		return
	}
	cut := newCutter(in.newReader(in.id.size-in.start), in.start)
	cut.last, cut.skipping = in.last, in.skipping
	in.blocks = cut
}

// end frees the descriptor and takes down why the input ended.
func (in *Input) end(err error) error {
	in.release()
	if in.closed() {
		return fs.ErrClosed
	}
	in.blocks = over{in.Place()}                             // and its buffers are free
	if err == io.EOF && in.raw != nil && in.raw.end != nil { // which not every decompressor passes on
		err = in.raw.end
	}
	in.raw = nil
	if err != io.EOF {
		in.problem = in.describe(err)
	}
	return io.EOF
}

// describe puts what ended the input early into words.
func (in *Input) describe(err error) string {
	var path *os.PathError
	var behind trailing
	switch {
	case errors.As(err, &behind):
		return behind.Error()
	case errors.Is(err, errShrunk), errors.Is(err, errRewritten), errors.Is(err, errGone), errors.Is(err, errUnsupported):
		return err.Error()
	case errors.As(err, &path):
		return fmt.Sprintf("cannot be read: %v", path.Err)
	case in.codec == plain:
		return fmt.Sprintf("cannot be read: %v", err)
	case isTooLarge(err):
		return fmt.Sprintf("%s that takes too much memory to decompress; try: %s … | shadow replay -", in.codec.name, in.codec.advice)
	case isTruncation(err):
		return fmt.Sprintf("truncated %s: the file ends before its compressed data does", in.codec.name)
	}
	return fmt.Sprintf("damaged %s, not read to its end: %v", in.codec.name, err)
}
