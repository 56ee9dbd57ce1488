package replay

import (
	"cmp"
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
)

// An Observer sees each batch with what became of its requests, once all policies have judged it. Tallies and events say
// how many requests a policy refused; an Observer can tell which.
type Observer interface {
	// Observe gets the verdicts of each policy, in their order. Of a warm batch too, which counts nowhere. It must keep
	// neither b nor verdicts.
	Observe(b *traffic.Batch, verdicts []Verdicts) error
}

// Verdicts tell the requests of a batch that a policy did not simply admit.
type Verdicts struct {
	Refused []int32         // rows, each once, in no order that means anything
	Delayed []limit.Delayed // likewise; their Index is the row

	Degraded bool    // see Answer
	Retry    []Retry // if Options.Retries: for each of Refused
}

// A Retry says how long a refused client has to stay away.
type Retry struct {
	After limit.Time // limit.Never if waiting does not help
	Limit int        // which of the policy's limits asks for that, by its place among policy.Policy.Parts
}

// note adds what was decided on a piece of a timeline. A nil Verdicts takes nothing.
func (n *Verdicts) note(piece timeline, v *verdicts) {
	if n == nil {
		return
	}
	for _, i := range v.refused {
		n.Refused = append(n.Refused, piece.rows[i])
	}
	n.Retry = append(n.Retry, v.retry...)
	for _, late := range v.late {
		n.Delayed = append(n.Delayed, limit.Delayed{Index: piece.rows[late.Index], By: late.By})
	}
}

// degrade notes whether the verdicts on the batch at hand are degraded.
func (n *Verdicts) degrade(degraded bool) {
	if n != nil {
		n.Degraded = degraded
	}
}

// watch makes room for what the observer will be shown, one Verdicts for each policy.
func (e *Engine) watch() {
	if e.options.Observer == nil {
		return
	}
	e.observed = make([]Verdicts, len(e.candidates))
	for i, c := range e.candidates {
		c.noted = &e.observed[i]
	}
	if e.options.Retries {
		e.ask()
	}
}

// observe shows the observer a batch that has been judged.
func (e *Engine) observe(b *traffic.Batch) error {
	if e.options.Observer == nil {
		return nil
	}
	err := e.options.Observer.Observe(b, e.observed)
	for i := range e.observed {
		n := &e.observed[i]
		n.Refused, n.Delayed, n.Retry = n.Refused[:0], n.Delayed[:0], n.Retry[:0]
	}
	return err
}

// verdicts tell the requests of a timeline that were not simply admitted, by their indices.
type verdicts struct {
	refused []int32         // ascending
	late    []limit.Delayed // admitted and kept waiting, ascending
	retry   []Retry         // if wanted: for each refused one, how long to stay away
}

func (v *verdicts) reset() { v.refused, v.late, v.retry = v.refused[:0], v.late[:0], v.retry[:0] }

func (v *verdicts) empty() bool { return len(v.refused)+len(v.late) == 0 }

// add takes in the verdict on a request.
func (v *verdicts) add(index int32, refused bool, delay limit.Time) {
	switch {
	case refused:
		v.refused = append(v.refused, index)
	case delay > 0:
		v.late = append(v.late, limit.Delayed{Index: index, By: delay})
	}
}

// sort restores the order of what several limits have added to v behind the given lengths. Of a request that several limits
// keep waiting the longest delay counts.
func (v *verdicts) sort(refused, late int) {
	slices.Sort(v.refused[refused:])
	slices.SortFunc(v.late[late:], func(x, y limit.Delayed) int {
		return cmp.Or(cmp.Compare(x.Index, y.Index), cmp.Compare(y.By, x.By))
	})
	longest := slices.CompactFunc(v.late[late:], func(x, y limit.Delayed) bool { return x.Index == y.Index })
	v.late = v.late[:late+len(longest)]
}
