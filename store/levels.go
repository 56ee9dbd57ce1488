package store

import (
	"fmt"

	"shadow/limit"
	"shadow/replay"
)

// How full limits were over time is kept of a few clients, as samples.

// KeepLevels keeps samples with the run. It must be called before Finish.
func (r *Run) KeepLevels(samples []replay.Sampled) { r.levels = samples }

func (r *Run) writeLevels(*replay.Result) error {
	t := r.store.duck.table("levels")
	for _, s := range r.levels {
		for i, level := range s.Levels {
			t.add(r.id, int32(s.Policy), int32(s.Part), s.Client, s.Moment(i), level, s.Full, s.Refused[i])
		}
	}
	return t.done()
}

// A Level is how full a limit was for a client.
type Level struct {
	Policy, Limit, Client string
	replay.Sampled        // without ids
}

// Levels reads those of a run, in the order of its policies.
func (r *Reader) Levels(run int32) (all []Level, err error) {
	var last [3]int32
	err = r.each(fmt.Sprintf(`SELECT l.policy, l.part, l.client, l.time, l.level, l.full_at, l.refused, p.name, q.limit_text, c.name
		FROM levels l JOIN policies p USING (run, policy) JOIN parts q USING (run, policy, part) JOIN clients c USING (run, client)
		WHERE l.run = %d ORDER BY l.policy, l.client, l.part, l.time`, run), func(b *block, row int) error {
		key := [3]int32{values[int32](b, 0)[row], values[int32](b, 2)[row], values[int32](b, 1)[row]}
		at := values[limit.Time](b, 3)[row]
		if len(all) == 0 || key != last {
			all = append(all, Level{Policy: b.text(7, row), Limit: b.text(8, row), Client: b.text(9, row), Sampled: replay.Sampled{First: at, Full: values[int64](b, 5)[row]}})
			last = key
		}
		s := &all[len(all)-1].Sampled
		s.Last = at
		s.Levels, s.Refused = append(s.Levels, values[float64](b, 4)[row]), append(s.Refused, values[int64](b, 6)[row])
		return nil
	})
	return all, err
}
