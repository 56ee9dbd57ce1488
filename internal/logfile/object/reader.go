package object

import (
	"context"
	"io"
	"io/fs"
	"sync"
)

// A Reader reads an object in ranges, a few of them at once, and hands them over in order:
//
//	object   |  0  |  1  |  2  |  3  |  4  …
//	Read      ▲ is handed over
//	                ↑     ↑     ↑     are on their way: as many as have been handed over, aheadRanges at most
//
// All Readers of a Store share mostRanges places in memory. A Reader that finds none reads its next range as it comes; or,
// if it is lean, piece by piece, so that thousands of Readers hold no connections.

const (
	rangeSize   = 4 << 20
	aheadRanges = 4
	mostRanges  = 16
)

// Open returns a reader of an object from an offset on.
func (s *Store) Open(info Info, offset int64, lean bool) *Reader {
	r := &Reader{store: s, info: info, next: offset, end: info.Size, lean: lean}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Until has the object read up to an offset only. It must be called before Read and Start.
func (r *Reader) Until(end int64) { r.end = min(end, r.info.Size) }

// A Reader must be closed. One goroutine may read, and any may close.
type Reader struct {
	store  *Store
	info   Info
	lean   bool
	ctx    context.Context
	cancel context.CancelFunc

	next   int64   // of the next range to ask for
	end    int64   // of the last one
	passed int     // ranges that were handed over
	direct *stream // the range that is read as it comes

	mu     sync.Mutex // guards what follows
	queue  []*fetched // in order
	closed bool
}

// A fetched is a range that is on its way, or there.
type fetched struct {
	room *[rangeSize]byte
	data []byte        // what is left of it
	err  error         // behind the data
	done chan struct{} // closed when the above is known
}

var buffers = sync.Pool{New: func() any { return new([rangeSize]byte) }}

// Read returns the next bytes. It fails with an *Error, or after Close with fs.ErrClosed.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		r.ask(int64(len(p)))
		if n, err := r.readDirect(p); n > 0 || err != nil {
			return n, r.orClosed(err)
		}
		n, err := r.readFetched(p)
		if n > 0 || err != nil {
			return n, r.orClosed(err)
		}
		if r.next >= r.end && r.idle() {
			return 0, r.orClosed(io.EOF)
		}
	}
}

// Start asks for the first range before it is read.
func (r *Reader) Start() { r.ask(rangeSize) }

// HasRoom reports whether half of the places for ranges are free: the others are for what is being read.
func (s *Store) HasRoom() bool { return len(s.room) < mostRanges/2 }

func (r *Reader) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue) == 0 && r.direct == nil
}

func (r *Reader) orClosed(err error) error {
	if err != nil && r.ctx.Err() != nil {
		return fs.ErrClosed
	}
	return err
}

// ask asks for further ranges, as far as there is room; piece is how much is wanted now.
func (r *Reader) ask(piece int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.closed && r.direct == nil && r.next < r.end && len(r.queue) < min(r.passed+1, aheadRanges) {
		n := min(rangeSize, r.end-r.next)
		src := &stream{store: r.store, ctx: r.ctx, info: r.info, at: r.next, end: r.next + n}
		select {
		case r.store.room <- struct{}{}:
			f := &fetched{done: make(chan struct{})}
			r.queue = append(r.queue, f)
			go r.store.fetch(f, src, n)
		default:
			if len(r.queue) > 0 {
				return
			}
			if r.lean {
				n = min(n, piece)
				src.end = r.next + n
			}
			r.direct = src
		}
		r.next += n
	}
}

// fetch reads a range.
func (s *Store) fetch(f *fetched, src *stream, n int64) {
	defer close(f.done)
	defer src.Close()
	f.room = buffers.Get().(*[rangeSize]byte)
	read, err := io.ReadFull(src, f.room[:n])
	f.data, f.err = f.room[:read], err
}

// free gives back the room of a range that is not read any more, once it is there.
func (s *Store) free(f *fetched) {
	<-f.done
	buffers.Put(f.room)
	<-s.room
}

// readDirect reads from the range that is read as it comes, if there is one.
func (r *Reader) readDirect(p []byte) (int, error) {
	if r.direct == nil {
		return 0, nil
	}
	n, err := r.direct.Read(p)
	if err == io.EOF {
		r.direct, err = nil, nil
		r.passed++
	}
	return n, err
}

// readFetched reads from the first range that was asked for, and waits for it.
func (r *Reader) readFetched(p []byte) (n int, err error) {
	r.mu.Lock()
	if len(r.queue) == 0 {
		r.mu.Unlock()
		return 0, nil
	}
	f := r.queue[0]
	r.mu.Unlock()
	select {
	case <-f.done:
	case <-r.ctx.Done():
		return 0, fs.ErrClosed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, fs.ErrClosed
	}
	n = copy(p, f.data)
	f.data = f.data[n:]
	if len(f.data) > 0 {
		return n, nil
	}
	if f.err != nil {
		return n, f.err
	}
	r.queue = r.queue[1:]
	r.passed++
	r.store.free(f)
	return n, nil
}

// Close frees what the reader holds. Read fails from then on.
func (r *Reader) Close() error {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, f := range r.queue {
		go r.store.free(f)
	}
	r.queue = nil
	return nil
}

// ReadAt reads a piece of an object by itself, with one request.
func (s *Store) ReadAt(info Info, p []byte, offset int64) (int, error) {
	n := max(0, min(int64(len(p)), info.Size-offset))
	src := stream{store: s, ctx: context.Background(), info: info, at: offset, end: offset + n}
	defer src.Close()
	read, err := io.ReadFull(&src, p[:n])
	if err == nil && read < len(p) {
		err = io.EOF
	}
	return read, err
}
