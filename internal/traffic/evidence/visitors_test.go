package evidence

import (
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
)

// Each visitor keeps its id, however many a client has.
func TestVisitorsOfOneClient(t *testing.T) {
	rng := testneeds.Rand(t, 3, 8)
	var v Visitors
	want := map[Visitor]int32{}
	for range 5 {
		b := traffic.NewBatch(0, traffic.Columns{})
		for range 2000 {
			b.Client = append(b.Client, int32(rng.IntN(4)))
			b.User, b.Agent = append(b.User, int32(rng.IntN(9))-1), append(b.Agent, uint16(rng.IntN(1+rng.IntN(200))))
		}
		v.Look(b)
		for row, id := range b.Visitor {
			who := Visitor{Client: b.Client[row], User: b.User[row], Agent: b.Agent[row]}
			if _, known := want[who]; !known {
				want[who] = int32(len(want))
			}
			if id != want[who] || v.At(id) != who {
				t.Fatalf("%+v has id %d, want %d", who, id, want[who])
			}
		}
	}
	if v.Len() != len(want) || v.Len() < 1000 {
		t.Errorf("%d visitors, want %d, which are many", v.Len(), len(want))
	}
}
