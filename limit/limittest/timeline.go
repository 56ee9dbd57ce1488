package limittest

import (
	"math/rand/v2"

	"shadow/limit"
)

// Random timelines: bursts, requests on and beside the boundaries of the limit, pauses that exhaust its memory, time
// that stands still and time that steps back; before, around and long after the epoch.

// timeline is a random timeline for the limit, of 1 to 60 requests.
func timeline(r *rand.Rand, spec limit.Spec) []limit.Time {
	at := make([]limit.Time, 1+r.IntN(60))
	now := start(r, spec)
	back := r.IntN(3) == 0
	for i := range at {
		at[i] = now
		now += step(r, spec)
		if back && r.IntN(8) == 0 {
			now -= 2 * step(r, spec)
		}
	}
	return at
}

// start draws the first time of a timeline.
func start(r *rand.Rand, spec limit.Spec) limit.Time {
	around := limit.Time(r.Int64N(int64(4*spec.Period))) - 2*spec.Period
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return 1_700_000_000*limit.Second + around
	case 2:
		return -1_700_000_000*limit.Second + around
	}
	return around
}

// step is the time to the next request.
func step(r *rand.Rand, spec limit.Spec) limit.Time {
	interval := max(1, spec.Period/limit.Time(spec.Count))
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return limit.Time(r.IntN(3))
	case 5:
		return interval + limit.Time(r.IntN(3)) - 1
	case 6:
		return limit.Time(r.Int64N(int64(2 * interval)))
	case 7:
		return limit.Time(r.Int64N(int64(spec.Period)))
	case 8:
		return max(0, spec.Period+limit.Time(r.IntN(3))-1)
	}
	return limit.Time(r.Int64N(int64(4 * spec.Period)))
}
