package limittest

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"shadow/limit"
)

// Fuzz lets the fuzzer choose the limit, by the seed of Draw, and the steps of the timeline, as numbers of variable
// length, and checks what Run checks without a pause for memory.
func Fuzz(f *testing.F, s Suite) {
	f.Add(uint64(1), int64(0), []byte{0, 0, 0, 2, 1, 0x80, 0x80, 0x80, 1})
	f.Add(uint64(2), int64(-1_000_000), []byte{0, 0xc0, 0x84, 0x3d, 0, 0, 0xbf, 0x84, 0x3d})
	f.Fuzz(func(t *testing.T, seed uint64, first int64, steps []byte) {
		spec := s.Draw(rand.New(rand.NewPCG(seed, 0)))
		limiter, err := s.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		at := walk(limit.Time(first>>4), steps)
		for _, check := range []func(trial) string{s.model, s.blocked, s.twins, s.cuts, s.wait, s.back, s.copies} {
			if wrong := check(trial{spec, limiter, at, rand.New(rand.NewPCG(seed, 1))}); wrong != "" {
				t.Fatalf("limit %v\nat (µs) %v\n%s", spec, at, wrong)
			}
		}
	})
}

// walk is a timeline of up to 200 requests with the given steps, some of them backwards.
func walk(now limit.Time, steps []byte) []limit.Time {
	at := []limit.Time{now}
	for len(steps) > 0 && len(at) < 200 {
		step, n := binary.Varint(steps)
		if n <= 0 {
			break
		}
		steps = steps[n:]
		now += limit.Time(step % int64(limit.Week)) // far from where times overflow
		at = append(at, now)
	}
	return at
}
