package suggest_test

import (
	"fmt"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
)

// A sent of a made-up log.
type sent struct {
	at     limit.Time
	client int
	agent  string
}

// Agents of three groups.
const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
	curl    = "curl/8.5.0"
	crawler = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
)

// batch is the requests in time order.
func batch(tables *traffic.Tables, requests []sent) *traffic.Batch {
	slices.SortStableFunc(requests, func(x, y sent) int { return int(x.at - y.at) })
	b := new(traffic.Batch)
	tables.Actions.ID([]byte("/"))
	for _, r := range requests {
		b.At = append(b.At, r.at)
		b.Client = append(b.Client, tables.Clients.ID(fmt.Append(nil, "client ", r.client)))
		b.Agent = append(b.Agent, uint16(tables.Agents.ID([]byte(r.agent))))
		b.Action, b.Status, b.Bytes = append(b.Action, 0), append(b.Status, 200), append(b.Bytes, 1)
		b.Clues = append(b.Clues, traffic.Clue{Traits: traffic.Stepped | traffic.Asked})
	}
	return b
}

// replayed returns what a replay finds of some limits, and of clients.
func replayed(t testing.TB, tables *traffic.Tables, b *traffic.Batch, limits ...string) *replay.Result {
	policies, err := policy.ParseLimits(limits, request.ByClient)
	check(t, err)
	e := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: ingest.DefaultLateness})
	check(t, e.Judge(b))
	return e.Result(ingest.Stats{})
}

// labelsOf takes clients for what their agents claim.
func labelsOf(t testing.TB, tables *traffic.Tables, b *traffic.Batch) who.Identities {
	clients := replayed(t, tables, b).Clients
	labels := make(who.Identities, clients.Len())
	for id := range labels {
		labels[id] = map[request.Class]who.Identity{
			request.Browser: who.Person, request.Tool: who.Program, request.Crawler: who.Crawler,
		}[clients.At(int32(id)).Class()]
	}
	return labels
}

// part is a part of the log with its curves.
func part(b *traffic.Batch, labels who.Identities, o sweep.Options) *suggest.Part {
	s := sweep.New(o)
	s.Take(b)
	placements, clients, requests := suggest.Curves(s, labels)
	p := &suggest.Part{Clients: clients, Requests: requests, Placements: placements}
	if n := b.Len(); n > 0 {
		p.First, p.Last = b.At[0], b.At[n-1]
	}
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
