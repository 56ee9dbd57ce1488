package sweep_test

import (
	"fmt"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

func options(tables *traffic.Tables) sweep.Options {
	return sweep.Options{
		Tables: tables, Kinds: []sweep.Kind{sweep.Window, sweep.Fixed, sweep.WindowAll, sweep.Token},
		Periods: sweep.DefaultPeriods(), Rates: sweep.DefaultRates(request.ByClient), Bursts: sweep.DefaultBursts(),
		Lateness: ingest.DefaultLateness, Workers: 1,
	}
}

// manyRequests are n requests over a day of some clients, few of which come often.
func manyRequests(t testing.TB, n, clients int) (*traffic.Batch, *traffic.Tables) {
	tables, b := traffic.NewTables(), new(traffic.Batch)
	tables.Agents.ID([]byte("curl/8"))
	tables.Actions.ID([]byte("/"))
	rng := testneeds.Rand(t, 1, 2)
	for i := range clients {
		tables.Clients.ID(fmt.Append(nil, i))
	}
	for i := range n {
		b.At = append(b.At, limit.Day*limit.Time(i)/limit.Time(n)/limit.Second*limit.Second)
		b.Client = append(b.Client, int32(float64(clients)*rng.Float64()*rng.Float64()*rng.Float64()))
		b.Agent, b.Action = append(b.Agent, 0), append(b.Action, 0)
		b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, 1)
	}
	return b, tables
}

// Once the sweep has met what comes, nothing is allocated per request.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	b, tables := manyRequests(t, 20_000, 300)
	s := sweep.New(options(tables))
	next := func() {
		for i := range b.At {
			b.At[i] += 2 * limit.Day
		}
		s.Take(b)
	}
	for range 5 {
		next()
	}
	if n := testing.AllocsPerRun(5, next); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

// BenchmarkSweep is all default curves; the unit is one request.
func BenchmarkSweep(b *testing.B) {
	for _, clients := range []int{50_000, 1} { // half a million requests a day of one client, at worst
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			batch, tables := manyRequests(b, 512<<10, clients)
			s := sweep.New(options(tables))
			for b.Loop() {
				for i := range batch.At {
					batch.At[i] += limit.Day
				}
				s.Take(batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Len()), "ns/request")
		})
	}
}

// Without requests there are curves without points; with warm ones only, too.
func TestNothing(t *testing.T) {
	b, tables := manyRequests(t, 100, 3)
	for _, warm := range []bool{true, false} {
		s := sweep.New(options(tables))
		if b.Warm = warm; warm {
			s.Take(b)
		}
		r := s.Result(ingest.Stats{})
		if len(r.Curves) != 3*8+20 {
			t.Errorf("%d curves", len(r.Curves))
		}
		for _, c := range r.Curves {
			if len(c.Points) > 0 {
				t.Errorf("%s has points %v", c.Limit(1), c.Points)
			}
		}
	}
}
