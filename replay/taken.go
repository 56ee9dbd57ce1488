package replay

import (
	"cmp"
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/traffic"
)

// A Taken is an Observer that tells what policies leave of the requests of one action, whether or not they may refuse them: the
// guesses of somebody who tries passwords.
type Taken struct {
	Action   string // as it was asked for
	Policies []PolicyTaken

	tables  *traffic.Tables
	group   traffic.Group
	clients []Paged[taken] // by policy
	refused []bool         // by row; all false between policies
}

// PolicyTaken is what one policy leaves.
type PolicyTaken struct {
	Requests, Admitted int64
	Hour, Day          Stretch // in which one client had most of them admitted; of several the earliest, then the first by name
}

// taken is what one client got.
type taken struct{ hour, day busy }

// busy is the time of some length in which a client had most requests admitted.
type busy struct {
	most     Stretch
	admitted limit.State // its ring: when, in the last such time
}

// NewTaken returns one that has seen nothing.
func NewTaken(action string, t *traffic.Tables, policies []policy.Policy) *Taken {
	return &Taken{Action: action, Policies: make([]PolicyTaken, len(policies)), tables: t, clients: make([]Paged[taken], len(policies))}
}

// Name is the action as the log has it.
func (t *Taken) Name() string {
	if id, known := t.tables.FindAction(t.Action); known {
		return t.tables.Actions.Name(id)
	}
	return t.Action
}

// Observe implements Observer.
func (t *Taken) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	action, known := t.tables.FindAction(t.Action)
	if b.Warm || !known {
		return nil
	}
	n := t.tables.Clients.Len()
	t.group.Sort(b, b.Client, n)
	t.refused = grow(t.refused, b.Len())
	for i := range t.Policies {
		t.clients[i].Grow(n)
		for _, row := range verdicts[i].Refused {
			t.refused[row] = true
		}
		t.take(i, b, uint16(action))
		for _, row := range verdicts[i].Refused {
			t.refused[row] = false
		}
	}
	return nil
}

// take takes in what a policy leaves of a batch.
func (t *Taken) take(i int, b *traffic.Batch, action uint16) {
	p := &t.Policies[i]
	var start int32
	for k, end := range t.group.Ends {
		client := t.group.Keys[k]
		for j := start; j < end; j++ {
			row, at := t.group.Rows[j], t.group.At[j]
			if b.Action[row] != action {
				continue
			}
			p.Requests++
			if t.refused[row] {
				continue
			}
			p.Admitted++
			got := t.clients[i].At(client)
			got.hour.admit(client, at, limit.Hour)
			got.day.admit(client, at, limit.Day)
		}
		start = end
	}
}

// admit counts a request that was admitted, in a span of some length: what came a whole one before is not in it. One that came too
// late counts as if it came with the latest.
func (f *busy) admit(client int32, at, length limit.Time) {
	if r := f.admitted.Ring(); r.Len() > 0 {
		at = max(at, r.Nth(r.Len()-1))
	}
	r := f.admitted.Push(at, length)
	r.Expire(at, length)
	if n := int64(r.Len()); n > f.most.Requests {
		f.most = Stretch{Client: client, Requests: n, First: r.Oldest(), Last: at}
	}
}

// Finish finds the most of all clients.
func (t *Taken) Finish() {
	for i := range t.Policies {
		p := &t.Policies[i]
		for id := range int32(t.clients[i].Len()) {
			got := t.clients[i].At(id)
			t.most(&p.Hour, got.hour.most)
			t.most(&p.Day, got.day.most)
		}
	}
}

// most puts s in the place of a stretch with fewer requests, or with as many if it comes before.
func (t *Taken) most(most *Stretch, s Stretch) {
	name := t.tables.Clients.Name
	if s.Requests == 0 || most.Requests > 0 && cmp.Or(
		cmp.Compare(most.Requests, s.Requests), cmp.Compare(s.First, most.First), strings.Compare(name(s.Client), name(most.Client))) > 0 {
		return
	}
	*most = s
}
