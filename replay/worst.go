package replay

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/traffic"
)

// How full a limit was for somebody over time can only be told from his requests, and who is refused most is known at the end
// only. So of the clients that have been refused most so far the requests are kept, from batch to batch; whoever is overtaken
// is dropped, and whoever comes in late has his requests kept from that batch on.

const (
	watched     = 64      // clients whose requests are kept
	watchedRows = 1 << 20 // requests that are kept of one client: the first
)

// A Worst is an Observer that keeps the requests of the clients that are refused most.
type Worst struct {
	tables   *traffic.Tables
	policies []policy.Policy
	lateness limit.Time
	refused  []map[int32]int64 // by policy and client: requests
	kept     map[int32]*Gathering
	group    traffic.Group // of the batch at hand, by client
}

// NewWorst returns one that has seen nothing.
func NewWorst(t *traffic.Tables, policies []policy.Policy, lateness limit.Time) *Worst {
	w := &Worst{tables: t, policies: policies, lateness: lateness, kept: map[int32]*Gathering{}}
	for range policies {
		w.refused = append(w.refused, map[int32]int64{})
	}
	return w
}

// Observe implements Observer.
func (w *Worst) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	if !b.Warm {
		for i := range verdicts {
			for _, row := range verdicts[i].Refused {
				w.refused[i][b.Client[row]]++
			}
		}
		w.choose()
	}
	if len(w.kept) == 0 {
		return nil
	}
	w.group.Sort(b, b.Client, w.tables.Clients.Len())
	var start int32
	for i, end := range w.group.Ends {
		if g := w.kept[w.group.Keys[i]]; g != nil && g.Batch.Len() < watchedRows {
			g.add(b, w.group.Rows[start:end], verdicts)
		}
		start = end
	}
	return nil
}

// choose keeps the clients that have been refused most, and no others.
func (w *Worst) choose() {
	worst := w.most(watched)
	for client := range w.kept {
		if !slices.Contains(worst, client) {
			delete(w.kept, client)
		}
	}
	for _, client := range worst {
		if w.kept[client] == nil {
			w.kept[client] = NewGathering(w.tables, ClientName{Name: w.tables.Clients.Name(client)}, len(w.policies))
		}
	}
}

// most are the clients that have been refused most by any policy, so many of all policies together, taken from each in turn.
func (w *Worst) most(n int) (clients []int32) {
	each := max(1, n/max(1, len(w.policies)))
	for i := range w.policies {
		for _, client := range w.mostOf(i, each) {
			if len(clients) < n && !slices.Contains(clients, client) {
				clients = append(clients, client)
			}
		}
	}
	return clients
}

// mostOf are the clients that a policy has refused most; of several as often, the first by name.
func (w *Worst) mostOf(policy, n int) []int32 {
	all := make([]int32, 0, len(w.refused[policy]))
	for client := range w.refused[policy] {
		all = append(all, client)
	}
	slices.SortFunc(all, func(x, y int32) int {
		return cmp.Or(cmp.Compare(w.refused[policy][y], w.refused[policy][x]), strings.Compare(w.tables.Clients.Name(x), w.tables.Clients.Name(y)))
	})
	return all[:min(n, len(all))]
}

// A Sampled is how full a limit was for a client, at moments spread evenly from First to Last.
type Sampled struct {
	Policy, Part int
	Client       int32
	First, Last  limit.Time
	Full         int64     // how many requests the limit admits at once
	Levels       []float64 // the highest since the moment before
	Refused      []int64   // requests of the client that the policy refused since the moment before
}

// Moment is that of level i.
func (s *Sampled) Moment(i int) limit.Time {
	f := follower{first: s.First, length: s.Last - s.First, levels: len(s.Levels)}
	return f.moment(i)
}

// Samples tell of the first so many clients that each policy refuses most how full its limits were, at so many moments. Limits
// that clients share, and such as do not tell, are left out.
func (w *Worst) Samples(clients, moments int) (all []Sampled) {
	for i := range w.policies {
		for _, client := range w.mostOf(i, clients) {
			g := w.kept[client]
			if g == nil {
				continue
			}
			all = append(all, w.samplesOf(g, i, client, moments)...)
		}
	}
	return all
}

func (w *Worst) samplesOf(g *Gathering, policy int, client int32, moments int) (all []Sampled) {
	first, last := g.Span()
	if first == last {
		return nil
	}
	trail := g.Follow(w.policies, policy, w.lateness, moments)
	for part := range w.policies[policy].Parts {
		if levels := trail.Limits[part].Levels; len(levels) == moments {
			all = append(all, Sampled{
				Policy: policy, Part: part, Client: client, First: first, Last: last, Full: full(&w.policies[policy].Parts[part]),
				Levels: levels, Refused: g.refusedBetween(policy, moments),
			})
		}
	}
	return all
}

// full is with how many requests a limit is full.
func full(p *policy.Part) int64 {
	if d, ok := p.Limiter.(limit.Describer); ok {
		return d.Shape().AtOnce
	}
	return p.Spec.Count
}

// refusedBetween counts what a policy refused up to each of some moments, since the one before.
func (g *Gathering) refusedBetween(policy, moments int) []int64 {
	first, last := g.Span()
	f := follower{first: first, length: last - first, levels: moments}
	n := make([]int64, moments)
	for row := g.Warm; row < g.Batch.Len(); row++ {
		if g.Fates[policy].Refused[row] {
			n[sort.Search(moments-1, func(i int) bool { return f.moment(i) >= g.Batch.At[row] })]++
		}
	}
	return n
}
