package suggest

import (
	"fmt"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/testneeds"
	"shadow/traffic"
)

// A batch is divided as row by row; what came too late for the first part is in neither.
func TestHalves(t *testing.T) {
	rng := testneeds.Rand(t, 6, 1)
	for round := range 500 {
		h := halves{split: round%5 > 0, cut: 500}
		for range 3 { // rooms are used again
			b := traffic.NewBatch(0, traffic.Columns{Traces: true})
			n, around := 1+rng.IntN(40), limit.Time(rng.IntN(1000))
			for i := range n {
				b.At, b.Client = append(b.At, around+limit.Time(rng.IntN(200))), append(b.Client, int32(i))
				b.Agent, b.Action, b.Status = append(b.Agent, 1), append(b.Action, 2), append(b.Status, 200)
				b.Bytes, b.Traces = append(b.Bytes, int64(i)), append(b.Traces, traffic.Trace{Page: uint16(i)})
			}
			if rng.IntN(2) == 0 {
				b.NeedSeq()
				for range n / 2 {
					b.Seq[rng.IntN(n)] += limit.Time(rng.IntN(400))
				}
			}
			b.Warm = rng.IntN(2) == 0
			var want, got [2][]string
			row := func(b *traffic.Batch, i int) string {
				return fmt.Sprint(b.At[i], b.Sequence()[i], b.Client[i], b.Bytes[i], b.Traces[i].Page)
			}
			for i := range n {
				switch {
				case !h.split || b.Sequence()[i] < h.cut:
					want[0] = append(want[0], row(b, i))
				case b.At[i] >= h.cut:
					want[1] = append(want[1], row(b, i))
				}
			}
			if err := h.divide(b, func(part int, b *traffic.Batch) error {
				if b.Warm || b.Len() == 0 {
					t.Errorf("%d rows, warm: %v", b.Len(), b.Warm)
				}
				for i := range b.Len() {
					got[part] = append(got[part], row(b, i))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for part := range want {
				if !slices.Equal(got[part], want[part]) {
					t.Fatalf("part %d is %v, want %v", part, got[part], want[part])
				}
			}
		}
	}
}
