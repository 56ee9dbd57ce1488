package report

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"shadow/replay"
	"shadow/report/format"
	"shadow/traffic/useragent"
)

// The n best of millions are found with room for 2n: whatever beats the n-th best so far is put aside, and when the
// room is full, its better half stays. That is one comparison for nearly every item, and log n for the rest.

// Top returns the n first of items in the order of compare, sorted.
func Top[T any](items iter.Seq[T], n int, compare func(a, b T) int) []T {
	if n <= 0 {
		return nil
	}
	var best []T
	var last T // the n-th of best, once full
	full := false
	for item := range items {
		if full && compare(item, last) >= 0 {
			continue
		}
		if best = append(best, item); len(best)/2 >= n {
			slices.SortFunc(best, compare)
			best, last, full = best[:n], best[n-1], true
		}
	}
	slices.SortFunc(best, compare)
	return best[:min(n, len(best))]
}

// Sorts are the values of --sort: by what tables of clients and actions are ordered.
func Sorts() []string { return []string{"refused", "requests", "client"} }

// A ranked is what clients and actions are ranked by.
type ranked struct {
	index             int32 // into Hits or Actions
	refused, requests int64
}

// ranking orders by refused or by requests, most first, then by the other of the two, then by name. It never asks for
// an id, which depends on the goroutine that met the name first.
func ranking(sort string, name func(index int32) string) func(a, b ranked) int {
	return func(a, b ranked) int {
		refused, requests := cmp.Compare(b.refused, a.refused), cmp.Compare(b.requests, a.requests)
		if sort == "requests" {
			refused, requests = requests, refused
		}
		if refused != 0 || requests != 0 {
			return cmp.Or(refused, requests)
		}
		return strings.Compare(name(a.index), name(b.index))
	}
}

// compareNames orders addresses by number and before all other names.
func compareNames(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(x.Compare(y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

func topClients(res *replay.Result, t *replay.PolicyTally, who *Population, b *Assessor, o Options) []Client {
	hits := func(yield func(ranked) bool) {
		for i := range int32(t.Hits.Len()) {
			hit := t.Hits.At(i)
			if !yield(ranked{i, hit.Refused, res.Clients.At(hit.Client).Requests()}) {
				return
			}
		}
	}
	name := func(index int32) string { return res.Tables.Clients.Name(t.Hits.At(index).Client) }
	clients := []Client{}
	for _, r := range Top(hits, o.Top, ranking(o.Sort, name)) {
		hit := t.Hits.At(r.index)
		clients = append(clients, Client{
			Client:         name(r.index),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			Class:          who.Class[hit.Client].String(),
			Agent:          AgentName(res.Tables.Agents, res.Clients.At(hit.Client).LastAgent),
			First:          format.Moment(hit.First),
			Last:           format.Moment(hit.Last),
			Evidence:       b.Of(hit.Client),
		})
	}
	if o.Sort == "client" {
		slices.SortFunc(clients, func(a, b Client) int { return compareNames(a.Client, b.Client) })
	}
	return clients
}

func topActions(res *replay.Result, t *replay.PolicyTally, o Options) []Action {
	hit := func(yield func(ranked) bool) {
		for id, refused := range t.ByAction {
			if refused > 0 && !yield(ranked{int32(id), refused, res.Actions[id]}) {
				return
			}
		}
	}
	actions := []Action{}
	for _, r := range Top(hit, o.Top, ranking(o.Sort, res.Tables.Actions.Name)) {
		actions = append(actions, Action{
			Action:         res.Tables.Actions.Name(r.index),
			Requests:       r.requests,
			Refused:        r.refused,
			RefusedPercent: format.PercentOf(r.refused, r.requests),
			SharePercent:   format.PercentOf(r.refused, t.Refused),
		})
	}
	if o.Sort == "client" {
		slices.SortFunc(actions, func(a, b Action) int { return strings.Compare(a.Action, b.Action) })
	}
	return actions
}

// AgentName is the name of an agent, or "" for a log without agents.
func AgentName(agents *useragent.Agents, id int32) string {
	if id < 0 || int(id) >= agents.Len() {
		return ""
	}
	return agents.Name(id)
}
