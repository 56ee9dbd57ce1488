package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/traffictest"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/replay"
)

// Refused requests that share everything are one event, and no other are.
func TestEqualEventsShareARow(t *testing.T) {
	b := newBench(t, lateness, request.BySite, "window:1/1h")
	var lines []line
	for i := range 40 {
		lines = append(lines, line{
			at: second * limit.Time(i/20), client: []string{"a", "b"}[i%2], action: []string{"/x", "/y"}[i/2%2], status: []uint16{200, 404}[i/4%2],
		})
	}
	b.judge(lines)
	b.result()
	rows, sum := map[event]bool{}, uint32(0)
	for _, e := range b.events {
		sum += e.Count
		e.Count = 0
		if rows[e] {
			t.Errorf("two rows of %+v", e)
		}
		rows[e] = true
	}
	if sum != 39 || len(rows) != 16 {
		t.Errorf("%d rows of %d requests, want 16 of 39", len(rows), sum)
	}
}

// Events of a long timeline come in parts, and none is lost between them.
func TestEventsComeInParts(t *testing.T) {
	b := newBench(t, lateness, request.BySite, "window:1/24h")
	parts := parts{bench: b}
	b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policiesOf(t, "window:1/24h", request.BySite), Lateness: lateness, Sink: &parts, EventPolicies: 1})
	var lines []line
	for i := range 100_000 {
		lines = append(lines, line{at: limit.Time(i) * limit.Millisecond, client: "a"})
	}
	b.judge(lines)
	if r := b.result(); r.Policies[0].Refused != 99_999 || len(b.events) != 99_999 {
		t.Errorf("%d refused, %d events", r.Policies[0].Refused, len(b.events))
	}
	if parts.most > 20_000 {
		t.Errorf("%d events at once", parts.most)
	}
}

func policiesOf(t testing.TB, text string, by request.Key) []policy.Policy {
	policies, err := policy.ParseLimits([]string{text}, by)
	check(t, err)
	return policies
}

// A sink that notes how much comes at once.
type parts struct {
	*bench
	most int
}

func (p *parts) Write(events []replay.Event, sets *replay.Sets) error {
	p.most = max(p.most, len(events))
	return p.bench.Write(events, sets)
}

// A sink that is full ends the run with its own error.
func TestSinkFails(t *testing.T) {
	full := errors.New("disk full")
	for _, n := range []int{2, 50_000} { // at the end, and on the way
		b := newBench(t, lateness, request.BySite)
		engine := replay.New(replay.Options{
			Tables: b.tables, Policies: policiesOf(t, "window:1/24h", request.BySite), Lateness: lateness, Sink: failing{full}, EventPolicies: 1,
		})
		if err := engine.Run(&once{b.batch(at("c", times(n)...))}); err != full {
			t.Errorf("%d requests: %v", n, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]replay.Event, *replay.Sets) error { return f.err }

// once is a source of one batch.
type once struct{ batch *traffic.Batch }

func (o *once) Next() (b *traffic.Batch, err error) {
	if b, o.batch = o.batch, nil; b == nil {
		return nil, io.EOF
	}
	return b, nil
}

func times(n int) (times []limit.Time) {
	for i := range n {
		times = append(times, limit.Time(i)*limit.Millisecond)
	}
	return times
}

// Only the first policies have events; all have tallies.
func TestEventPolicies(t *testing.T) {
	policies := slices.Concat(policiesOf(t, "window:1/1m", request.BySite), policiesOf(t, "window:2/1m", request.BySite))
	b := newBenchOf(t, lateness, policies)
	b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Sink: b, EventPolicies: 1})
	b.judge(at("c", 0, 0, 0))
	r := b.result()
	if len(b.events) != 1 || b.events[0].policy != 0 || b.events[0].Count != 2 {
		t.Errorf("events %+v", b.events)
	}
	if r.Policies[0].Refused != 2 || r.Policies[1].Refused != 1 {
		t.Errorf("%d and %d refused", r.Policies[0].Refused, r.Policies[1].Refused)
	}
}

// A replay of nothing finds nothing.
func TestResultOnNothing(t *testing.T) {
	for _, by := range request.UsualKeys {
		b := newBench(t, lateness, by, "token:6/30s")
		b.judge(nil, []line{})
		r := b.result()
		p := &r.Policies[0]
		if len(r.Policies) != 1 || p.Requests+p.Refused+int64(p.Hits.Len()) != 0 || r.Clients.Len() != 0 || len(b.events) != 0 || p.WorstMinuteRefused != 0 {
			t.Errorf("by %s: %+v", by, r)
		}
		if _, ok := p.Hits.Find(0); ok {
			t.Errorf("by %s: a client was hit", by)
		}
	}
}

// What a log says of sizes need not be true; no sum of them wraps.
func TestSumsDoNotWrap(t *testing.T) {
	b := newBench(t, lateness, request.BySite, "window:1/1h")
	lines := at("c", times(40)...)
	for i := range lines {
		lines[i].bytes, lines[i].spent = 999_999_999_999_999_999, 253_402_300_799*second
	}
	b.judge(lines)
	if p := b.result().Policies[0]; p.BytesSaved != math.MaxInt64 || p.UpstreamSaved != math.MaxInt64 {
		t.Errorf("%d bytes, %d µs saved", p.BytesSaved, p.UpstreamSaved)
	}
}

