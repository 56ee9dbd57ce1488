package limittest

import (
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// Bench measures each limit on one key's timeline of bursts, about half of which is refused, and on timelines of
// three requests, each of another key; and where there are delays, the first once more with them.
func Bench(b *testing.B, build func(limit.Spec) (limit.Limiter, error), texts ...string) {
	for _, text := range texts {
		spec, err := limit.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		limiter, err := build(spec)
		if err != nil {
			b.Fatal(err)
		}
		at := busy(b, spec, 10_000)
		b.Run(text+"/long", func(b *testing.B) { bench(b, limiter.Refuse, at, len(at)) })
		b.Run(text+"/short", func(b *testing.B) { bench(b, limiter.Refuse, at, 3) })
		if d, ok := limiter.(limit.Delayer); ok {
			late := make([]limit.Delayed, 0, len(at))
			b.Run(text+"/delays", func(b *testing.B) {
				bench(b, func(dst []int32, s *limit.State, at []limit.Time) []int32 {
					dst, late = d.RefuseAndDelay(dst, late[:0], s, at)
					return dst
				}, at, len(at))
			})
		}
	}
}

// busy is a timeline with twice the rate of the limit, in bursts.
func busy(b *testing.B, spec limit.Spec, n int) []limit.Time {
	r := testneeds.Rand(b, 1, 2)
	pause := 10 * int64(spec.Period) / spec.Count
	at := make([]limit.Time, n)
	now := 1_700_000_000 * limit.Second
	for i := range at {
		if r.IntN(10) == 0 {
			now += limit.Time(r.Int64N(pause))
		}
		at[i] = now
	}
	return at
}

// bench runs the timeline in pieces of size requests, each of a new key, and reports the time per request.
func bench(b *testing.B, refuse func([]int32, *limit.State, []limit.Time) []int32, at []limit.Time, size int) {
	var state limit.State
	dst := make([]int32, 0, len(at))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i+size <= len(at); i += size {
			state.Release()
			dst = refuse(dst[:0], &state, at[i:i+size])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(at)), "ns/request")
}
