package report

import (
	"testing"

	"shadow/internal/request"
	"shadow/replay"
	"shadow/report/reporttest"
)

// TestNewPopulation: a client goes to the class of most of its requests, with all of them; one without a counted request
// (excluded, or only warm) is no client.
func TestNewPopulation(t *testing.T) {
	res := reporttest.Nobody()
	crowd(res, "mostly a tool", "a", 2, 0, 5)
	crowd(res, "a tie", "b", 3, 0, 3)
	crowd(res, "warm only", "c")
	res.Policies = make([]replay.PolicyTally, 1)
	reporttest.Hit(&res.Policies[0], 0, 7, 4)
	reporttest.Hit(&res.Policies[0], 1, 6, 0)
	m := New(res, Options{})
	want := PerClass[ClassFigures]{request.Browser: {6, 0, 1, 0}, request.Tool: {7, 4, 1, 1}}
	if got := m.Policies[0].ByClass; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if in := m.Input; in.Clients != 2 || in.Requests != 13 || m.Policies[0].Clients != 2 {
		t.Errorf("%d requests of %d clients, want 13 of 2", in.Requests, in.Clients)
	}
}

// crowd adds a client with so many requests per class.
func crowd(res *replay.Result, name, agent string, byClass ...int64) {
	id := res.Tables.Clients.ID([]byte(name))
	res.Clients.Grow(int(id) + 1)
	tally := res.Clients.At(id)
	copy(tally.ByClass[:], byClass)
	tally.LastAgent = res.Tables.Agents.ID([]byte(agent))
}
