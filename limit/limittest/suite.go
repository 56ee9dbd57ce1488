package limittest

import (
	"math/rand/v2"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// A Model is a slow, obvious twin of a limiter for one key: it judges the next request, at t, and charges it. blocked
// says that another limit of a combination refuses the request, whatever this one says.
type Model func(t limit.Time, blocked bool) (refused bool)

// A DelayModel is a Model with a third verdict: late is how long the request is kept waiting, if it is admitted.
type DelayModel func(t limit.Time, blocked bool) (refused bool, late limit.Time)

// A Suite is what Run needs to know of a limiter.
type Suite struct {
	// Draw returns a random limit, with small numbers so that its boundaries are often met.
	Draw func(r *rand.Rand) limit.Spec

	// New is the constructor under test.
	New func(limit.Spec) (limit.Limiter, error)

	// Model returns the slow twin of a key never seen.
	Model func(limit.Spec) Model

	// ModelDelay does so for a limit.Delayer and takes the place of Model.
	ModelDelay func(limit.Spec) DelayModel

	// OwnClock says that the limiter has a rule of its own for a time before the last one. Most have not: it counts as
	// the last one.
	OwnClock bool
}

// timelines is the number of random timelines that the slow twin judges; other tests take a tenth of it.
const timelines = 10_000

// Run runs the suite, one subtest for each promise that package limit makes.
func Run(t *testing.T, s Suite) {
	t.Helper()
	t.Run("model", func(t *testing.T) { s.each(t, timelines, s.model) })
	t.Run("blocked by another", func(t *testing.T) { s.each(t, 2*timelines/10, s.blocked) })
	t.Run("twins", func(t *testing.T) { s.each(t, 2*timelines/10, s.twins) })
	t.Run("cuts", func(t *testing.T) { s.each(t, timelines/10, s.cuts) })
	t.Run("wait", func(t *testing.T) { s.each(t, timelines/10, s.wait) })
	t.Run("horizon", func(t *testing.T) { s.each(t, timelines/10, s.horizon) })
	t.Run("back", func(t *testing.T) { s.each(t, timelines/10, s.back) })
	t.Run("clone and encode", func(t *testing.T) { s.each(t, timelines/10, s.copies) })
	t.Run("allocations", func(t *testing.T) { s.each(t, 10, s.allocations) })
}

// A trial is one limiter on one timeline.
type trial struct {
	spec    limit.Spec
	limiter limit.Limiter
	at      []limit.Time
	rand    *rand.Rand
}

// each tries a check on n random trials. A check returns what is wrong, or "". The first trial that fails is
// reported, with as few requests as will make it fail.
func (s Suite) each(t *testing.T, n int, check func(trial) string) {
	t.Helper()
	for seed := range uint64(n) {
		r := testneeds.Rand(t, seed, 0)
		spec := s.Draw(r)
		limiter, err := s.New(spec)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		at := timeline(r, spec)
		try := func(at []limit.Time) string {
			return check(trial{spec, limiter, at, testneeds.Rand(t, seed, 1)})
		}
		if try(at) != "" {
			at = shrink(at, func(at []limit.Time) bool { return try(at) != "" })
			t.Fatalf("seed %d\nlimit %v\nat (µs) %v\n%s", seed, spec, at, try(at))
		}
	}
}

// shrink leaves out requests for as long as the rest still fails.
func shrink(at []limit.Time, fails func([]limit.Time) bool) []limit.Time {
	for i := 0; i < len(at); {
		fewer := append(append([]limit.Time{}, at[:i]...), at[i+1:]...)
		if len(fewer) > 0 && fails(fewer) {
			at, i = fewer, 0
		} else {
			i++
		}
	}
	return at
}
