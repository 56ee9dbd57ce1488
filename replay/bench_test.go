package replay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// BenchmarkJudge judges batches of half a million requests of 50,000 clients, few of which come often. The unit is one
// request.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{3, 16} {
		b.Run(fmt.Sprintf("policies=%d", n), func(b *testing.B) {
			var limits []string
			for i := range n {
				limits = append(limits, fmt.Sprintf("%s:%d/30s", []string{"token", "leaky", "window"}[i%3], 6+i/3))
			}
			policies, err := policy.ParseLimits(limits, request.ByClient)
			check(b, err)
			batch, tables := manyRequests(b, 512<<10)
			engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: ingest.DefaultLateness})
			for i := 0; b.Loop(); i++ {
				for row := range batch.At { // the next half million
					batch.At[row] += 12 * limit.Hour
				}
				check(b, engine.Judge(batch))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Len()), "ns/request")
		})
	}
}

// BenchmarkPolicies judges the same batches by a client's two limits in all the ways that a policy can have them. Half of
// the clients are in one tier, half in another.
func BenchmarkPolicies(b *testing.B) {
	tight, wide := part(b, "token:6/30s"), part(b, "token:60/1h")
	loose, idle := part(b, "token:1000/30s"), part(b, "token:60000/1h")
	strict, hourly := part(b, "token:1/10m"), part(b, "window:3/1h")
	basic, pro := tight, wide
	basic.Match, basic.Count, pro.Match, pro.Count = 1, 1, 2, 2
	site := part(b, "token:12/1s")
	site.By = request.BySite
	for _, c := range []struct {
		name     string
		policies []policy.Policy
	}{
		{"each alone", []policy.Policy{{Parts: []policy.Part{tight}}, {Parts: []policy.Part{wide}}}},
		{"combined", []policy.Policy{{Parts: []policy.Part{tight, wide}}}},
		{"combined, none refused", []policy.Policy{{Parts: []policy.Part{loose, idle}}}},
		{"strict, each alone", []policy.Policy{{Parts: []policy.Part{strict}}, {Parts: []policy.Part{hourly}}}},
		{"strict, combined", []policy.Policy{{Parts: []policy.Part{strict, hourly}}}},
		{"tiers", []policy.Policy{{Parts: []policy.Part{basic, pro}}}},
		{"client and site", []policy.Policy{{Parts: []policy.Part{tight, site}}}},
	} {
		b.Run(c.name, func(b *testing.B) { benchPolicies(b, c.policies) })
	}
}

func part(t testing.TB, text string) policy.Part {
	return policiesOf(t, text, request.ByClient)[0].Parts[0]
}

func benchPolicies(b *testing.B, policies []policy.Policy) {
	batch, tables := manyRequests(b, 512<<10)
	for _, client := range batch.Client {
		batch.Marks = append(batch.Marks, 1<<(client%2))
	}
	engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: ingest.DefaultLateness})
	for b.Loop() {
		for row := range batch.At {
			batch.At[row] += 12 * limit.Hour
		}
		check(b, engine.Judge(batch))
	}
	refused := float64(engine.Result(ingest.Stats{}).Policies[0].Refused)
	b.ReportMetric(100*refused/float64(b.N)/float64(batch.Len()), "%refused")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Len()), "ns/request")
}

// manyRequests returns a batch that lasts half a day.
func manyRequests(t testing.TB, rows int) (*traffic.Batch, *traffic.Tables) {
	const clients = 50_000
	tables := traffic.NewTables()
	for i := range clients {
		tables.Clients.ID(fmt.Appendf(nil, "192.0.2.%d", i))
	}
	tables.Agents.ID(nil)
	tables.Actions.ID([]byte("/"))
	rng := testneeds.Rand(t, 1, 2)
	zipf := rand.NewZipf(rng, 1.1, 50, clients-1)
	b := &traffic.Batch{
		Agent: make([]uint16, rows), Action: make([]uint16, rows), Status: make([]uint16, rows), Bytes: make([]int64, rows),
	}
	for i := range rows {
		b.At = append(b.At, limit.Time(i)*12*limit.Hour/limit.Time(rows))
		b.Client = append(b.Client, int32(zipf.Uint64()))
	}
	return b, tables
}
