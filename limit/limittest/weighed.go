package limittest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/limit"
)

// A WeighedModel is a Model whose requests have costs.
type WeighedModel func(t limit.Time, cost int64, blocked bool) (refused bool)

// A WeighedSuite is what RunWeighed needs to know of a limiter.
type WeighedSuite struct {
	Draw  func(r *rand.Rand) limit.Spec
	New   func(limit.Spec) (limit.Limiter, error)
	Weigh func(limit.Limiter) (limit.Weigher, bool)
	Model func(limit.Spec) WeighedModel
	Holds bool // whether a refused request may take a place that the next one then lacks
}

// RunWeighed runs the suite of limiters whose requests have costs.
func RunWeighed(t *testing.T, s WeighedSuite) {
	t.Helper()
	trials := Suite{Draw: s.Draw, New: func(spec limit.Spec) (limit.Limiter, error) {
		l, err := s.New(spec)
		if err != nil {
			return nil, err
		}
		w, ok := s.Weigh(l)
		if !ok {
			return nil, fmt.Errorf("%v is no limit.Weigher", spec)
		}
		return w, nil
	}}
	t.Run("model", func(t *testing.T) { trials.each(t, timelines, s.weighed) })
	t.Run("ones", func(t *testing.T) { trials.each(t, timelines/10, ones) })
}

// costOf is a random cost, mostly small, at times more than the limit ever has room for.
func costOf(r *rand.Rand, spec limit.Spec) int64 {
	most := min(spec.Count, 30) + 2
	if r.IntN(3) == 0 {
		return r.Int64N(most + 1)
	}
	return r.Int64N(min(4, most))
}

// weighed: WaitFor and ChargeFor agree with the slow twin, also when another limit refuses some of the requests. A
// request that waits is admitted just then.
func (s WeighedSuite) weighed(t trial) string {
	judge, blocks := s.Model(t.spec), t.rand.IntN(2) > 0
	l := t.limiter.(limit.Weigher)
	var state limit.State
	for i, at := range t.at {
		cost, blocked := costOf(t.rand, t.spec), blocks && t.rand.IntN(3) == 0
		wait := l.WaitFor(&state, at, cost)
		if refused := judge(at, cost, blocked); refused != (wait > 0) {
			return fmt.Sprintf("request %d, which costs %d: has to wait %d, refused by the model: %t", i, cost, wait, refused)
		}
		l.ChargeFor(&state, at, cost, blocked || wait > 0)
		switch {
		case wait == limit.Never && l.WaitFor(&state, at+min(l.Horizon(), limit.Day), cost) == 0:
			return fmt.Sprintf("request %d, which costs %d: is admitted later than never", i, cost)
		case wait == 0 || wait == limit.Never || s.Holds:
		case l.WaitFor(&state, at+wait-1, cost) == 0 || l.WaitFor(&state, at+wait, cost) > 0:
			return fmt.Sprintf("request %d, which costs %d: is not admitted just after %d", i, cost, wait)
		}
		if i%7 == 6 {
			state = state.Clone()
		}
	}
	return ""
}

// ones: at a cost of one each request is judged as any limiter does, and leaves the same behind.
func ones(t trial) string {
	l := t.limiter.(limit.Weigher)
	var state, other limit.State
	var got []int32
	for i, at := range t.at {
		refused := l.WaitFor(&state, at, 1) > 0
		if l.ChargeFor(&state, at, 1, refused); refused {
			got = append(got, int32(i))
		}
	}
	if wrong := differ("at a cost of one", got, l.Refuse(nil, &other, t.at)); wrong != "" {
		return wrong
	}
	left, _ := state.AppendBinary(nil)
	want, _ := other.AppendBinary(nil)
	if string(left) != string(want) {
		return fmt.Sprintf("at a cost of one %v is left behind, want %v", state, other)
	}
	return ""
}
