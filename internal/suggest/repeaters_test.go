package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// A replay of the requests of repeaters hits the clients that a replay of all requests hits, whether most come once or again.
func TestReplayOfRepeaters(t *testing.T) {
	for _, clients := range []int{100, 4000} {
		t.Run(fmt.Sprintf("%d clients", clients), func(t *testing.T) {
			rng, tables := testneeds.Rand(t, 3, uint64(clients)), traffic.NewTables()
			tables.Agents.ID([]byte("curl/8"))
			tables.Actions.ID([]byte("/"))
			var tallies traffic.Tallies
			var b traffic.Batch
			for range 3000 {
				name := fmt.Append(nil, "client ", rng.IntN(clients))
				b.Client = append(b.Client, tables.Clients.ID(name))
				b.At = append(b.At, limit.Time(len(b.At)/4)*limit.Second)
				b.Agent, b.Action = append(b.Agent, 0), append(b.Action, 0)
				b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
			}
			var group traffic.Group
			group.Sort(&b, b.Client, tables.Clients.Len())
			tallies.Count(&b, &group, tables)
			d := Advisor{Tables: tables, Found: &replay.Result{Clients: &tallies.Clients}}
			r := d.repeaters()
			if r.all != (clients == 100) {
				t.Fatalf("requests of all are replayed: %v", r.all)
			}
			policies, err := policy.ParseLimits([]string{"window:1/1h", "token:1/m,burst=1", "fixed:2/10m"}, request.ByClient)
			if err != nil {
				t.Fatal(err)
			}
			judge := func(of func(*traffic.Batch) *traffic.Batch, tables *traffic.Tables) []replay.PolicyTally {
				e := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: ingest.DefaultLateness})
				for i := 0; i < b.Len(); i += 1000 {
					part := traffic.NewBatch(1000, traffic.Columns{})
					part.Take(&b, i, min(b.Len(), i+1000))
					if err := e.Judge(of(part)); err != nil {
						t.Fatal(err)
					}
				}
				return e.Result(ingest.Stats{}).Policies
			}
			some := judge(r.of, r.tables)
			for i, want := range judge(func(b *traffic.Batch) *traffic.Batch { return b }, tables) {
				if got := byClient(r.hits(&some[i].Hits)); !maps.Equal(got, byClient(&want.Hits)) || len(got) == 0 {
					t.Errorf("%s hits %d clients, want %d, or others", want.Policy.Name, len(got), want.Hits.Len())
				}
			}
		})
	}
}

func byClient(hits *replay.Hits) map[int32]replay.Hit {
	all := map[int32]replay.Hit{}
	for hit := range hits.All() {
		all[hit.Client] = hit
	}
	return all
}

// What a server refuses, in its own arithmetic, it refuses only to clients that may need more of its family, as far as
// the nearest curve tells.
func TestMostNeeded(t *testing.T) {
	tables := traffic.NewTables()
	b := requestsOfPaces(testneeds.Rand(t, 11, 7), tables)
	for _, name := range servers.Names() {
		s, err := servers.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, f := range MarketOf(s, func(sweep.Shape) bool { return true }).families {
			curves := sweep.New(sweep.Options{
				Tables: tables, Kinds: []sweep.Kind{f.shape.Kind}, Periods: []limit.Time{f.shape.Per}, Rates: []sweep.Rate{f.shape.Rate},
				Lateness: ingest.DefaultLateness, Group: func(int32) uint8 { return 0 },
			})
			curves.Take(b)
			needs := map[int32]int64{}
			curves.Needs([]int{0}, func(_ int, client int32, need int64) { needs[client] = need })
			sent := map[int32]int64{}
			for _, client := range b.Client {
				sent[client]++
			}
			for _, n := range []int64{1, 2, 4, 9, 20, 60, 200} {
				text, ok := f.text(n)
				if !ok {
					continue
				}
				policies, err := policy.ParseLimits([]string{text}, request.ByClient)
				if err != nil {
					t.Fatal(err)
				}
				e := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: ingest.DefaultLateness})
				if err := e.Judge(b); err != nil {
					t.Fatal(err)
				}
				for hit := range e.Result(ingest.Stats{}).Policies[0].Hits.All() {
					refused++
					if most := f.mostNeeded(needs[hit.Client], sent[hit.Client]); most <= n {
						t.Errorf("%s refuses %d of %d requests of a client that needs %d of the curve, at most %d of the server",
							text, hit.Refused, sent[hit.Client], needs[hit.Client], most)
					}
				}
			}
		}
		if refused < 100 {
			t.Errorf("%s refuses %d clients something: that proves nothing", name, refused)
		}
	}
}

// requestsOfPaces are the requests of clients that send one after the other at some pace, or several at a time, for
// minutes or days.
func requestsOfPaces(rng *rand.Rand, tables *traffic.Tables) *traffic.Batch {
	tables.Agents.ID([]byte("curl/8"))
	tables.Actions.ID([]byte("/"))
	b := new(traffic.Batch)
	for id := range 60 {
		client := tables.Clients.ID(fmt.Append(nil, "client ", id))
		at := limit.Time(rng.IntN(600)) * limit.Second
		most := 1 + rng.IntN(1+rng.IntN(30))
		pace, count := limit.Time(1+rng.IntN(1<<rng.IntN(13)))*limit.Second, 1+rng.IntN(200)
		switch id % 6 {
		case 0: // for long, and with stamps that are rounded otherwise by each server
			pace, count = pace/37+1, 20*count
		case 1: // by what is slower than a rate, and faster than what nginx makes of it
			most, pace, count = 1, limit.Minute+limit.Time(rng.IntN(2000))*limit.Millisecond, 20*count
		}
		for range count {
			for range 1 + rng.IntN(most) {
				b.At, b.Client = append(b.At, at), append(b.Client, client)
				b.Agent, b.Action = append(b.Agent, 0), append(b.Action, 0)
				b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
			}
			at += pace
		}
	}
	var sorted traffic.Batch
	order := make([]int32, b.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(b.At[x], b.At[y]) })
	sorted.Append(b, order)
	return &sorted
}
