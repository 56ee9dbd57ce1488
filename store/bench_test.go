package store

import (
	"context"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/replay"
	"shadow/traffic"
)

// batch is as many events as a replay hands over at a time, in time order, of Zipf-like clients.
func batch(n int) []replay.Event {
	rng := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(rng, 1.1, 10, 49_999)
	events := make([]replay.Event, n)
	for i := range events {
		events[i] = replay.Event{
			Policy: int32(i % 3), Client: int32(zipf.Uint64()), Action: int32(rng.IntN(40)), Status: 200, Count: 1,
			At: dayOne + limit.Time(i/20)*limit.Second,
		}
	}
	return events
}

// BenchmarkWriteEvents measures a run from Begin to the end of Finish, commit and checkpoint among them.
func BenchmarkWriteEvents(b *testing.B) {
	events := batch(1 << 16)
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, dbPath(b))
		b.StartTimer()
		loadEvents(b, s, events, 64) // 4 M
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*64*float64(len(events))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// loadEvents stores a run that has the same events over and over, each time later.
func loadEvents(t testing.TB, s *Store, events []replay.Event, times int) {
	t.Helper()
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		t.Fatal(err)
	}
	res := emptyResult(3)
	shift := events[len(events)-1].At - events[0].At + limit.Second
	for range times {
		if err := r.Write(events); err != nil {
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
		res.Policies[events[i].Policy].Refused += int64(events[i].Count)
	}
}

// emptyResult has 50,000 clients and 40 actions with names, and tallies of nothing.
func emptyResult(policies int) *replay.Result {
	m := makeRun(1, policies, 50_000, 0)
	for len(m.result.Actions) < 40 {
		m.result.Tables.Actions.ID([]byte{byte(len(m.result.Actions))})
		m.result.Actions = append(m.result.Actions, 0)
	}
	for i := range m.result.Clients.Len() {
		m.result.Clients.At(int32(i)).ByClass[traffic.Browser] = 1
	}
	return &m.result
}
