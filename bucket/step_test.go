package bucket

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var stepSuite = limittest.Suite{Draw: drawStep, New: NewToken, Model: modelStep}

func TestStep(t *testing.T) { limittest.Run(t, stepSuite) }

func FuzzStep(f *testing.F) { limittest.Fuzz(f, stepSuite) }

// drawStep is a random bucket that refills in steps, often a larger one than a step fills.
func drawStep(r *rand.Rand) limit.Spec {
	s := drawToken(r)
	if s.Options != "" {
		s.Options += ","
	}
	s.Options += "refill=step"
	return s
}

// modelStep does what the words say: open, refill at the end of each period, open again after a period without a request.
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
			tokens, opened = min(burst, tokens+s.Count), opened+s.Period
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

// Whatever a pause is made of, a timer has filled the bucket as often as arithmetic of any size says.
func TestFill(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		count, burst := 1+r.Int64N(20), 1+r.Int64N(60)
		b := newStep(limit.Spec{Count: count, Period: 1}, burst, burst)
		missing := r.Int64N(burst + 1)
		for n := range uint64(70) {
			if got, want := b.fill(missing, n), max(0, missing-int64(n)*count); got != want {
				t.Fatalf("%d of %d missing, %d fills of %d: %d, want %d", missing, burst, n, count, got, want)
			}
		}
		if got := b.fill(missing, 1<<63); got != 0 {
			t.Fatal(fmt.Sprint("after very many fills ", got, " are missing"))
		}
	}
}
