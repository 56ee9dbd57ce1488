package replay

import (
	"cmp"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// An ActionUsage is an Observer that counts what policies leave of the requests of one action, whether or not they may
// refuse them: the guesses of a client that tries passwords.
type ActionUsage struct {
	Action   string // as it was asked for
	Policies []PolicyUsage

	tables  *traffic.Tables
	action  match.ActionIDs // so far
	group   traffic.Group
	clients []Paged[taken] // by policy
	refused rows
}

// PolicyUsage counts the requests of the action that one policy admits.
type PolicyUsage struct {
	Requests, Admitted int64
	Hour, Day          Streak // in which one client had most of them admitted; of several the earliest, then the first by name
}

// taken counts the requests of one client that were admitted.
type taken struct{ hour, day slidingMax }

// NewActionUsage returns one that has seen nothing.
func NewActionUsage(action string, t *traffic.Tables, policies []policy.Policy) *ActionUsage {
	u := &ActionUsage{Action: action, Policies: make([]PolicyUsage, len(policies)), tables: t}
	u.reset()
	return u
}

// reset forgets what was seen.
func (t *ActionUsage) reset() {
	clear(t.Policies)
	t.clients, t.action = make([]Paged[taken], len(t.Policies)), match.ActionIDs{-1, -1}
}

// Name returns the action as the log has it.
func (t *ActionUsage) Name() string {
	return cmp.Or(match.MeantAction(t.tables.Actions, t.Action), t.Action)
}

// Observe implements Observer.
func (t *ActionUsage) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	action := match.FindActions(t.tables.Actions, t.Action)
	if action.Moved(t.action) {
		t.reset()
	}
	if t.action = action; b.Warm || action[0] < 0 {
		return nil
	}
	n := t.tables.Clients.Len()
	t.group.Sort(b, b.Client, n)
	t.refused = grow(t.refused, b.Len())
	for i := range t.Policies {
		t.clients[i].Grow(n)
		t.refused.mark(verdicts[i].Refused, func() { t.take(i, b, action) })
	}
	return nil
}

// take takes in what a policy leaves of a batch.
func (t *ActionUsage) take(i int, b *traffic.Batch, action match.ActionIDs) {
	p := &t.Policies[i]
	t.group.Each(func(client, row int32, at limit.Time) {
		if !action.Has(b.Action[row]) {
			return
		}
		p.Requests++
		if t.refused[row] {
			return
		}
		p.Admitted++
		got := t.clients[i].At(client)
		got.hour.admit(client, at, limit.Hour)
		got.day.admit(client, at, limit.Day)
	})
}

// Finish finds the most of all clients.
func (t *ActionUsage) Finish() {
	for i := range t.Policies {
		p := &t.Policies[i]
		for id := range int32(t.clients[i].Len()) {
			got := t.clients[i].At(id)
			p.Hour.yield(got.hour.most, t.tables.Clients)
			p.Day.yield(got.day.most, t.tables.Clients)
		}
	}
}
