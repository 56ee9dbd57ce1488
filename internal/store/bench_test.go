//go:build !nostore

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/replay"
)

// threeSets are three policies, each by itself.
var threeSets = func() (sets replay.Sets) {
	for p := range int32(3) {
		sets.ID([]replay.Refuser{{Policy: p}})
	}
	return sets
}()

// batch is as many events as a replay hands over at a time, in time order, of Zipf-like clients.
func batch(t testing.TB, n int) []replay.Event {
	rng := testneeds.Rand(t, 7, 7)
	zipf := rand.NewZipf(rng, 1.1, 10, 49_999)
	events := make([]replay.Event, n)
	for i := range events {
		events[i] = replay.Event{
			Set: int32(i % 3), Client: int32(zipf.Uint64()), Action: int32(rng.IntN(40)), Status: 200, Count: 1,
			At: dayOne + limit.Time(i/20)*limit.Second,
		}
	}
	return events
}

// BenchmarkWriteEvents measures a run from Begin to the end of Finish, with all that lands.
func BenchmarkWriteEvents(b *testing.B) {
	events := batch(b, 1<<16)
	for b.Loop() {
		b.StopTimer()
		s, res := openStore(b, dbPath(b)), emptyResult(b, 3)
		b.StartTimer()
		loadEvents(b, s, res, events, 64) // 4 M
	}
	b.ReportMetric(float64(b.N)*64*float64(len(events))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// loadEvents stores a run that has the same events over and over, each time later.
func loadEvents(t testing.TB, s *Store, res *replay.Result, events []replay.Event, times int) {
	t.Helper()
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		t.Fatal(err)
	}
	shift := events[len(events)-1].At - events[0].At + limit.Second
	for range times {
		if err := r.Write(events, &threeSets); err != nil {
			t.Fatal(err)
		}
		tally(res, events)
		for i := range events {
			events[i].At += shift
		}
	}
	if err := r.Finish(res, finished); err != nil {
		t.Fatal(err)
	}
}

// tally counts events as refused.
func tally(res *replay.Result, events []replay.Event) {
	for i := range events {
		res.Policies[events[i].Set].Refused += int64(events[i].Count)
	}
}

// emptyResult has 50,000 clients, 265 agents and 40 actions, and tallies of nothing.
func emptyResult(t testing.TB, policies int) *replay.Result {
	m := makeRun(t, 1, policies, 1, 0)
	res := &m.result
	res.Tables.Clients, res.Tables.Agents = intern.NewDict(), useragent.NewAgents()
	for i := range 265 {
		res.Tables.Agents.ID(fmt.Appendf(nil, "Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", i, i))
	}
	res.Clients.Grow(50_000)
	for i := range int32(50_000) {
		res.Tables.Clients.ID(fmt.Appendf(nil, "10.%d.%d.%d", i%199, i/199%256, i%7))
		*res.Clients.At(i) = replay.ClientTally{LastAgent: i % 265}
		res.Clients.At(i).ByClass[request.Browser] = 1
	}
	for len(res.Actions) < 40 {
		res.Tables.Actions.ID(fmt.Appendf(nil, "action %d", len(res.Actions)))
		res.Actions = append(res.Actions, 0)
	}
	return res
}
