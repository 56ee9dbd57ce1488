package drill

import (
	"context"
	"slices"

	"shadow/internal/escape"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
	shown "shadow/report/drill"
)

// verdicts tell which requests are refused.
type verdicts struct {
	is      []bool // by request
	refused int
	longest limit.Time // that a request is delayed
}

// Observe implements replay.Observer for one policy and one batch.
func (v *verdicts) Observe(b *traffic.Batch, all []replay.Verdicts) error {
	v.is, v.refused = make([]bool, b.Len()), len(all[0].Refused)
	for _, row := range all[0].Refused {
		v.is[row] = true
	}
	for _, late := range all[0].Delayed {
		v.longest = max(v.longest, late.By)
	}
	return nil
}

// judge returns what the policy decides on rows of b that come at some moments, from empty limiters.
func (d *Drill) judge(b *traffic.Batch, at []limit.Time) (*verdicts, error) {
	rows := inOrder(at, func(int32, int32) int { return 0 })
	moved := new(traffic.Batch)
	moved.Append(b, rows)
	for i, row := range rows {
		moved.At[i] = at[row]
	}
	moved.Source, moved.Seq, moved.Warm = nil, nil, false
	v := new(verdicts)
	engine := replay.New(replay.Options{
		Tables: d.Read.Tables, Policies: d.Policies, Lateness: d.Read.StepBack(), Observer: v, Bare: true,
	})
	if err := engine.Judge(moved); err != nil {
		return nil, err
	}
	is := make([]bool, len(at))
	for i, row := range rows {
		is[row] = v.is[i]
	}
	v.is = is
	return v, nil
}

// A comparison is a drill that was sent.
type comparison struct {
	shown.Source
	answered int
	failure  error // the last one of a connection
}

// compare holds the answers against what was foreseen, and what the moments of sending explain.
func (d *Drill) compare(ctx context.Context, p *plan, foreseen *verdicts, all []answer,
	begin limit.Time,
) (*comparison, error) {
	c := &comparison{Source: shown.Source{
		Target: d.server.url(), Header: d.server.header, Stretch: p.stretch, Planned: int64(len(p.requests)), Top: d.Top,
		Statuses: d.Refused,
	}}
	var rows []int32
	for i := range all {
		a, r := &all[i], &p.requests[i]
		if !a.sent {
			continue
		}
		rows = append(rows, int32(i))
		q := shown.Request{
			After: p.after[i], Late: max(0, a.wrote-p.after[i]), Client: d.Read.Tables.ShownClient(r.id), Method: r.method,
			Path: r.path, Foreseen: foreseen.is[i], Status: a.status,
			Refused: slices.Contains(d.Refused, uint16(a.status)),
		}
		if d.Anonymizer != nil { // names of people stand in paths
			q.Path = d.Read.Tables.ShownAction(int32(p.batch.Action[i]))
		}
		if a.err != nil {
			q.Failure, c.failure = d.Anonymizer.Text(escape.Visible(a.err.Error())), a.err
		} else {
			c.answered++
		}
		c.Requests = append(c.Requests, q)
	}
	if len(rows) == 0 {
		return c, nil
	}
	e := explanation{drill: d, all: c.Requests, batch: new(traffic.Batch)}
	e.batch.Append(p.batch, rows)
	most := undelayed(c.Requests, all, foreseen)
	for _, row := range rows {
		a := &all[row]
		e.moments = append(e.moments, begin+a.wrote)
		e.first, e.last = append(e.first, begin+a.early), append(e.last, begin+a.wrote+min(most, a.done-a.wrote))
	}
	for _, key := range d.Policies[0].Keys() {
		e.together = e.together || !key.Has(request.PartClient)
	}
	return c, e.find(ctx)
}

// undelayed returns how long at most a decision may take: the answer tells, unless the limit delays it. Refusals are
// never delayed, so that of these the slowest tells.
func undelayed(requests []shown.Request, all []answer, foreseen *verdicts) limit.Time {
	if foreseen.longest == 0 {
		return limit.Never
	}
	most := leastUnknown
	i := 0
	for _, a := range all {
		if a.sent {
			if requests[i].Refused {
				most = max(most, a.done-a.wrote)
			}
			i++
		}
	}
	return most
}
