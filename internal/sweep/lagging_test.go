package sweep

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"shadow/bucket"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// The high bounds of several keys, which share memory, refuse each as many as limit.Bounds does for that key alone.
func TestLaggingAgainstBounds(t *testing.T) {
	const slack, keys = limit.Second, 3
	rate, bursts := Rate{1, 10 * limit.Second}, []int64{1, 2, 5}
	testneeds.Rapid(t, func(rt *rapid.T) {
		lagging := newLagging([]*tokenRate{newTokenRate(rate, bursts, false)}, uint64(slack))
		lagging.grow(keys, keys)
		var times [keys][]limit.Time
		now := 1_767_268_800 * limit.Second
		for range rapid.IntRange(1, 100).Draw(rt, "segments") {
			key := rapid.Int32Range(0, keys-1).Draw(rt, "key")
			now += limit.Time(rapid.SampledFrom([]int{0, 1, 3, 10, 30}).Draw(rt, "later")) * limit.Second
			at := make([]limit.Time, rapid.IntRange(1, 3).Draw(rt, "requests"))
			for i := range at {
				at[i] = now
			}
			times[key] = append(times[key], at...)
			lagging.judge(&segment{key: key, rows: make([]int32, len(at)), at: at, clients: []int32{key}})
		}
		for key, at := range times {
			for i, burst := range bursts {
				if got, want := lagging.rates[0].refused(int32(key), i), highOf(t, rate, burst, slack, at); got != want {
					rt.Fatalf("key %d, burst=%d at %v refuses %d, want %d", key, burst, at, got, want)
				}
			}
		}
	})
}

func highOf(t *testing.T, rate Rate, burst int64, slack limit.Time, at []limit.Time) int64 {
	spec := limit.Spec{Algorithm: "token", Count: rate.Count, Period: rate.Per, Options: fmt.Sprintf("burst=%d", burst)}
	l, err := bucket.NewToken(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, high := limit.Bounds(l, slack)
	var s limit.State
	defer s.Release()
	return int64(len(high.Refuse(nil, &s, at)))
}

// Requests of one stamp that are taken in as a run need the burst that they need one by one, wherever other stamps lie
// between.
func TestLaggingRuns(t *testing.T) {
	const slack, keys = limit.Second, 3
	testneeds.Rapid(t, func(rt *rapid.T) {
		rates := func() []*tokenRate {
			return []*tokenRate{newTokenRate(Rate{1, 10 * limit.Second}, nil, false), newTokenRate(Rate{3, limit.Second}, nil, false)}
		}
		runs, single := newLagging(rates(), uint64(slack)), newLagging(rates(), uint64(slack))
		single.plain = false
		runs.grow(keys, keys)
		single.grow(keys, keys)
		now := 1_767_268_800 * limit.Second
		later := []limit.Time{0, 0, limit.Second, 2 * limit.Second, limit.Minute}
		if rapid.Bool().Draw(rt, "fractions") {
			later = append(later, limit.Second/3, -limit.Second)
		}
		for range rapid.IntRange(1, 60).Draw(rt, "segments") {
			s := &segment{key: rapid.Int32Range(0, keys-1).Draw(rt, "key")}
			s.clients = []int32{s.key}
			for range rapid.IntRange(1, 5).Draw(rt, "requests") {
				now += rapid.SampledFrom(later).Draw(rt, "later")
				s.at, s.rows = append(s.at, now), append(s.rows, 0)
			}
			runs.judge(s)
			single.judge(s)
			for i := range runs.rates {
				if got, want := *runs.rates[i].needs.At(s.key), *single.rates[i].needs.At(s.key); got != want {
					rt.Fatalf("rate %d of key %d needs %d at %v, want %d", i, s.key, got, s.at, want)
				}
			}
		}
	})
}
