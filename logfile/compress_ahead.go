package logfile

import (
	"io"
	"io/fs"
)

// aheadBlocks is how many blocks wait to be taken while the next one is cut.
const aheadBlocks = 2

// ahead cuts blocks in a goroutine of its own, a few in advance, so that decompressing one block and parsing another
// keep two cores busy. Buffers travel in a circle and are never copied: the reader's buffer is exchanged for a full one.
//
//	goroutine  ── full ──▶  next  ── the caller's empty buffer ──┐
//	    ▲────────────────────── free ────────────────────────────┘
type ahead struct {
	full chan aheadBlock
	free chan []byte
	done <-chan struct{} // closed by Input.Close

	ended bool   // whether the block that next returned was the last one
	place Place  // where reading would go on; known once full is closed
	codec *codec // how the content is stored; known once next has returned
	err   error  // what ended the content; known once full is closed
}

// An aheadBlock is a block, and whether it is the last one.
type aheadBlock struct {
	Block
	last bool
}

// startAhead starts to read what open opens, which may take as long as it likes, cut by what cut returns.
func startAhead(open func() (*content, error), cut func(io.Reader) *cutter, done <-chan struct{}) *ahead {
	a := &ahead{
		full: make(chan aheadBlock, aheadBlocks),
		free: make(chan []byte, aheadBlocks+1),
		done: done,
	}
	for range cap(a.free) {
		a.free <- nil // made when first filled
	}
	go a.run(open, cut)
	return a
}

func (a *ahead) run(open func() (*content, error), newCut func(io.Reader) *cutter) {
	defer close(a.full)
	src, err := open()
	if src != nil {
		a.codec = src.codec
	}
	if err != nil {
		a.err = err
		return
	}
	defer src.close()
	cut := newCut(src)
	defer func() { a.place = cut.place() }()
	var b Block
	for {
		select {
		case b.Data = <-a.free:
		case <-a.done:
			return
		}
		if a.err = cut.next(&b); a.err != nil {
			return
		}
		select {
		case a.full <- aheadBlock{b, cut.err != nil}:
		case <-a.done:
			return
		}
	}
}

// next exchanges b for the next block.
func (a *ahead) next(b *Block) error {
	select {
	case full, more := <-a.full:
		if !more {
			return a.err
		}
		a.free <- b.Data
		*b, a.ended = full.Block, full.last
		return nil
	case <-a.done:
		return fs.ErrClosed
	}
}
