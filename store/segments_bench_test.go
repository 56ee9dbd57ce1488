//go:build !nostore

package store

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/store/duck"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// Ways in which a tail could keep its batches, see docs/decisions/0022-segments.md. A day of a batch every ten seconds:
//
//	go test ./store -run '^$' -bench TailDay -benchtime 8640x -timeout 1h
//
// ns/op is the time that a batch takes to be stored, last-ms the median of the last fiftieth of the batches, report-ms the
// time to read the day back, MB the file.
func BenchmarkTailDay(b *testing.B) {
	for _, way := range []struct {
		name   string
		open   func(b *testing.B, s *Store)
		keep   func(b *testing.B, s *Store, a *replay.Addition)
		report func(b *testing.B, path string, batches int) (clients int)
	}{
		{"one run that grows", func(*testing.B, *Store) {}, growRun, loadGrown},
		{"a run each", func(*testing.B, *Store) {}, runEach, loadGrown},
		{"a row each", makeSegments, rowEach, addSegments},
	} {
		b.Run(way.name, func(b *testing.B) {
			rng, path, clients := testneeds.Rand(b, 5, 5), dbPath(b), map[string]bool{}
			s, number, took := openStore(b, path), 0, []time.Duration(nil)
			way.open(b, s)
			for b.Loop() {
				b.StopTimer()
				number++
				a := tailBatch(rng, number, clients)
				b.StartTimer()
				began := time.Now()
				way.keep(b, s, a)
				took = append(took, time.Since(began))
			}
			b.StopTimer()
			check(b, s.Close())
			file, err := os.Stat(path)
			check(b, err)
			began := time.Now()
			if n := way.report(b, path, number); n != len(clients) {
				b.Errorf("%d clients, want %d", n, len(clients))
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds()), "report-ms")
			b.ReportMetric(float64(file.Size())/1e6, "MB")
			last := took[len(took)-max(1, len(took)/50):]
			slices.Sort(last)
			b.ReportMetric(float64(last[len(last)/2].Microseconds())/1e3, "last-ms")
		})
	}
}

