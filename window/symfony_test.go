package window

import (
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var symfonySuite = limittest.Suite{
	Draw: func(r *rand.Rand) limit.Spec {
		return limit.Spec{Algorithm: "symfony-sliding", Count: 1 + r.Int64N(8), Period: limit.Time(1+r.IntN(60)) * limit.Second}
	},
	New: NewSymfony, Model: modelSymfony, OwnClock: true,
}

func TestSymfony(t *testing.T) { limittest.Run(t, symfonySuite) }

func FuzzSymfony(f *testing.F) { limittest.Fuzz(f, symfonySuite) }

// modelSymfony does what the library does, with its own names, in whole microseconds. Its numbers are small enough not
// to overflow.
func modelSymfony(s limit.Spec) limittest.Model {
	type window struct {
		windowEndAt, expireAt           limit.Time
		hitCount, hitCountForLastWindow int64
	}
	var stored *window
	last, interval := limit.Time(0), s.Period
	return func(now limit.Time, blocked bool) bool {
		if stored != nil {
			now = max(now, last)
		}
		w := window{windowEndAt: now + interval}
		switch {
		case stored == nil || stored.expireAt <= now:
		case now <= stored.windowEndAt:
			w = *stored
		case now < stored.windowEndAt+interval:
			w.hitCountForLastWindow, w.windowEndAt = stored.hitCount, stored.windowEndAt+interval
		}
		hits := w.hitCountForLastWindow*int64(w.windowEndAt-now)/int64(interval) + w.hitCount
		if hits >= s.Count {
			return true
		}
		if !blocked {
			w.hitCount++
			w.expireAt = now + (w.windowEndAt+interval-now)/limit.Second*limit.Second
			stored, last = &w, now
		}
		return false
	}
}

func TestSymfonyErrors(t *testing.T) {
	for _, text := range []string{"symfony-sliding:6/500ms", "symfony-sliding:3000000000/1m", "symfony-sliding:6/1s,burst=3"} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSymfony(spec); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
