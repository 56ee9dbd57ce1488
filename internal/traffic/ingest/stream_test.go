package ingest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// However the watermark goes: each batch lies behind the one before, nothing is lost, and what is late does not wait while the
// watermark stands still.
func TestStreamReleasesLateRequests(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		s := &Stream{options: Options{Batch: 1 << 20, Waiting: 1 << 20}}
		s.pending, s.out = *newPending(10, traffic.MinTime), traffic.NewBatch(0, traffic.Columns{Source: true, Host: true, Upstream: true})
		w := newProgress()
		moment := rapid.Custom(func(t *rapid.T) limit.Time { return limit.Time(rapid.IntRange(0, 40).Draw(t, "moment")) })
		in, out, last := 0, 0, traffic.MinTime
		for range rapid.IntRange(1, 30).Draw(t, "rounds") {
			times := rapid.SliceOfN(moment, 0, 5).Draw(t, "times")
			in += len(times)
			s.pending.add(rowsAt(0, times), w)
			watermark := moment.Draw(t, "watermark") - 10
			before := s.pending.watermark
			b, more := s.Release(watermark)
			if out += b.Len(); more {
				t.Fatal("there is more, of a batch that holds all")
			}
			for _, seq := range b.Sequence() {
				if seq <= last {
					t.Fatalf("a seq at %d behind one at %d", seq, last)
				}
			}
			if b.Len() > 0 {
				last = slices.Max(b.Sequence())
			}
			if watermark <= before && s.pending.lateAt(before) {
				t.Fatalf("late requests wait at %d", before)
			}
		}
		b, _ := s.Release(traffic.MaxTime)
		if out+b.Len() != in || s.Waiting() != 0 {
			t.Fatalf("%d of %d came out, %d wait", out+b.Len(), in, s.Waiting())
		}
	})
}
