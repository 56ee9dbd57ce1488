package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// A judge is a policy that judges timelines as a replay would.
type judge struct {
	name     string
	limiters []limit.Limiter
	delayer  limit.Delayer // where delays are verdicts, and there is one limit; else nil
	states   []limit.State
	refused  []int32
	late     []limit.Delayed
	verdict  []Verdict
}

// newJudge reads a limit, or several joined by +. delays says whether it matters which requests are kept waiting.
func newJudge(text string, delays bool) (*judge, error) {
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return nil, err
	}
	p := &policies[0]
	limiters := mapped.Of(p.Parts, func(part policy.Part) limit.Limiter { return part.Limiter })
	j := &judge{name: p.Name, limiters: limiters}
	if delays && len(j.limiters) == 1 {
		j.delayer, _ = j.limiters[0].(limit.Delayer)
	}
	return j, nil
}

// judge returns what the limit decides on a timeline. It is valid until the next call.
func (j *judge) judge(t *timeline) []Verdict {
	n := len(t.at)
	j.verdict = slices.Grow(j.verdict[:0], n)[:n]
	clear(j.verdict)
	j.refused, j.late = j.refused[:0], j.late[:0]
	if len(j.limiters) > 1 {
		j.together(t)
		return j.verdict
	}
	var s limit.State
	if j.delayer != nil {
		j.refused, j.late = j.delayer.RefuseAndDelay(j.refused, j.late, &s, t.at)
	} else {
		j.refused = j.limiters[0].Refuse(j.refused, &s, t.at)
	}
	s.Release()
	for _, i := range j.refused {
		j.verdict[i] = Refused
	}
	for _, late := range j.late {
		j.verdict[late.Index] = Delayed
	}
	return j.verdict
}

// together judges by several limits: what any of them refuses is charged to none.
func (j *judge) together(t *timeline) {
	j.states = make([]limit.State, len(j.limiters))
	for i, at := range t.at {
		refused := false
		for k, l := range j.limiters {
			refused = refused || l.Wait(&j.states[k], at) > 0
		}
		for k, l := range j.limiters {
			l.Charge(&j.states[k], at, refused)
		}
		if refused {
			j.verdict[i] = Refused
		}
	}
	for k := range j.states {
		j.states[k].Release()
	}
}

// block is the number of successive requests of a key that are counted together: what contradicts a limit comes in
// runs, and each run is evidence once.
const block = 50

// A Fit is how well a limit explains the verdicts.
type Fit struct {
	Limit string `json:"limit"`
	// on which it decides otherwise
	Wrong int64 `json:"contradict"` // requests
	// of those wrong: it refuses what the server admitted
	Stricter int64 `json:"stricter"`
	// of those wrong: it admits what the server refused
	Looser int64 `json:"looser"`
	// by it
	Refused int64 `json:"refused"`
	// requests, as far as stamps of whole seconds tell
	WrongBySecond int64 `json:"-"`

	judge *judge
	text  string
	of    []int32 // wrong requests, block by block
	keys  []int32 // and by timeline
}

// fit judges all timelines.
func fit(all []timeline, j *judge, delays bool) *Fit {
	f := &Fit{Limit: j.name, judge: j}
	for i := range all {
		t := &all[i]
		before := f.Wrong
		for from, was := 0, j.judge(t); from < len(t.at); from += block {
			begin := f.Wrong
			for k := from; k < min(from+block, len(t.at)); k++ {
				is, really := was[k], t.verdict[k]
				if is == Refused {
					f.Refused++
				}
				switch {
				case is == really:
				case is == Refused:
					f.Stricter++
					f.Wrong++
				case really == Refused:
					f.Looser++
					f.Wrong++
				case delays:
					f.Wrong++
				}
			}
			f.of = append(f.of, int32(f.Wrong-begin))
		}
		f.WrongBySecond += wrongBySecond(t, j.verdict)
		f.keys = append(f.keys, int32(f.Wrong-before))
	}
	return f
}

// wrongBySecond counts how many more or fewer requests than the server a limit refuses of a timeline, second by second.
// One too many in a second makes up for one too few in the next: when in its second a request came decides which it is.
func wrongBySecond(t *timeline, by []Verdict) (wrong int64) {
	var open, more int64 // of the second before, and of this one
	for i := range by {
		if by[i] == Refused {
			more++
		}
		if t.verdict[i] == Refused {
			more--
		}
		if i+1 < len(by) && t.at[i+1]/limit.Second == t.at[i]/limit.Second {
			continue
		}
		if open > 0 != (more > 0) {
			both := min(max(open, -open), max(more, -more))
			wrong -= both
			more += both * int64(cmp.Compare(open, 0))
		}
		wrong += max(more, -more)
		open, more = more, 0
		if i+1 < len(by) && t.at[i+1]/limit.Second > t.at[i]/limit.Second+1 {
			open = 0
		}
	}
	return wrong
}

// asGood reports whether the requests that speak against f rather than best could well be chance: they are no more than
// two standard errors of their difference, from block to block.
func (f *Fit) asGood(best *Fit) bool {
	var difference, squares float64
	for i, n := range f.of {
		d := float64(n - best.of[i])
		difference += d
		squares += d * d
	}
	const errors = 2
	return difference <= 0 || difference*difference <= errors*errors*squares
}
