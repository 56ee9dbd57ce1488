package calc

import (
	"iter"
	"math"

	"shadow/limit"
)

// MaxRequests is the most requests that a made-up client may send.
const MaxRequests = 10_000_000

// A Run is what a limiter made of the requests of one client.
type Run struct {
	Requests int64 `json:"requests"`
	Admitted int64 `json:"admitted"`
	Delayed  int64 `json:"delayed"` // of the admitted ones
	Refused  int64 `json:"refused"`

	// Levels lists how full the limiter was (see limit.Leveler) at moments spread evenly from the beginning of the run
	// to its end. Each is the highest since the moment before, so that no peak is lost. Nil: the limiter has no level.
	Levels []float64 `json:"levels,omitempty"`
	Last   float64   `json:"-"` // the level at the end
}

// A runner judges the requests of one client.
type runner struct {
	limiter limit.Limiter
	delayer limit.Delayer // nil: the limiter delays nothing
	leveler limit.Leveler // nil: the limiter has no level
	state   limit.State
	peak    float64 // the highest level since the latest moment of Levels
	Run
}

// Simulate hands a client's requests, whose times count from the beginning of the run, to a limiter that remembers s of
// it, which Simulate takes. The run begins at start, lasts for length, and its level is sampled at so many moments, at
// least 2.
func Simulate(l limit.Limiter, s limit.State, start, length limit.Time, moments iter.Seq[limit.Time], levels int) Run {
	r := &runner{limiter: l, state: s, peak: math.Inf(-1)}
	r.delayer, _ = l.(limit.Delayer)
	if r.leveler, _ = l.(limit.Leveler); r.leveler != nil {
		r.Levels = make([]float64, 0, levels)
	}
	defer r.state.Release()
	next := limit.Time(0) // the moment of the next sample, from the beginning of the run
	sample := func() {
		r.sample(start + next)
		next = limit.Time(mulDivUp(int64(length), int64(len(r.Levels)), int64(levels-1)))
	}
	for t := range moments {
		for r.leveler != nil && next < t {
			sample()
		}
		r.judge(start + t)
	}
	for r.leveler != nil && len(r.Levels) < levels {
		sample()
	}
	return r.Run
}

func (r *runner) judge(t limit.Time) {
	refused := r.limiter.Wait(&r.state, t) > 0
	r.Requests++
	if refused {
		r.Refused++
	} else {
		r.Admitted++
		if r.delayer != nil && r.delayer.Delay(&r.state, t) > 0 {
			r.Delayed++
		}
	}
	r.limiter.Charge(&r.state, t, refused)
	if r.leveler != nil {
		r.peak = max(r.peak, r.leveler.Level(&r.state, t))
	}
}

// sample notes the level at t.
func (r *runner) sample(t limit.Time) {
	r.Last = r.leveler.Level(&r.state, t)
	r.Levels = append(r.Levels, max(r.peak, r.Last))
	r.peak = math.Inf(-1)
}
