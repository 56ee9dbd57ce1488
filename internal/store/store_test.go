//go:build !nostore

package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/replay"
)

// What goes in comes out: runs of any shape, written in pieces of any size, one after another into one file, hold the
// very events, names and tallies of their results.
func TestWhatGoesInComesOut(t *testing.T) {
	path := dbPath(t)
	for run := int64(1); run <= 12 && !t.Failed(); run++ {
		rng := testneeds.Rand(t, uint64(run), 2)
		events := []int{10, 200, 10_000}[run%3] // with few events, some clients and actions have no request
		m := makeRun(t, uint64(run), 1+rng.IntN(5), 1+rng.IntN(40), rng.IntN(events))
		keep := Events(rng.IntN(6))
		writePieces(t, path, m, keep, 1+rng.IntN(3000))
		wantRun(t, path, run, m, keep)
	}
}

// A run that fills the loader's buffers many times over comes out in order, every event once.
func TestBuffersGoRound(t *testing.T) {
	path := dbPath(t)
	m := makeRun(t, 1, 3, 100, fileBuffers*bufferEvents+77) // no two events at the same time
	writePieces(t, path, m, AllEvents, 5000)
	for query, want := range map[string]int64{
		"SELECT count(*) FROM refusals":             int64(len(m.events)),
		"SELECT count(DISTINCT time) FROM refusals": int64(len(m.events)),
		"SELECT count(*) FROM (SELECT time, lag(time) OVER () AS previous FROM refusals) WHERE time < previous": 0,
	} {
		if got := askNumber(t, path, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

func writePieces(t *testing.T, path string, m madeRun, keep Events, piece int) {
	t.Helper()
	s := openStore(t, path)
	about := info
	about.Events = keep
	r, err := s.Begin(context.Background(), about)
	if err != nil {
		t.Fatal(err)
	}
	for p := range slices.Chunk(m.events, piece) {
		p = slices.Clone(p)
		if err := r.Write(p, &m.sets); err != nil {
			t.Fatal(err)
		}
		clear(p) // Write must not keep events
	}
	if err := r.Finish(&m.result, finished); err != nil {
		t.Fatal(err)
	}
}

func wantRun(t *testing.T, path string, run int64, m madeRun, keep Events) {
	t.Helper()
	if n := askNumber(t, path, "SELECT max(run) FROM runs"); n != run {
		t.Errorf("run %d, want %d", n, run)
	}
	var events, tallies, actions, clients [][]any
	m.each(func(r replay.Refuser, e replay.Event) {
		if r.Policy < int32(keep) {
			events = append(events, row(r.Policy, int64(e.At), e.Client, e.Action, uint64(e.Status), uint64(e.Count), r.Degraded))
		}
	})
	res := &m.result
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			tallies = append(tallies, row(int32(i), h.Client, h.Refused, int64(h.First), int64(h.Last)))
		}
		for action, n := range res.Policies[i].ByAction {
			if n > 0 {
				actions = append(actions, row(int32(i), int32(action), n))
			}
		}
	}
	for i := range int32(res.Clients.Len()) {
		if c := res.Clients.At(i); c.Requests() > 0 {
			clients = append(clients, row(i, res.Tables.Clients.Name(i), c.Class().String(), c.LastAgent, c.Requests(),
				c.ByClass[0], c.ByClass[1], c.ByClass[2], c.ByClass[3], c.ByClass[4]))
		}
	}
	var listed [][]any
	for i, n := range res.Actions {
		if n > 0 {
			listed = append(listed, row(int32(i), res.Tables.Actions.Name(int32(i)), n))
		}
	}
	wantRows(t, path, run, "SELECT action, name, requests FROM actions", listed)
	wantRows(t, path, run, "SELECT policy, epoch_us(time), client, action, status, count, degraded FROM events", events)
	wantRows(t, path, run, "SELECT policy, client, refused, epoch_us(first_refused), epoch_us(last_refused) FROM client_tallies", tallies)
	wantRows(t, path, run, "SELECT policy, action, refused FROM action_tallies", actions)
	wantRows(t, path, run, "SELECT client, name, class, agent, requests, browser, crawler, tool, monitor, unknown FROM clients", clients)
	wantRows(t, path, run, "SELECT name FROM agents", dictRows(res.Tables.Agents.Len(), res.Tables.Agents.Name))
}

func dictRows(n int, name func(int32) string) (rows [][]any) {
	for id := range int32(n) {
		rows = append(rows, row(name(id)))
	}
	return rows
}

// row makes a row as Rows.Next returns it.
func row(values ...any) []any {
	for i, v := range values {
		if n, ok := v.(int32); ok {
			values[i] = int64(n)
		}
	}
	return values
}

// wantRows compares the rows of one run, in whatever order.
func wantRows(t *testing.T, path string, run int64, query string, want [][]any) {
	t.Helper()
	got := mustAsk(t, path, query+" WHERE run = "+duck.KeyText(run))
	for _, r := range got {
		for i, v := range r {
			if s, ok := v.(string); ok {
				r[i] = duck.DecodeText(s)
			}
		}
	}
	same(t, query, got, want)
}

func TestStatsComeOut(t *testing.T) {
	path := dbPath(t)
	m := makeRun(t, 1, 2, 10, 1000)
	m.result.Policies[1].WorstMinute, m.result.Policies[1].WorstMinuteRefused = dayOne, 7
	about := info
	about.Events = 1
	storeRun(t, path, m, about)
	for query, want := range map[string][]any{
		"SELECT run, command, version, started, finished, bytes, unreadable, excluded, warm, late, refusals, first_at, last_at, resolution_us, has_agents, has_upstream FROM runs": {
			int64(1), "shadow replay access.log --limit 6/30s", "1.0", "2026-03-01T09:30:00.123456Z", "2026-03-01T09:31:30.123456Z", int64(1 << 40),
			int64(4), int64(7), int64(5), int64(3), int64(2), "2026-02-01T00:00:00.000000Z", "2026-02-01T01:00:00.000000Z", int64(1_000_000), true, false,
		},
		"SELECT lines - parsed - unreadable, parsed - excluded - not_http - warm - requests FROM runs":        {int64(0), int64(0)},
		"SELECT not_http, not_http_judged, moved FROM runs":                                                   {int64(9), false, int64(6)},
		"SELECT list(status ORDER BY status)::VARCHAR, list(lines ORDER BY status)::VARCHAR FROM not_http":    {"[0, 400]", "[1, 8]"},
		"SELECT name, format, compression, size, head_hash, tail_hash FROM inputs WHERE input = 0":            {"access.log", "combined", nil, int64(1 << 33), uint64(1<<64 - 1), uint64(7)},
		"SELECT name, compression, size, head_hash, first_at, problem FROM inputs WHERE input = 1":            {"-", "gzip", nil, nil, nil, "truncated gzip"},
		"SELECT input, line, col, reason, text FROM unreadable_lines":                                         {"access.log", int64(3), int64(7), "no closing quote", `bad \xff line`},
		"SELECT algorithm, limit_count, period_us, options FROM parts WHERE policy = 0":                       {"token", int64(0), int64(30_000_000), "burst=10"},
		"SELECT name, counts_by, worst_minute, upstream_saved_us, events_kept FROM policies WHERE policy = 0": {"token:0s", "client", nil, nil, true},
		"SELECT counts_by, worst_minute, worst_minute_refused, events_kept FROM policies WHERE policy = 1":    {"client+action, site", "2026-02-01T00:00:00.000000Z", int64(7), false},
	} {
		if diff := cmp.Diff(want, mustAsk(t, path, query)[0]); diff != "" {
			t.Errorf("%s:\n%s", query, diff)
		}
	}
}

// An input without a single request is a run as well.
func TestEmptyRun(t *testing.T) {
	path := dbPath(t)
	m := makeRun(t, 1, 3, 1, 0)
	m.result.Clients, m.result.Stats.Parsed = new(replay.Paged[replay.ClientTally]), 21
	storeRun(t, path, m, info)
	for query, want := range map[string]int64{
		"SELECT count(*) FROM runs WHERE first_at IS NULL AND requests = 0":                       1,
		"SELECT count(*) FROM latest_policy_totals WHERE refused_percent IS NULL AND clients = 0": 3,
		"SELECT count(*) FROM latest_would_blocks":                                                0,
		"SELECT count(*) FROM latest_class_totals":                                                0,
	} {
		if got := askNumber(t, path, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// A policy is kept with its limits, its delays, and its range.
func TestPoliciesOfSeveralLimits(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 60, 20_000), info)
	for query, want := range map[string][][]any{
		"SELECT policy, delayed, delay_total_seconds, delay_p50_seconds, delay_p99_seconds FROM latest_policy_totals ORDER BY policy": {
			{"token:0s", nil, nil, nil, nil}, {"token:1ns", int64(3), 7.0, 0.5, 5.0},
		},
		"SELECT policy, refused_low, refused_high, clients_hit_low, clients_hit_high FROM latest_policy_totals ORDER BY policy": {
			{"token:0s", int64(1), int64(9), int64(2), int64(8)}, {"token:1ns", nil, nil, nil, nil},
		},
		"SELECT * FROM latest_policy_limits ORDER BY policy, part": {
			{"token:0s", int64(0), "token:0/30s,burst=10", "client", nil, nil},
			{"token:1ns", int64(0), "token:1/30s,burst=10", "client+action", nil, nil},
			{"token:1ns", int64(1), "window:5/1h", "site", "action login", "status 401"},
		},
		"SELECT counts_by FROM policies ORDER BY policy": {{"client"}, {"client+action, site"}},
	} {
		if diff := cmp.Diff(want, mustAsk(t, path, query)); diff != "" {
			t.Errorf("%s: want (-) and got (+) differ:\n%s", query, diff)
		}
	}
}

// The views tell the same story as the tallies, whichever way one adds up.
func TestViewsAddUp(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 4, 60, 20_000), info)
	storeRun(t, path, makeRun(t, 2, 3, 80, 30_000), info)
	for _, query := range []string{
		"SELECT run, policy, counts_by, refused FROM policy_totals",
		"SELECT run, policy, counts_by, sum(count)::BIGINT FROM would_blocks GROUP BY ALL",
		"SELECT run, policy, counts_by, sum(refused)::BIGINT FROM client_totals GROUP BY ALL",
		"SELECT run, policy, counts_by, sum(refused)::BIGINT FROM action_totals GROUP BY ALL",
		"SELECT run, policy, counts_by, sum(refused)::BIGINT FROM class_totals GROUP BY ALL",
	} {
		want := [][]any{}
		for run, m := range map[int64]madeRun{1: makeRun(t, 1, 4, 60, 20_000), 2: makeRun(t, 2, 3, 80, 30_000)} {
			for _, p := range m.result.Policies {
				want = append(want, []any{run, p.Policy.Name, p.Policy.By(), p.Refused})
			}
		}
		wantSameRows(t, query, mustAsk(t, path, query), want)
	}
	for _, query := range []string{
		"SELECT run, policy, clients_hit FROM policy_totals",
		"SELECT run, policy, count(DISTINCT client) FROM would_blocks GROUP BY ALL",
		"SELECT run, policy, count(*) FROM client_totals GROUP BY ALL",
		"SELECT run, policy, sum(clients_hit)::BIGINT FROM class_totals GROUP BY ALL",
	} {
		wantSameRows(t, query, mustAsk(t, path, query), mustAsk(t, path, "SELECT run, name, clients_hit FROM policies"))
	}
	if n := askNumber(t, path, "SELECT count(*) FROM latest_policy_totals"); n != 3 {
		t.Errorf("the latest run has %d policies, want 3", n)
	}
}

