package suggest

import (
	"fmt"
	"maps"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
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
			r := newRepeaters(tables, &tallies.Clients)
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
