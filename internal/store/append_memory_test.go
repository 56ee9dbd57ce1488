//go:build !nostore

package store

import (
	"fmt"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/replay"
)

// A flood from ever new addresses, as any client with IPv6 can send, makes batches of as many clients as requests. The database
// must take them in, also into a run that has many already: a batch that it cannot take in would wait forever.
func TestAppendMemoryOfFlood(t *testing.T) {
	const known, fresh = 300_000, 250_000
	path := dbPath(t)
	for from := 0; from < known; from += known / 2 {
		appendTo(t, path, flood(uint64(1+from*2/known), from, from+known/2))
	}
	appendTo(t, path, flood(3, known-fresh/2, known+fresh/2))
	if n := askNumber(t, path, "SELECT count(*) FROM client_tallies JOIN clients USING (run, client)"); n != known+fresh/2 {
		t.Errorf("%d clients were hit, want %d", n, known+fresh/2)
	}
	if n := askNumber(t, path, "SELECT count(*) FROM clients WHERE requests = 4"); n != fresh/2 {
		t.Errorf("%d clients came twice, want %d", n, fresh/2)
	}
}

// Names may be as long as traffic keeps them, and of bytes that take up four times as much when they are made printable.
func TestAppendMemoryOfLongNames(t *testing.T) {
	long := flood(1, 0, 40_000)
	for i := range long.Clients {
		long.Clients[i].Name += strings.Repeat("\xff", 480)
		if i < 20_000 {
			long.Agents = append(long.Agents, replay.AgentPart{Name: fmt.Sprint(i, strings.Repeat("\xff", 480)), Class: "tool"})
			long.Clients[i].Agent = int32(i)
		}
	}
	path := dbPath(t)
	appendTo(t, path, long)
	if n := askNumber(t, path, "SELECT count(DISTINCT name) FROM clients"); n != 40_000 {
		t.Errorf("%d clients", n)
	}
}

// flood is a batch of clients with two requests each, one of which is refused.
func flood(number uint64, from, to int) *replay.Addition {
	a := &replay.Addition{
		Tail: "tail", Number: number, Made: batchDay, First: dayOne, Last: dayOne + limit.Hour, Did: make([]replay.PolicyCounts, 1),
		Policies: []replay.PolicyText{{Name: "p", By: "client", Combine: "together"}}, Agents: []replay.AgentPart{{Name: "-", Class: "unknown"}},
		Actions: []replay.ActionPart{{Name: "/"}},
	}
	a.Sets = [][]replay.Refuser{{{Policy: 0}}}
	for i := from; i < to; i++ {
		c := replay.ClientPart{Name: fmt.Sprintf("2001:db8:%07d:8a2e:370:7334:85a3", i)}
		c.ByClass[0] = 2
		a.Events = append(a.Events, replay.Event{Client: int32(len(a.Clients)), Count: 1, At: dayOne + limit.Time(i)})
		a.Clients = append(a.Clients, c)
		a.Requests += 2
		a.Did[0].Refused++
	}
	a.Lines, a.Actions[0].Requests = a.Requests, a.Requests
	return a
}
