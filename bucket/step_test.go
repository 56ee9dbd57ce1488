package bucket

import (
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var stepSuite = limittest.Suite{Draw: drawStep, New: NewToken, Model: modelStep}

func TestStep(t *testing.T) { limittest.Run(t, stepSuite) }

func FuzzStep(f *testing.F) { limittest.Fuzz(f, stepSuite) }

// drawStep is a random bucket that refills in steps, of any capacity.
func drawStep(r *rand.Rand) limit.Spec {
	s := drawToken(r)
	if s.Options != "" {
		s.Options += ","
	}
	s.Options += "refill=step"
	return s
}

// modelStep does what the words say: open, fill at the end of each period, open again after a period without a request.
func modelStep(s limit.Spec) limittest.Model {
	args := s.Args()
	burst := args.Int("burst", s.Count)
	tokens := args.Int("initial", burst)
	var opened, last limit.Time
	seen := false
	return func(t limit.Time, blocked bool) bool {
		switch {
		case !seen:
			seen, opened, last = true, t, t
		case t-last >= s.Period:
			tokens, opened = burst, t
		case t-opened >= s.Period:
			tokens, opened = burst, opened+s.Period
		}
		last = max(last, t)
		if tokens == 0 {
			return true
		}
		if !blocked {
			tokens--
		}
		return false
	}
}

// The example with which the limit is explained: 60 at 0 and 60 at 70 are admitted, at 125 none, at 130 sixty again.
func TestStepExample(t *testing.T) {
	l := must(t, "token:60/60s,refill=step")
	var s limit.State
	for _, c := range []struct {
		at       limit.Time
		requests int
		admitted int
	}{{0, 60, 60}, {70, 61, 60}, {125, 1, 0}, {130, 61, 60}} {
		at := make([]limit.Time, c.requests)
		for i := range at {
			at[i] = c.at * limit.Second
		}
		if got := c.requests - len(l.Refuse(nil, &s, at)); got != c.admitted {
			t.Errorf("at %d s: %d of %d admitted, want %d", c.at, got, c.requests, c.admitted)
		}
	}
}
