package replay

import (
	"fmt"
	"testing"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/intern"
	"shadow/traffic/useragent"
)

// Keys that are idle for longer than any limiter remembers and the lateness give back what they hold, each in its turn.
func TestIdleKeysAreForgotten(t *testing.T) {
	const lateness = 5 * limit.Minute
	policies, err := policy.ParseLimits([]string{"6/30s", "window:50/10m"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	first, second := policies[0].Parts[0], policies[3].Parts[0]
	site := first
	site.By = request.BySite
	policies = append(policies,
		policy.Policy{Name: "combined", Parts: []policy.Part{first, second}},
		policy.Policy{Name: "crossed", Parts: []policy.Part{first, site, second}})
	tables := &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict()}
	tables.Agents.ID(nil)
	tables.Actions.ID([]byte("/"))
	e := New(Options{Tables: tables, Policies: policies, Lateness: lateness})
	// judge lets the given clients send ten requests each.
	judge := func(now limit.Time, from, to int) {
		t.Helper()
		b := new(traffic.Batch)
		for client := from; client < to; client++ {
			id := tables.Clients.ID(fmt.Append(nil, client))
			for range 10 {
				b.At, b.Client, b.Agent = append(b.At, now), append(b.Client, id), append(b.Agent, 0)
				b.Action, b.Status, b.Bytes = append(b.Action, 0), append(b.Status, 200), append(b.Bytes, 1)
			}
		}
		if err := e.Judge(b); err != nil {
			t.Fatal(err)
		}
	}
	const clients = 2_000
	judge(0, 0, clients)
	// expect counts the keys that hold something.
	expect := func(when string, want int) {
		t.Helper()
		for i, c := range e.candidates {
			for j := range c.limits {
				held := 0
				for id := range min(clients, c.limits[j].states.Len()) {
					if s := c.limits[j].states.At(int32(id)); *s != (limit.State{}) {
						held++
					}
				}
				if held != want && policies[i].Parts[j].By == request.ByClient {
					t.Errorf("%s: part %d of %s holds %d states, want %d", when, j, policies[i].Name, held, want)
				}
			}
		}
	}
	expect("at once", clients)
	idle := 10*limit.Minute + lateness // of the longest
	for range clients {
		judge(idle, clients, clients+1)
	}
	expect("not yet idle for too long", clients)
	for range clients/10 + 1 { // ten requests, so ten keys have their turn
		judge(idle+1, clients, clients+1)
	}
	expect("when all have had their turn", 0)
}
