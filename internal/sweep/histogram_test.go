package sweep

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
)

// All histograms count what was added, but for requests that need just 1.
func TestHistograms(t *testing.T) {
	const clients = 3
	for name, fresh := range map[string]func() histogram{
		"dense":  func() histogram { return newHistogram(request.ByClient, nil) },
		"sparse": func() histogram { return newHistogram(request.BySite, nil) },
		"grouped": func() histogram {
			return newHistogram(request.BySite, func(client int32) uint8 { return uint8(client) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			testneeds.Rapid(t, func(rt *rapid.T) {
				h := fresh()
				h.grow(clients)
				want := map[int32]map[uint32]int64{0: {}, 1: {}, 2: {}}
				most := map[int32]uint32{}
				for range rapid.IntRange(0, 60).Draw(rt, "segments") {
					client := rapid.Int32Range(0, clients-1).Draw(rt, "client")
					needed := rapid.SliceOfN(rapid.Uint32Range(1, 60), 1, 40).Draw(rt, "needed")
					h.add(&segment{rows: make([]int32, len(needed)), clients: []int32{client}}, needed)
					for _, n := range needed {
						most[client] = max(most[client], n)
						if n > 1 {
							want[client][n]++
						}
					}
				}
				for client := range int32(clients) {
					got := map[uint32]int64{}
					h.eachOf([]member{{slot: client}}, func(_ *member, need uint32, requests int64) { got[need] += requests })
					if !maps.Equal(got, want[client]) || max(1, h.most(client)) != max(1, most[client]) {
						rt.Fatalf("client %d: %v, at most %d; want %v, %d", client, got, h.most(client), want[client], most[client])
					}
				}
			})
		})
	}
}

// A count that does not fit into its bytes goes once around, which is noted.
func TestDenseCountsBeyondItsBytes(t *testing.T) {
	h := new(dense)
	h.grow(1)
	p := &segment{rows: make([]int32, 50_000), clients: []int32{0}}
	needed := make([]uint32, 50_000)
	for i := range needed {
		needed[i] = 2
	}
	for range 7 {
		h.add(p, needed)
	}
	h.eachOf([]member{{slot: 0}}, func(_ *member, need uint32, requests int64) {
		if need != 2 || requests != 350_000 {
			t.Errorf("%d requests need %d, want 350,000 that need 2", requests, need)
		}
	})
}