// Once its keys are known, judging a batch allocates nothing.
func TestJudgeAllocatesNothing(t *testing.T) {
	for i, by := range keysJudged {
		policies, err := policy.ParseLimits([]string{"6/30s", "window:100/1h"}, by)
		check(t, err)
		parts := []policy.Part{policies[0].Parts[0], policies[3].Parts[0], {By: by, Limiter: queue{5, second}}}
		scoped := slices.Clone(parts)
		scoped[0].Match, scoped[1].Count = 1, 2
		crossed := slices.Clone(parts)
		crossed[1].By = keysJudged[(i+1)%len(keysJudged)]
		for _, parts := range [][]policy.Part{parts, scoped, crossed, parts[2:]} {
			policies = append(policies, policy.Policy{Parts: parts})
		}
		tables := newBenchOf(t, lateness, policies)
		engine := replay.New(replay.Options{Tables: tables.tables, Policies: policies, Lateness: lateness, Sink: discard{}, EventPolicies: len(policies)})
		var lines []line
		for i := range 5_000 {
			lines = append(lines, line{at: limit.Time(i) * 40 * limit.Millisecond, client: fmt.Sprint(i % 500), action: fmt.Sprint(i % 7), marks: uint64(i % 4)})
		}
		batch := tables.batch(lines)
		judge := func() {
			check(t, engine.Judge(batch))
			for i := range batch.At {
				batch.At[i] += 200 * second
			}
		}
		for range 20 { // until an hour has passed
			judge()
		}
		if n := testing.AllocsPerRun(10, judge); n > 2 { // a page of minutes, a ring now and then
			t.Errorf("by %s: %v allocations for %d requests", by, n, len(lines))
		}
	}
}

type discard struct{}

func (discard) Write([]replay.Event, *replay.Sets) error { return nil }

// Memory does not grow with the log, once clients are known and a window is full.
func TestEngineMemoryIsFlat(t *testing.T) {
	b := newBench(t, lateness, request.ByClient, "6/30s", "window:10000/1h")
	b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policiesOf(t, "window:10000/1h", request.ByClient), Lateness: lateness})
	var lines []line
	for i := range 20_000 {
		lines = append(lines, line{at: limit.Time(i) * 10 * limit.Millisecond, client: fmt.Sprint(i % 500)})
	}
	batch := b.batch(lines)
	after := func(batches int) uint64 {
		for range batches {
			check(t, b.engine.Judge(batch))
			for i := range batch.At {
				batch.At[i] += 200 * second
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	if few, many := after(40), after(360); many > few+few/4 {
		t.Errorf("%d kB after ten times as many requests, %d kB before", many>>10, few>>10)
	}
}

// Two replays of one log by many workers find the same, by name.
func TestReplaysAreEqual(t *testing.T) {
	files, err := filepath.Glob("../sample-logs/rotated/*")
	check(t, err)
	more, err := filepath.Glob("../sample-logs/[sv]*.log")
	check(t, err)
	if files = append(files, more...); len(files) < 4 {
		t.Fatalf("sample logs: %q", files)
	}
	var want found
	for i := range 4 {
		o := traffictest.Options(t)
		o.Workers, o.Batch = 1+3*i, 100_000>>(2*i)
		slices.Reverse(files)
		reader, err := ingest.NewReader(context.Background(), files, nil, o)
		check(t, err)
		policies, err := policy.ParseLimits([]string{"6/30s"}, request.ByClient)
		check(t, err)
		b := newBenchOf(t, o.Lateness, policies)
		b.tables = o.Tables
		b.engine = replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Sink: b, EventPolicies: 3})
		check(t, b.engine.Run(reader))
		check(t, reader.Close())
		got := b.find(reader.Stats())
		if i == 0 {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %+v\nwant %+v", o.Workers, got.stats, want.stats)
		}
	}
	if want.books[0].Refused == 0 || want.stats.Parsed == 0 {
		t.Errorf("the test is too easy: %+v", want.stats)
	}
}

// found is all that a replay found, by names.
type found struct {
	books   []verdictBook
	clients map[string]string
	actions map[string]int64
	stats   ingest.Stats
}

func (b *bench) find(s ingest.Stats) found {
	r := b.engine.Result(s)
	f := found{clients: map[string]string{}, actions: map[string]int64{}, stats: r.Stats}
	for i := range r.Policies {
		f.books = append(f.books, b.booked(r, i))
	}
	for id := range int32(r.Clients.Len()) {
		c := r.Clients.At(id)
		f.clients[b.tables.Clients.Name(id)] = fmt.Sprint(c.ByClass, c.Class(), b.tables.Agents.Name(c.LastAgent))
	}
	for id, n := range r.Actions {
		f.actions[b.tables.Actions.Name(int32(id))] = n
	}
	maps.DeleteFunc(f.actions, func(_ string, n int64) bool { return n == 0 })
	return f
}

// A run that is told to stop does so before the next policies, however many there are: those that other cores have begun
// with are judged.
func TestStop(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"1..100/30s"}, request.ByClient)
	check(t, err)
	tables := &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict()}
	var asked atomic.Int32
	why := errors.New("enough")
	e := replay.New(replay.Options{Tables: tables, Policies: policies, Stop: func() error {
		if asked.Add(1) == 3 {
			return why
		}
		return nil
	}})
	if err := e.Judge(&traffic.Batch{}); err != why || int(asked.Load()) > 3+8*runtime.GOMAXPROCS(0) {
		t.Errorf("stopped with %v, asked %d times for %d policies", err, asked.Load(), len(policies))
	}
}
