package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// A zone of nginx whose places have several bursts has one excess: each place refuses beyond its own burst, and what one
// admits fills the others. Here it is played as the source says it.
func TestZoneOfSeveralBursts(t *testing.T) {
	const rate = 5 // requests a second
	bursts := []int64{0, 3, 9}
	var parts []policy.Part
	for i, burst := range bursts {
		spec := limit.Spec{Algorithm: "nginx", Count: rate, Period: limit.Second, Options: fmt.Sprintf("burst=%d,nodelay,max=9", burst)}
		p, err := policy.New(spec, request.ByClient)
		check(t, err)
		part := p.Parts[0]
		part.Match = policy.Scope(i + 1) // all places count
		parts = append(parts, part)
	}
	rng := testneeds.Rand(t, 4, 77)
	for range 200 {
		b := newBenchOf(t, 0, []policy.Policy{{Name: "zone", Parts: parts, Combine: policy.Together}})
		var lines []line
		var want []limit.Time
		at, excess, last := limit.Second, int64(-1000), int64(0)
		for range 60 {
			at += limit.Time(rng.IntN(400)+1) * limit.Millisecond * limit.Time(rng.IntN(2)) // some come at one moment
			at += limit.Microsecond
			place := rng.IntN(len(bursts))
			lines = append(lines, line{at: at, client: "a", action: "/", marks: 1 << place})
			now := int64(at) / 1000
			next := max(0, excess-rate*(now-last)+1000)
			if next > bursts[place]*1000 {
				want = append(want, at)
			} else {
				excess, last = next, now
			}
		}
		b.judge(lines)
		b.result()
		var got []limit.Time
		for _, e := range b.events {
			got = append(got, e.At)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("refused at %v, want %v", got, want)
		}
	}
}
