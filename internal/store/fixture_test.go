//go:build !nostore

package store

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/parse"
	"shadow/replay"
)

var (
	started  = time.Date(2026, 3, 1, 9, 30, 0, 123456000, time.UTC)
	finished = started.Add(90 * time.Second)
	dayOne   = limit.Time(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
)

// zones compares what reading found of time zones, which is not stored.
var zones = cmpopts.EquateComparable(ingest.Zones{})

var info = RunInfo{Command: "shadow replay access.log --limit 6/30s", Version: "1.0", Started: started, Events: AllEvents}

// names lists texts that logs can hold as a client, an agent or an action.
var names = []string{
	"192.0.2.1", "2001:db8::1", "-", "", "ünïcode ⚡ 🚦", "'; DROP TABLE runs; --", `quote " and \ backslash`,
	"not\xffutf8\xc3", "nul\x00inside", "\x1b[31mred\x1b[0m", "tab\tnewline\n", `\xff`, `\x5c\x5c`, "\u202eevil", "\u0085",
}

// A made run is a random result with events that agree with it.
type madeRun struct {
	result replay.Result
	events []replay.Event
	sets   replay.Sets
}

// each goes through the refusals of each policy, event by event.
func (m *madeRun) each(take func(r replay.Refuser, e replay.Event)) {
	for _, e := range m.events {
		for _, r := range m.sets.All[e.Set] {
			take(r, e)
		}
	}
}

func makeRun(t testing.TB, seed uint64, policies, clients, events int) madeRun {
	rng := testneeds.Rand(t, seed, 1)
	m := madeRun{result: replay.Result{
		Clients: new(replay.Paged[replay.ClientTally]),
		Tables:  &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict()},
	}}
	res := &m.result
	for i := range clients {
		name := names[i%len(names)]
		if i >= len(names) {
			name += string(rune('a'+i%26)) + time.Duration(i).String()
		}
		res.Tables.Clients.ID([]byte(name))
		res.Tables.Agents.ID([]byte(name))
		res.Clients.Grow(res.Clients.Len() + 1)
		res.Clients.At(int32(res.Clients.Len() - 1)).LastAgent = int32(rng.IntN(res.Tables.Agents.Len()))
	}
	for _, name := range names[:5] {
		res.Tables.Actions.ID([]byte(name))
	}
	res.Actions = make([]int64, res.Tables.Actions.Len())
	for i := range policies {
		t := madePolicy(i)
		t.ByAction = make([]int64, len(res.Actions))
		res.Policies = append(res.Policies, t)
	}
	m.addEvents(rng, events)
	res.Stats = stats(res)
	return m
}

// madePolicy is an approximation of one limit, or a policy of two limits that keeps requests waiting.
func madePolicy(i int) replay.PolicyTally {
	t := replay.PolicyTally{Policy: policy.Policy{
		Name: "token:" + time.Duration(i).String(),
		Parts: []policy.Part{{
			By:   request.UsualKeys[i%len(request.UsualKeys)],
			Spec: limit.Spec{Algorithm: "token", Count: int64(i), Period: 30 * limit.Second, Options: "burst=10"},
		}},
	}}
	if i%2 == 0 {
		t.Range = &replay.Range{Refused: [2]int64{1, 9}, ClientsHit: [2]int64{2, 8}}
		return t
	}
	t.Policy.Parts = append(t.Policy.Parts, policy.Part{
		By: request.BySite, Spec: limit.Spec{Algorithm: "window", Count: 5, Period: limit.Hour},
		MatchText: "action login", CountText: "status 401",
	})
	t.Delays = &replay.Delays{Requests: 3, Total: 7 * limit.Second, P50: limit.Second / 2, P99: 5 * limit.Second}
	return t
}

// addEvents makes up events, and tallies them the slow and obvious way.
func (m *madeRun) addEvents(rng *rand.Rand, n int) {
	res := &m.result
	for i := range n {
		var set []replay.Refuser
		first := rng.IntN(len(res.Policies))
		for p := range res.Policies {
			if p == first || rng.IntN(4) == 0 {
				set = append(set, replay.Refuser{Policy: int32(p), Degraded: i%7 == 0 && rng.IntN(2) == 0})
			}
		}
		e := replay.Event{
			Client: int32(rng.IntN(res.Clients.Len())), Action: int32(rng.IntN(len(res.Actions))),
			Status: uint16(rng.IntN(3) * 200), Count: uint32(1 + rng.IntN(3)), At: dayOne + limit.Time(i)*limit.Millisecond,
			Set: m.sets.ID(set),
		}
		m.events = append(m.events, e)
		count := int64(e.Count)
		res.Actions[e.Action] += count
		res.Clients.At(e.Client).ByClass[rng.IntN(int(request.ClassCount))] += count
	}
	m.each(func(r replay.Refuser, e replay.Event) {
		p, count := &res.Policies[r.Policy], int64(e.Count)
		p.Refused += count
		if r.Degraded {
			p.Degraded.Requests += 2 * count
			p.Degraded.Refused += count
		}
		p.ByAction[e.Action] += count
		p.Hits.Add(e.Client, count, e.At, e.At)
	})
}

func stats(res *replay.Result) ingest.Stats {
	var requests int64
	for i := range res.Clients.Len() {
		requests += res.Clients.At(int32(i)).Requests()
	}
	for i := range res.Policies {
		res.Policies[i].Requests = requests
		res.Policies[i].BytesSaved = 1000 * res.Policies[i].Refused
	}
	return ingest.Stats{
		Counts: ingest.Counts{Lines: requests + 25, Parsed: requests + 21, Unreadable: 4, Excluded: 7, Late: 3, Moved: 6, NotHTTP: ingest.ByStatus{{Status: 0, Lines: 1}, {Status: 400, Lines: 8}}, Bytes: 1 << 40}, Warm: 5, Refusals: 2,
		FirstAt: dayOne, LastAt: dayOne + limit.Hour, Resolution: limit.Second, HasAgents: true,
		Inputs: []ingest.InputStats{
			{Name: "access.log", Format: "combined", Size: 1 << 33, Head: 1<<64 - 1, Tail: 7, Lines: requests + 25, Parsed: requests + 21, FirstAt: dayOne, LastAt: dayOne + limit.Hour},
			{Name: "-", Format: "nginx json", Compression: "gzip", Size: -1, Problem: "truncated gzip"},
		},
		Faults: []ingest.FaultAt{{Input: "access.log", Line: 3, Fault: parse.Fault{Reason: "no closing quote", Column: 7}, Text: "bad \xff line"}},
	}
}

// dbPath returns a folder that is not there yet.
func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "shadow.db") }

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// storeRun stores a made run.
func storeRun(t testing.TB, path string, m madeRun, info RunInfo) {
	t.Helper()
	s := openStore(t, path)
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(m.events, &m.sets); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(&m.result, finished); err != nil {
		t.Fatal(err)
	}
}

// ask returns all rows of a query, or its error.
func ask(path, query string) (rows [][]any, err error) {
	r, err := Query(context.Background(), path, query, QueryOptions{})
	if err != nil {
		return nil, err
	}
	return r.all()
}

// all returns all rows that are left, and closes.
func (r *Rows) all() (rows [][]any, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		row, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

func mustAsk(t testing.TB, path, query string) [][]any {
	t.Helper()
	rows, err := ask(path, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// askNumber asks for one integer.
func askNumber(t testing.TB, path, query string) int64 {
	t.Helper()
	return mustAsk(t, path, query)[0][0].(int64)
}
