package replay

import (
	"fmt"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
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

// Of keys that come within a batch, and are idle for too long by its end, nothing is kept. What the others have sent
// counts in the next batch.
func TestBriefKeysAreNotKept(t *testing.T) {
	const lateness = 5 * limit.Minute
	const idle = 30*limit.Second + lateness
	policies, err := policy.ParseLimits([]string{"6/30s"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	tables := &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict()}
	tables.Clients.ID([]byte("brief"))
	tables.Clients.ID([]byte("last"))
	tables.Agents.ID(nil)
	tables.Actions.ID([]byte("/"))
	for _, c := range []struct {
		last    limit.Time // request of the batch
		held    int
		refused int64
	}{{limit.Second, 2, 1}, {idle, 2, 0}, {idle + 1, 1, 0}} {
		e := New(Options{Tables: tables, Policies: policies, Lateness: lateness})
		judge := func(clients []int32, at ...limit.Time) {
			n := len(at)
			b := &traffic.Batch{
				At: at, Client: clients,
				Agent: make([]uint16, n), Action: make([]uint16, n), Status: make([]uint16, n), Bytes: make([]int64, n),
			}
			if err := e.Judge(b); err != nil {
				t.Fatal(err)
			}
		}
		judge([]int32{0, 0, 0, 0, 0, 0, 1}, 0, 0, 0, 0, 0, 0, c.last)
		for _, of := range e.candidates {
			held := 0
			for id := range int32(2) {
				if *of.limits[0].states.At(id) != (limit.State{}) {
					held++
				}
			}
			if held != c.held {
				t.Errorf("%s holds %d states behind a request at %d, want %d", of.policy.Name, held, c.last, c.held)
			}
		}
		judge([]int32{0}, c.last)
		for _, p := range e.Result(ingest.Stats{}).Policies {
			if p.Refused != c.refused {
				t.Errorf("%s refuses %d requests at %d, want %d", p.Policy.Name, p.Refused, c.last, c.refused)
			}
		}
	}
}
