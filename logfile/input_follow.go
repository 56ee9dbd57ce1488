package logfile

import (
	"errors"
	"io"
)

// A log that is read a second time goes on where the first time ended:
//
//	aaaa\nbbbb\ncccc\nddd      the first time: three lines. dddd is not yet written
//	               ^ Place
//	aaaa\nbbbb\ncccc\ndddd\n   the second time: one line
//
// So a last line without its line feed is left for the next time, as long as there is somebody who may write the rest.

// Follow makes reading begin at a place of the content, after decompression. last reports whether nothing will be added any
// more: then a last line without a line feed is a line all the same. Follow must be called before Next, and not for a pipe.
func (in *Input) Follow(from Place, last bool) error {
	if in.blocks != nil || !in.regular() {
		return errors.New("logfile: Follow after Next, or of a pipe")
	}
	in.start, in.skipping, in.last = from.Offset, from.Skipping, lastWaits
	if last {
		in.last = lastUnlessDamaged
	}
	if in.codec == plain {
		if in.start > in.id.size {
			in.blocks, in.problem = over{from}, errReplaced.Error()
		}
		in.start = min(in.start, in.id.size)
		in.consumed.Store(in.start)
	}
	return nil
}

// Expect makes the input end at once unless the file is still the one with an identity: between the look at a log and
// its opening it may have been rotated or truncated. It must be called before Next.
func (in *Input) Expect(id Identity) {
	if id == (Identity{}) || !in.regular() {
		return
	}
	f, err := in.openFile()
	if err != nil {
		return // Next says what is wrong
	}
	defer f.Close()
	if r, ok := look(in.name, f, in.info); !ok || !r.Is(id) || id.Inode != 0 && !id.SameInode(r.ID.Node) {
		in.blocks, in.problem = over{in.Place()}, errReplaced.Error()
	}
}

// over is an input of which no more is read, and where that ended.
type over struct{ place Place }

func (over) next(*Block) error { return io.EOF }

// Place is where reading may go on another time. It is known when Next has returned io.EOF; before the first Next it is
// where reading begins.
func (in *Input) Place() Place {
	switch b := in.blocks.(type) {
	case *cutter:
		return b.place()
	case over:
		return b.place
	case *ahead:
		if b.place != (Place{}) { // it could be opened
			return b.place
		}
	}
	return Place{Offset: in.start, Skipping: in.skipping}
}

// cut cuts decompressed content from the place on where reading begins.
func (in *Input) cut(src io.Reader) *cutter {
	c := newCutter(src, in.start)
	c.last, c.skipping = in.last, in.skipping
	if in.start > 0 {
		_, c.err = io.CopyN(io.Discard, src, in.start)
	}
	return c
}
