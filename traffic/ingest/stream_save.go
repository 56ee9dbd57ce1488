package ingest

import (
	"errors"

	"shadow/limit"
	"shadow/traffic"
)

// What a Stream remembers: how far each source has come in time, the floor, and the requests that wait.

var errTooManySources = errors.New("checkpoint: more sources than there are")

// Save writes it.
func (s *Stream) Save(to *traffic.Encoder) { savePending(to, s.sources, &s.pending) }

// savePending writes what waits, of sources that have come so far.
func savePending(to *traffic.Encoder, sources []*watermark, p *pending) {
	to.Uint(uint64(len(sources)))
	for _, w := range sources {
		to.Int(int64(w.mark))
		to.Int(int64(w.last))
	}
	to.Int(int64(p.floor))
	b := &p.Batch
	to.Uint(uint64(b.Len()))
	places := b.Sequence()
	var last limit.Time
	for i, at := range b.At {
		to.Int(int64(at - last))
		to.Uint(uint64(places[i] - at)) // nobody is placed before its time
		last = at
		b.SaveRow(i, to)
	}
}

// Restore reads what Save has written, into a Stream that nothing has come to. It must have as many sources as were saved.
func (s *Stream) Restore(from *traffic.Decoder) {
	restorePending(from, s.sources, &s.pending, s.columns)
}

// restorePending reads what savePending has written, into what is empty and has these columns.
func restorePending(from *traffic.Decoder, sources []*watermark, p *pending, cols traffic.Columns) {
	n := from.Count()
	if n > len(sources) {
		from.Fail(errTooManySources)
		return
	}
	for _, w := range sources[:n] {
		w.mark, w.last = traffic.Bounded(from.Int()), traffic.Bounded(from.Int())
	}
	p.floor = traffic.Bounded(from.Int())
	var last limit.Time
	for i := range from.Count() {
		at := traffic.Bounded(int64(last) + from.Int())
		place := traffic.Bounded(int64(at) + int64(from.Uint()))
		last = at
		p.RestoreRow(at, cols, from)
		if place != at {
			p.setOrder(i, place)
		}
	}
}

// Fresh returns a Stream as this one was at its beginning, with as many sources, for other tables, whose Actions must be the
// same.
func (s *Stream) Fresh(t *traffic.Tables) *Stream {
	o := s.options
	o.Tables = t
	moved := &Stream{options: o, columns: s.columns}
	moved.begin()
	moved.Sources(len(s.sources))
	return moved
}
