package pipeline

import (
	"context"
	"fmt"

	"shadow/store"
	"shadow/sweep"
)

// With --sweep a replay draws the curves of its requests as well, in the same reading: those that shadow sweep draws
// unless told otherwise, by the key of --by. They are kept with the run, so the page of a stored run has them, and a
// report can say whether safe limits have moved. Evidence divides their clients as it divides those of the policies.

// newSweep is nil unless --sweep is given.
func (r *Replay) newSweep(ctx context.Context) *sweep.Sweep {
	if !r.Sweep {
		return nil
	}
	o := (&Shapes{By: r.By}).options()
	o.Tables, o.Lateness, o.Bursts, o.Stop = r.Read.Tables, r.Read.Lateness, sweep.DefaultBursts(), ctx.Err
	if r.Rules != nil {
		o.Disguised = func(client int32) bool { return r.assessor.Disguised(client) }
	}
	return sweep.New(o)
}

// thinCurves tells of curves that are too long to be stored whole.
func thinCurves(result *sweep.Result) []string {
	long := 0
	for _, c := range result.Curves {
		if len(c.Points) > store.MostPoints {
			long++
		}
	}
	if long == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d curves change at more than %d limits; the database holds a selection of them, --output json and csv of shadow sweep have all",
		long, len(result.Curves), store.MostPoints)}
}
