package ingest

import (
	"errors"

	"shadow/internal/traffic"
)

// What a Stream remembers: how far each source has come in time, the watermark, and the requests that wait.

var errTooManySources = errors.New("checkpoint: more sources than there are")

// Save writes it.
func (s *Stream) Save(to *traffic.Encoder) { savePending(to, s.sources, &s.pending) }

// savePending writes what waits, of sources that have come so far.
func savePending(to *traffic.Encoder, sources []*progress, p *pending) {
	to.Uint(uint64(len(sources)))
	for _, w := range sources {
		to.Int(int64(w.reached))
		to.Int(int64(w.last))
	}
	to.Int(int64(p.watermark))
	p.Batch.Save(to)
	p.load.Save(to)
}

// Restore reads what Save has written, into a Stream that nothing has come to. It must have as many sources as were saved.
func (s *Stream) Restore(from *traffic.Decoder) {
	restorePending(from, s.sources, &s.pending)
}

// restorePending reads what savePending has written, into what is empty.
func restorePending(from *traffic.Decoder, sources []*progress, p *pending) {
	n := from.Count()
	if n > len(sources) {
		from.Fail(errTooManySources)
		return
	}
	for _, w := range sources[:n] {
		w.reached, w.last = traffic.Bounded(from.Int()), traffic.Bounded(from.Int())
	}
	p.watermark = traffic.Bounded(from.Int())
	p.Batch.Restore(from)
	p.load.Restore(from)
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
