//go:build !nostore

package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

func openReaderOf(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := OpenReader(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func mustLoad(t testing.TB, path string, runs ...int32) *Loaded {
	t.Helper()
	r, err := OpenReader(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := r.Load(runs)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A bareRange is a replay.Range without the clients that it is of, which are not stored.
type bareRange struct{ Refused, ClientsHit [2]int64 }

func bareRangeOf(r *replay.Range) *bareRange {
	if r == nil {
		return nil
	}
	return &bareRange{r.Refused, r.ClientsHit}
}

// A bare result is what a report can tell of a result, by name: ids are not the same after a run was loaded.
type bareResult struct {
	Stats    ingest.Stats
	Clients  map[string]bareClient
	Actions  map[string]int64
	Policies []barePolicy
}

type bareClient struct {
	ByClass [request.ClassCount]int64
	Agent   string
}

type barePolicy struct {
	Name, Parts, By                 string
	Requests, Refused               int64
	WorstMinute, InIt, Bytes, Saved int64
	Hits                            map[string]replay.Hit
	ByAction                        map[string]int64
	Delays                          *replay.Delays
	Range                           *bareRange
	Degraded                        replay.Degraded
}

func bare(res *replay.Result) bareResult {
	b := bareResult{Stats: res.Stats, Clients: map[string]bareClient{}, Actions: map[string]int64{}}
	for id := range int32(res.Clients.Len()) {
		if c := res.Clients.At(id); c.Requests() > 0 {
			b.Clients[res.Tables.Clients.Name(id)] = bareClient{c.ByClass, res.Tables.Agents.Name(c.LastAgent)}
		}
	}
	addActions(b.Actions, res, res.Actions)
	for i := range res.Policies {
		t := &res.Policies[i]
		p := barePolicy{
			Name: t.Policy.Name, By: t.Policy.By(), Requests: t.Requests, Refused: t.Refused,
			WorstMinute: int64(t.WorstMinute), InIt: t.WorstMinuteRefused, Bytes: t.BytesSaved,
			Hits: map[string]replay.Hit{}, ByAction: map[string]int64{}, Delays: t.Delays, Range: bareRangeOf(t.Range),
			Degraded: t.Degraded,
		}
		for _, part := range t.Policy.Parts {
			p.Parts += fmt.Sprintln(part.Spec, part.By, part.MatchText, part.CountText)
		}
		for hit := range t.Hits.All() {
			name := res.Tables.Clients.Name(hit.Client)
			hit.Client = 0
			p.Hits[name] = hit
		}
		addActions(p.ByAction, res, t.ByAction)
		b.Policies = append(b.Policies, p)
	}
	return b
}

func addActions(to map[string]int64, res *replay.Result, counts []int64) {
	for id, n := range counts {
		if n > 0 {
			to[res.Tables.Actions.Name(int32(id))] += n
		}
	}
}

// A run is loaded as it was stored, whatever its names are.
func TestLoad(t *testing.T) {
	path := dbPath(t)
	m := makeRun(t, 1, 3, 60, 2000)
	long := strings.Repeat("long ", 200)
	m.result.Tables.Clients.ID([]byte(long))
	m.result.Clients.Grow(m.result.Clients.Len() + 1)
	m.result.Clients.At(int32(m.result.Clients.Len() - 1)).ByClass[request.Tool] = 3
	told := info
	told.Timezone = "Europe/Berlin"
	storeRun(t, path, makeRun(t, 7, 2, 10, 100), info)
	storeRun(t, path, m, told)
	l := mustLoad(t, path, 2)
	if diff := cmp.Diff(bare(&m.result), bare(l.Result), zones); diff != "" {
		t.Errorf("stored less, loaded more:\n%s", diff)
	}
	if l.Timezone != told.Timezone || l.Command != info.Command || l.Version != info.Version || len(l.Warnings) > 0 {
		t.Errorf("loaded %+v", l)
	}
}

// Several runs are one, in which what was counted adds up by name.
func TestLoadTogether(t *testing.T) {
	path := dbPath(t)
	a, b := makeRun(t, 1, 2, 40, 1000), makeRun(t, 2, 3, 60, 2000)
	storeRun(t, path, a, info)
	storeRun(t, path, b, info)
	x, y, both := bare(&a.result), bare(&b.result), bare(mustLoad(t, path, 1, 2).Result)
	if got, want := both.Stats.Lines, x.Stats.Lines+y.Stats.Lines; got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
	for name, client := range both.Clients {
		want := x.Clients[name].ByClass
		for class, n := range y.Clients[name].ByClass {
			want[class] += n
		}
		agent := y.Clients[name].Agent
		if _, later := y.Clients[name]; !later {
			agent = x.Clients[name].Agent
		}
		if client != (bareClient{want, agent}) {
			t.Errorf("client %q: %v, want %v and %q", name, client, want, agent)
		}
	}
	for i, p := range both.Policies {
		var before barePolicy
		if i < len(x.Policies) {
			before = x.Policies[i]
		}
		after := y.Policies[i]
		if want := (replay.Degraded{
			Requests: before.Degraded.Requests + after.Degraded.Requests, Refused: before.Degraded.Refused + after.Degraded.Refused,
		}); p.Degraded != want || want.Refused == 0 {
			t.Errorf("policy %s: %+v, want %+v", p.Name, p.Degraded, want)
		}
		if p.Refused != before.Refused+after.Refused || p.Requests != before.Requests+after.Requests {
			t.Errorf("policy %s: %d of %d, want %d of %d", p.Name, p.Refused, p.Requests, before.Refused+after.Refused, before.Requests+after.Requests)
		}
		for name, hit := range p.Hits {
			if want := before.Hits[name].Refused + after.Hits[name].Refused; hit.Refused != want {
				t.Errorf("policy %s, client %q: %d refused, want %d", p.Name, name, hit.Refused, want)
			}
		}
		if len(p.Hits) < max(len(before.Hits), len(after.Hits)) {
			t.Errorf("policy %s hit %d clients, the runs %d and %d", p.Name, len(p.Hits), len(before.Hits), len(after.Hits))
		}
	}
}

// What other tools have broken is an error, not a panic.
func TestLoadBroken(t *testing.T) {
	for _, broken := range [][2]string{
		{"clients", ""},
		{"agents", ""},
		{"actions", ""},
		{"clients", "* REPLACE (-1 AS client)"},
		{"clients", "* REPLACE (2000000000 AS client)"},
		{"client_tallies", "* REPLACE (9 AS policy)"},
		{"parts", "* REPLACE (9 AS policy)"},
	} {
		path := dbPath(t)
		storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
		if table, columns := broken[0], broken[1]; columns == "" {
			check(t, os.Remove(filepath.Join(folder(path).run(1), nameOfPiece(1, 1), table+".parquet")))
		} else {
			change(t, path, table, columns)
		}
		if _, err := openReaderOf(t, path).Load([]int32{1}); err == nil || !strings.Contains(err.Error(), "run 1") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
