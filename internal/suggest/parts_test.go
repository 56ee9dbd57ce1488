package suggest

import (
	"fmt"
	"slices"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A batch is divided as row by row; what came too late for the first part is in neither.
func TestCuts(t *testing.T) {
	rng := testneeds.Rand(t, 6, 1)
	for round := range 500 {
		h := cuts{
			at:    [PartCount]limit.Time{0, 400, 700},
			there: [PartCount]bool{true, round%5 > 1, round%3 > 0},
		}
		for range 3 { // rooms are used again
			has := func() bool { return rng.IntN(2) == 0 }
			like := traffic.Columns{
				Clues: true, Source: has(), Host: has(), User: has(), Path: has(), Upstream: has(), Marks: has(), Origins: has(),
			}
			b := traffic.NewBatch(0, like)
			n, around := 1+rng.IntN(40), limit.Time(rng.IntN(1000))
			for i := range n {
				b.At, b.Client = append(b.At, around+limit.Time(rng.IntN(200))), append(b.Client, int32(i))
				b.Agent, b.Action, b.Status = append(b.Agent, 1), append(b.Action, 2), append(b.Status, 200)
				b.Bytes, b.Clues = append(b.Bytes, int64(i)), append(b.Clues, traffic.Clue{Page: uint16(i)})
				if like.Source {
					b.Source = append(b.Source, uint32(i))
				}
				if like.Host {
					b.Host = append(b.Host, int32(i))
				}
				if like.User {
					b.User = append(b.User, int32(i))
				}
				if like.Path {
					b.Path = append(b.Path, int32(i))
				}
				if like.Upstream {
					b.Upstream = append(b.Upstream, int64(i))
				}
				if like.Marks {
					b.Marks = append(b.Marks, uint64(i))
				}
				if like.Origins {
					b.Origin, b.Leftmost = append(b.Origin, uint32(i)), append(b.Leftmost, uint32(i))
				}
			}
			if rng.IntN(2) == 0 {
				b.NeedSeq()
				for range n / 2 {
					b.Seq[rng.IntN(n)] += limit.Time(rng.IntN(400))
				}
			}
			b.Warm = rng.IntN(2) == 0
			var want, got [PartCount][]string
			row := func(b *traffic.Batch, i int) string {
				one := b.Rows(i, i+1)
				return fmt.Sprint(b.At[i], b.Sequence()[i], b.Client[i], b.Bytes[i], b.Clues[i].Page, one.Source, one.Host, one.User, one.Path, one.Upstream, one.Marks, one.Origin, one.Leftmost)
			}
			for i := range n {
				part := func(at limit.Time) int {
					switch {
					case h.there[Rest] && at >= 700:
						return Rest
					case h.there[Second] && at >= 400:
						return Second
					}
					return First
				}
				if p := part(b.At[i]); p == part(b.Sequence()[i]) {
					want[p] = append(want[p], row(b, i))
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
