package suggest

import (
	"cmp"
	"context"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/replay"
)

// replay finds out what the stops of some shapes do, and which clients they hit. The highest stops of a shape come first:
// a client that none of them has hit needs no more than the one above.
func (x *explorer) replay(ctx context.Context, shapes []ExploredShape) error {
	type task struct {
		shape *ExploredShape
		stop  int
	}
	var tasks []task
	var policies []policy.Policy
	for i := range shapes {
		s := &shapes[i]
		for k := len(s.Stops) - 1; k >= 0; k-- {
			text, _ := s.family.text(s.Stops[k].N)
			p, err := x.track.policy(0, text)
			if err != nil {
				return err
			}
			tasks, policies = append(tasks, task{s, k}), append(policies, p)
		}
	}
	r := x.repeaters()
	for len(tasks) > 0 {
		n := min(len(tasks), r.atOnce())
		engine := x.engine(ctx, r, policies[:n])
		if err := x.Again(func(b *traffic.Batch) error {
			x.mark(b)
			return engine.Judge(r.of(b))
		}); err != nil {
			return err
		}
		found := engine.Result(x.Found.Stats).Policies
		for i, t := range tasks[:n] {
			hits := r.hits(&found[i].Hits)
			t.shape.Stops[t.stop].Figures = Count(hits, x.labels)
			x.list(t.shape, t.stop, hits)
		}
		tasks, policies = tasks[n:], policies[n:]
	}
	for i := range shapes {
		if s := &shapes[i]; !s.Own { // the sweep knows what each client needs
			at := map[int32]*Listed{}
			for k := range s.Listed {
				at[x.e.Clients[s.Listed[k].Client].ID] = &s.Listed[k]
			}
			x.track.whole.Needs([]int{s.curve}, func(_ int, client int32, need int64) {
				if l := at[client]; l != nil {
					l.Need = need
				}
			})
		}
	}
	return nil
}

// list takes the clients that a stop hits into the list of its shape.
func (x *explorer) list(s *ExploredShape, stop int, hits *replay.Hits) {
	var room [2]int
	known := map[int32]*Listed{}
	for i := range s.Listed {
		id := x.e.Clients[s.Listed[i].Client].ID
		known[id] = &s.Listed[i]
		room[x.side(id)]++
	}
	var fresh [2][]replay.Hit
	for hit := range hits.All() {
		if l := known[hit.Client]; l != nil {
			l.Refused[stop] = hit.Refused
		} else if side := x.side(hit.Client); room[side] < MostListed {
			fresh[side] = append(fresh[side], hit)
		}
	}
	need := int64(0)
	if stop+1 < len(s.Stops) {
		need = s.Stops[stop+1].N
	}
	for side := range fresh {
		slices.SortFunc(fresh[side], func(p, q replay.Hit) int {
			return cmp.Or(cmp.Compare(q.Refused, p.Refused), x.byName(p.Client, q.Client))
		})
		for _, hit := range fresh[side][:min(len(fresh[side]), MostListed-room[side])] {
			refused := make([]int64, len(s.Stops))
			refused[stop] = hit.Refused
			s.Listed = append(s.Listed, Listed{x.listed(hit.Client), need, refused})
		}
	}
}
