package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"shadow/internal/traffic"
)

// Pass begins a pass over all requests.
func (r *Requests) Pass() *Pass {
	return &Pass{from: r, end: r.Size()}
}

// A Pass hands out the batches that were taken in, in their order. It is a replay.Source.
type Pass struct {
	from    *Requests
	at, end int64
	head    [frameHead]byte // of the last frame
	buffer  []byte
	batch   traffic.Batch
}

// ErrDamaged is the error of requests that are not as they were written, or cannot have been.
var ErrDamaged = errors.New("the requests that were kept for further passes are damaged")

// Next returns the next batch, or io.EOF. The batch is valid until the next call of Next.
func (p *Pass) Next() (*traffic.Batch, error) {
	if err := p.fill(&p.batch); err != nil {
		return nil, err
	}
	return &p.batch, nil
}

// fill makes b the next batch.
func (p *Pass) fill(b *traffic.Batch) error {
	if p.from.held != nil {
		return p.hold(b)
	}
	b.Reset()
	for last := false; !last; {
		if p.at == p.end {
			if b.Len() > 0 {
				return ErrDamaged
			}
			return io.EOF
		}
		n, flags, err := p.frame()
		if err == nil {
			err = b.Unpack(p.buffer, n)
		}
		if err != nil {
			return err
		}
		b.Warm, last = flags&warmRows != 0, flags&lastOfBatch != 0
	}
	b.Stamps = p.from.stamps
	return nil
}

// hold makes b the only batch.
func (p *Pass) hold(b *traffic.Batch) error {
	if p.at > p.end {
		return io.EOF
	}
	p.at = p.end + 1
	*b = *p.from.held
	return nil
}

// Ahead returns the batches of a pass, which another goroutine unpacks meanwhile. It must be closed.
func (p *Pass) Ahead() *Ahead {
	a := &Ahead{full: make(chan *traffic.Batch), spare: make(chan *traffic.Batch, aheadBatches)}
	a.from, a.batches = p.from, p.from.lend()
	for _, b := range a.batches {
		a.spare <- b
	}
	a.running.Go(func() {
		defer close(a.full)
		for b := range a.spare {
			if a.err = p.fill(b); a.err != nil {
				return
			}
			a.full <- b
		}
	})
	return a
}

// aheadBatches is the number of batches at once: one is judged, one waits, one is unpacked.
const aheadBatches = 3

// An Ahead hands out the batches of a Pass. It is a replay.Source.
type Ahead struct {
	full, spare chan *traffic.Batch
	last        *traffic.Batch // what Next returned
	err         error          // why there are no more, once full is closed
	running     sync.WaitGroup
	from        *Requests
	batches     []*traffic.Batch // from lent them
}

// Next returns the next batch, or io.EOF. The batch is valid until the next call of Next.
func (a *Ahead) Next() (*traffic.Batch, error) {
	if a.last != nil {
		a.spare <- a.last
	}
	b, more := <-a.full
	if a.last = b; !more {
		return nil, a.err
	}
	return b, nil
}

// Close ends the pass.
func (a *Ahead) Close() {
	close(a.spare)
	for range a.full { // let it end
		a.last = nil
	}
	a.running.Wait()
	a.from.lendable.Store(&a.batches)
}

// lend returns batches for a pass. They are those of the pass before, if it has ended: their columns have room.
func (r *Requests) lend() []*traffic.Batch {
	if batches := r.lendable.Swap(nil); batches != nil {
		return *batches
	}
	batches := make([]*traffic.Batch, aheadBatches)
	for i := range batches {
		batches[i] = new(traffic.Batch)
	}
	return batches
}

// frame reads the next frame, into the buffer.
func (p *Pass) frame() (n int, flags uint32, err error) {
	if _, err := p.from.ReadAt(p.head[:], p.at); err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(p.head[4*i:]) }
	length, n := int64(field(0)), int(field(1))
	if length > min(p.end-p.at-frameHead, frameBytes) || n == 0 || n > frameRows {
		return 0, 0, ErrDamaged
	}
	p.buffer = append(p.buffer[:0], make([]byte, length)...)
	if _, err := p.from.ReadAt(p.buffer, p.at+frameHead); err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if checksum(p.head[:], p.buffer) != field(3) {
		return 0, 0, ErrDamaged
	}
	p.at += frameHead + length
	return n, field(2), nil
}
