package store

import (
	"math"
	"time"

	"shadow/replay"
	"shadow/request"
	"shadow/sweep"
)

// Curves are kept with the run that they come from. A curve may have a point for each of hundreds of thousands of limits,
// of which people look at the lower ones: those are kept whole.

// MostPoints is how many points of a curve are kept at most.
const MostPoints = 10_000

// KeepCurves keeps curves of the run's own requests with it. It must be called before Finish.
func (r *Run) KeepCurves(res *sweep.Result) { r.swept = res }

// FinishSweep is Finish for a run that has curves in place of policies.
func (r *Run) FinishSweep(res *sweep.Result, finished time.Time) error {
	r.KeepCurves(res)
	return r.Finish(&replay.Result{
		Stats: res.Stats, Tables: res.Tables, Clients: &res.Tallies.Clients, Actions: res.Tallies.Actions,
	}, finished)
}

func (r *Run) writeCurves(*replay.Result) error {
	if r.swept == nil {
		return nil
	}
	curves, points := r.store.duck.table("curves"), r.store.duck.table("curve_points")
	for i := range r.swept.Curves {
		c := &r.swept.Curves[i]
		kept := thin(c.Points, MostPoints)
		r.addCurve(curves, int32(i), c, len(kept))
		for j := range kept {
			points.add(append([]any{r.id, int32(i)}, pointValues(&kept[j], r.swept.Hidden != nil)...)...)
		}
	}
	if err := curves.done(); err != nil {
		points.done() //nolint:errcheck // the first error tells more
		return err
	}
	return points.done()
}

func (r *Run) addCurve(t *table, curve int32, c *sweep.Curve, kept int) {
	var per, count, ratePer any
	if c.Kind == sweep.Token {
		count, ratePer = c.Rate.Count, int64(c.Rate.Per)
	} else {
		per = int64(c.Per)
	}
	row := []any{
		r.id, curve, c.Kind.String(), r.swept.By.String(), textIf(r.swept.Action), per, count, ratePer,
		r.swept.Judged, r.swept.Clients.Sum(), int64(len(c.Points)), int64(kept),
	}
	for _, clients := range r.swept.Clients {
		row = append(row, clients)
	}
	var disguised any
	if h := r.swept.Hidden; h != nil {
		disguised = h.Clients
	}
	t.add(append(row, disguised)...)
}

// pointValues are limit_count, and refused and clients_hit of all, of each class, and of the disguised, if they are told apart.
func pointValues(p *sweep.Point, divided bool) []any {
	values := []any{p.Limit}
	add := func(refused, hit int64) {
		if p.Counted {
			values = append(values, refused, hit)
		} else {
			values = append(values, nil, hit)
		}
	}
	add(p.Refused.Sum(), p.Hit.Sum())
	for class := range request.ClassCount {
		add(p.Refused[class], p.Hit[class])
	}
	if !divided {
		return append(values, nil, nil)
	}
	add(p.Hidden.Requests, p.Hidden.Clients)
	return values
}

// thin keeps at most so many points: the lower half of them, then one in each of as many even stretches of the
// logarithm, and the last.
func thin(points []sweep.Point, most int) []sweep.Point {
	if len(points) <= most {
		return points
	}
	whole := most / 2
	kept := append([]sweep.Point{}, points[:whole]...)
	stretches := float64(most-whole-1) / math.Log(float64(len(points))/float64(whole))
	last := -1
	for i := whole; i < len(points)-1; i++ {
		if at := int(math.Log(float64(i)/float64(whole)) * stretches); at > last {
			kept, last = append(kept, points[i]), at
		}
	}
	return append(kept, points[len(points)-1])
}
