package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var polledSuite = limittest.Suite{Draw: drawPolled, New: newPolledForTest, Model: modelPolled}

func TestPolled(t *testing.T) { limittest.Run(t, polledSuite) }

func FuzzPolled(f *testing.F) { limittest.Fuzz(f, polledSuite) }

// newPolledForTest makes the window that is written polled:N/W,every=P,delay=D,phase=F,charge=all, in which the last
// three may be left out. Limits cannot say this, only tests.
func newPolledForTest(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	p := poll{every: args.Duration("every", 1), delay: args.Duration("delay", 0), phase: args.Duration("phase", 0)}
	w := newPolled(spec, p, chargesAll(args))
	return &w, args.Err()
}

func drawPolled(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, limit.Millisecond, limit.Second, limit.Hour}
	unit := units[r.IntN(len(units))]
	length := func(n int) limit.Time { return unit * limit.Time(1+r.IntN(n)) }
	s := limit.Spec{Algorithm: "polled", Count: 1 + r.Int64N(8), Period: length(12)}
	s.Options = fmt.Sprintf("every=%dus", length(6))
	if r.IntN(2) == 0 {
		s.Options += fmt.Sprintf(",delay=%dus", length(9))
	}
	if r.IntN(2) == 0 {
		s.Options += fmt.Sprintf(",phase=%dus", length(6))
	}
	if r.IntN(2) == 0 {
		s.Options += ",charge=all"
	}
	return s
}

// modelPolled keeps every request that counts forever.
func modelPolled(s limit.Spec) limittest.Model {
	args := s.Args()
	every, delay, phase, all := args.Duration("every", 1), args.Duration("delay", 0), args.Duration("phase", 0), chargesAll(args)
	var counted []limit.Time
	now, seen := limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen {
			t = max(t, now)
		}
		now, seen = t, true
		check := floor(now-delay-phase, every) + phase
		found := int64(0)
		for _, a := range counted {
			if check-s.Period <= a && a < check {
				found++
			}
		}
		refused := found > s.Count
		if !refused && !blocked || all {
			counted = append(counted, now)
		}
		return refused
	}
}

// However many requests come, the ring holds no more than N + 1 that were seen, and those not yet seen.
func TestPolledMemory(t *testing.T) {
	w := newPolled(limit.Spec{Count: 10, Period: limit.Minute}, poll{every: limit.Second}, true)
	var s limit.State
	for second := range limit.Time(50) {
		w.Refuse(nil, &s, slices.Repeat([]limit.Time{second * limit.Second}, 1000))
	}
	if got := s.Ring().Len(); got != 1011 {
		t.Errorf("%d times, want 11 seen and 1000 not yet", got)
	}
}

// The largest differences of time do not overflow.
func TestPolledExtremes(t *testing.T) {
	const least, most limit.Time = math.MinInt64, math.MaxInt64
	at := []limit.Time{least, least, least + 1, least + limit.Hour, -1, 0, 0, 1, most - limit.Hour, most - 1, most, most, least}
	for _, p := range []poll{{every: 1}, {every: limit.Second, delay: limit.Minute}, {every: limit.Hour, phase: limit.Second}} {
		w := newPolled(limit.Spec{Count: 1, Period: limit.Minute}, p, true)
		var s limit.State
		for _, now := range at {
			wait := w.Wait(&s, now)
			w.Charge(&s, now, wait > 0)
			if wait < 0 || s.Level < 0 || int(s.Level) > s.Ring().Len() {
				t.Errorf("%v: waits %d at %d, %+v", p, wait, now, s)
			}
		}
	}
}

func TestPolledDescribes(t *testing.T) {
	w := newPolled(limit.Spec{Count: 10, Period: limit.Minute}, poll{every: limit.Second, delay: 2 * limit.Second}, true)
	want := "window looked at every 1s: all are refused while the last look, in force 2s later, counted more than 10 in 1m; a refused request counts as well"
	if got := w.Semantics(); got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
}

// The level is what the check in force has counted.
func TestPolledLevel(t *testing.T) {
	w := newPolled(limit.Spec{Count: 5, Period: 3 * limit.Second}, poll{every: limit.Second}, true)
	var s limit.State
	w.Refuse(nil, &s, []limit.Time{0, 0, limit.Second - 1, limit.Second})
	for at, want := range map[limit.Time]float64{limit.Second: 3, 2 * limit.Second: 4, 4 * limit.Second: 1, 5 * limit.Second: 0} {
		if got := w.Level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}

func BenchmarkPolled(b *testing.B) {
	limittest.Bench(b, newPolledForTest, "polled:100/5m,every=10s,delay=10s,charge=all", "polled:6/30s,every=3s")
}