// tailBatch is what comes in ten seconds of 50 requests a second: 150 clients of 50,000, some more often than others, 20
// would-blocks.
func tailBatch(rng *rand.Rand, number int, clients map[string]bool) *replay.Addition {
	at := dayOne + limit.Time(number)*10*limit.Second
	a := &replay.Addition{
		Tail: "tail", Number: uint64(number), Made: time.UnixMicro(int64(dayOne)).Add(time.Duration(number) * time.Second),
		Lines: 500, Bytes: 100_000, Requests: 500, First: at, Last: at + 9*limit.Second, Resolution: limit.Second,
		Refused: make([]int64, 3), Saved: make([]int64, 3),
		Inputs: []replay.InputPart{{Name: "access.log", Format: "combined", FormatText: "%h", Lines: 500, Parsed: 500}},
	}
	for i := range 3 {
		name := fmt.Sprintf("token:%d/30s", i+3)
		a.Policies = append(a.Policies, replay.PolicyText{Name: name, By: "client", Combine: "together", Parts: []replay.PartText{
			{By: "client", Algorithm: "token", Text: name, Count: int64(i + 3), Period: int64(30 * limit.Second)},
		}})
	}
	for i := range 30 {
		a.Agents = append(a.Agents, replay.AgentPart{Name: fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", i, i), Class: "browser"})
	}
	for i := range 40 {
		a.Actions = append(a.Actions, replay.ActionPart{Name: fmt.Sprintf("/section/%d", i), Requests: 12})
	}
	zipf, here := rand.NewZipf(rng, 1.1, 10, 49_999), map[uint64]bool{}
	for len(here) < 150 {
		id := zipf.Uint64()
		if here[id] {
			continue
		}
		here[id] = true
		name := fmt.Sprintf("198.51.%d.%d", id>>8, id&255)
		clients[name] = true
		a.Clients = append(a.Clients, replay.ClientPart{Name: name, Agent: int32(id % 30), ByClass: [request.ClassCount]int64{request.Browser: 3}})
	}
	for i := range 20 {
		e := replay.Event{Policy: int32(i % 3), Client: int32(rng.IntN(150)), Action: int32(rng.IntN(40)), Status: 200, Count: 1, At: at + limit.Time(i/3)*limit.Second}
		a.Events = append(a.Events, e)
		a.Refused[e.Policy]++
	}
	return a
}

// growRun appends the batch to the run in place, as a tail does.
func growRun(b *testing.B, s *Store, a *replay.Addition) {
	_, err := s.Append(context.Background(), info, []*replay.Addition{a})
	check(b, err)
}

// runEach stores the batch as a small run of its own.
func runEach(b *testing.B, s *Store, a *replay.Addition) {
	res := &replay.Result{Tables: traffic.NewTables(), Clients: new(replay.Paged[replay.ClientTally])}
	for _, agent := range a.Agents {
		res.Tables.Agents.ID([]byte(agent.Name))
	}
	res.Clients.Grow(len(a.Clients))
	for i, c := range a.Clients {
		res.Tables.Clients.ID([]byte(c.Name))
		*res.Clients.At(int32(i)) = replay.ClientTally{ByClass: c.ByClass, LastAgent: c.Agent}
	}
	for _, action := range a.Actions {
		res.Tables.Actions.ID([]byte(action.Name))
		res.Actions = append(res.Actions, action.Requests)
	}
	for i, p := range a.Policies {
		t := madePolicy(2 * i)
		t.Policy.Name, t.Range, t.Requests, t.Refused, t.ByAction = p.Name, nil, a.Requests, a.Refused[i], make([]int64, len(a.Actions))
		res.Policies = append(res.Policies, t)
	}
	for i := range a.Events {
		e := &a.Events[i]
		p := &res.Policies[e.Policy]
		p.ByAction[e.Action]++
		p.Hits.Add(e.Client, 1, e.At, e.At)
	}
	res.Stats = ingest.Stats{
		Lines: a.Lines, Bytes: a.Bytes, Parsed: a.Lines, FirstAt: a.First, LastAt: a.Last, Resolution: a.Resolution, HasAgents: true,
		Inputs: []ingest.InputStats{{Name: "access.log", Format: "combined", Lines: a.Lines, Parsed: a.Lines}},
	}
	run, err := s.Begin(context.Background(), info)
	check(b, err)
	check(b, run.Write(a.Events))
	check(b, run.Finish(res, finished))
}

// loadGrown reads all runs as one.
func loadGrown(b *testing.B, path string, _ int) int {
	r, err := OpenReader(context.Background(), path, Wait{})
	check(b, err)
	defer r.Close()
	runs, err := duck.List[int32](r.duck, "SELECT run FROM runs ORDER BY run")
	check(b, err)
	l, err := r.Load(runs)
	check(b, err)
	return l.Result.Clients.Len()
}

func makeSegments(b *testing.B, s *Store) {
	check(b, s.duck.Exec("CREATE TABLE segments (run INTEGER, batch BIGINT, body BLOB)"))
}

// rowEach stores the batch as one row.
func rowEach(b *testing.B, s *Store, a *replay.Addition) {
	var body bytes.Buffer
	check(b, gob.NewEncoder(&body).Encode(a))
	check(b, s.transact(context.Background(), func() error {
		w := s.duck.Writer()
		w.Add("segments", int32(1), int64(a.Number), body.Bytes())
		return w.Done()
	}))
}

// addSegments reads the rows and adds up, once, what a report needs of clients and hits.
func addSegments(b *testing.B, path string, batches int) int {
	r, err := OpenReader(context.Background(), path, Wait{})
	check(b, err)
	defer r.Close()
	type sums struct {
		byClass [request.ClassCount]int64
		hits    [3]int64
	}
	clients, actions, n := map[string]*sums{}, map[string]int64{}, 0
	check(b, duck.Each(r.duck, "SELECT body FROM segments ORDER BY batch", func(body *[]byte) error {
		var a replay.Addition
		if err := gob.NewDecoder(bytes.NewReader(*body)).Decode(&a); err != nil {
			return err
		}
		of := make([]*sums, len(a.Clients))
		for i, c := range a.Clients {
			if of[i] = clients[c.Name]; of[i] == nil {
				of[i] = new(sums)
				clients[c.Name] = of[i]
			}
			for class, k := range c.ByClass {
				of[i].byClass[class] += k
			}
		}
		for _, action := range a.Actions {
			actions[action.Name] += action.Requests
		}
		for _, e := range a.Events {
			of[e.Client].hits[e.Policy] += int64(e.Count)
		}
		n++
		return nil
	}))
	if n != batches {
		b.Errorf("%d batches, want %d", n, batches)
	}
	return len(clients)
}