func wantSameRows(t *testing.T, query string, got, want [][]any) {
	t.Helper()
	order := func(a, b []any) int {
		return slices.CompareFunc(a, b, func(x, y any) int { return strings.Compare(duck.KeyText(x), duck.KeyText(y)) })
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want (-) and got (+) differ:\n%s", query, diff)
	}
}

// Several runs may be under way at a time; each gets its number when it lands.
func TestSeveralRunsAtATime(t *testing.T) {
	path := dbPath(t)
	s := openStore(t, path)
	first, given, second := begin(t, s, context.Background()), begin(t, s, context.Background()), begin(t, s, context.Background())
	a, b := makeRun(t, 1, 2, 10, 100), makeRun(t, 2, 2, 10, 100)
	check(t, second.Write(b.events, &b.sets))
	check(t, first.Write(a.events, &a.sets))
	check(t, second.Finish(&b.result, finished))
	check(t, given.Abort())
	check(t, first.Finish(&a.result, finished))
	if first.ID() != 2 || second.ID() != 1 {
		t.Errorf("runs %d and %d", first.ID(), second.ID())
	}
	wantRun(t, path, 2, a, AllEvents)
}

// Write copies into the loader's buffers and allocates nothing for itself.
func TestWriteDoesNotAllocate(t *testing.T) {
	r := begin(t, openStore(t, dbPath(t)), context.Background())
	defer r.Abort()
	events := batch(t, bufferEvents)
	if n := testing.AllocsPerRun(20, func() {
		if err := r.Write(events, &threeSets); err != nil {
			t.Fatal(err)
		}
	}); n > 50 { // the driver's, a few per chunk of 2,048 events
		t.Errorf("%v allocations for %d events", n, len(events))
	}
}

var _ replay.Sink = (*Run)(nil)

func TestParseEvents(t *testing.T) {
	for text, want := range map[string]Events{"all": AllEvents, "none": 0, "0": 0, "20": 20, "2147483647": AllEvents} {
		if got, err := ParseEvents(text); err != nil || got != want {
			t.Errorf("ParseEvents(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "some", "1.5", "2147483648", "all "} {
		if e, err := ParseEvents(text); err == nil {
			t.Errorf("ParseEvents(%q) = %v", text, e)
		}
	}
	for _, e := range []Events{AllEvents, 0, 1, 20} {
		if got, err := ParseEvents(e.String()); err != nil || got != e {
			t.Errorf("%v comes back as %v, %v", e, got, err)
		}
	}
}
