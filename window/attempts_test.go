package window

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var attemptsSuite = limittest.Suite{Draw: drawAttempts, New: New, Model: modelAttempts}

func TestAttempts(t *testing.T) { limittest.Run(t, attemptsSuite) }

func FuzzAttempts(f *testing.F) { limittest.Fuzz(f, attemptsSuite) }

func drawAttempts(r *rand.Rand) limit.Spec {
	s := draw(r)
	s.Options = "charge=all"
	return s
}

// modelAttempts keeps every request forever and counts those in (t−W, t].
func modelAttempts(s limit.Spec) limittest.Model {
	var requests []limit.Time
	return func(t limit.Time, _ bool) bool {
		if n := len(requests); n > 0 {
			t = max(t, requests[n-1])
		}
		requests = append(requests, t)
		inside := int64(0)
		for _, a := range requests {
			if a > t-s.Period {
				inside++
			}
		}
		return inside > s.Count
	}
}

// However many requests come, the ring holds no more than N.
func TestAttemptsMemory(t *testing.T) {
	l := must(t, "window:10/1h,charge=all")
	var s limit.State
	if got := l.Refuse(nil, &s, slices.Repeat([]limit.Time{0}, 100_000)); len(got) != 99_990 {
		t.Errorf("%d refused, want 99990", len(got))
	}
	if got := s.Ring().Bytes(); got > 96 || s.Ring().Len() != 10 {
		t.Errorf("%d times in %d bytes, want 10 in at most 96", s.Ring().Len(), got)
	}
}

func TestAttemptsDescribes(t *testing.T) {
	l := must(t, "window:5/5m,charge=all").(limit.Describer)
	if got, want := l.Semantics(), "rolling window of all requests: refused while 5 or more came in the last 5m; a refused request counts as well"; got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
	want := limit.Shape{Count: 5, Period: 5 * limit.Minute, AtOnce: 5, Unlike: "refused requests cost nothing there"}
	if got := l.Shape(); got != want {
		t.Errorf("Shape = %+v, want %+v", got, want)
	}
}

func BenchmarkAttempts(b *testing.B) {
	limittest.Bench(b, New, "window:6/30s,charge=all", "window:100/1m,charge=all", "window:10000/24h,charge=all")
}
