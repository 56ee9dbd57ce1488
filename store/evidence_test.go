//go:build !nostore

package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/replay"
	"shadow/request"
	"shadow/sweep"
	"shadow/traffic/evidence"
)

// judged is a run with findings about its clients, of all verdicts. Each client has so many requests of a browser.
func judged(t testing.TB, seed uint64, events int, requests int64, first evidence.Verdict) madeRun {
	m := makeRun(t, seed, 2, 20, events)
	res := &m.result
	res.ClientVerdicts = &replay.Paged[replay.ClientVerdict]{}
	res.ClientVerdicts.Grow(res.Clients.Len())
	for id := range int32(res.Clients.Len()) {
		res.Clients.At(id).ByClass[request.Browser] += requests
		*res.ClientVerdicts.At(id) = replay.ClientVerdict{
			Verdict: (first + evidence.Verdict(id)) % evidence.VerdictCount, Shared: id%2 == 0,
			Reasons: []string{fmt.Sprintf("! seed %d, client %d", seed, id), "+ another one"},
		}
	}
	return m
}

func storeJudged(t *testing.T, path string, m madeRun) {
	t.Helper()
	s := openStore(t, path)
	defer s.Close()
	r, err := s.Begin(context.Background(), info)
	if err == nil {
		err = r.Write(m.events)
	}
	if err == nil {
		r.Assessor = replay.NewAssessor(&m.result, nil)
		err = r.Finish(&m.result, finished)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// verdictsOf are those of a result by the name of the client.
func verdictsOf(res *replay.Result) map[string]replay.ClientVerdict {
	all := map[string]replay.ClientVerdict{}
	for id := range int32(res.ClientVerdicts.Len()) {
		if res.Clients.At(id).Requests() > 0 {
			all[res.Tables.Clients.Name(id)] = *res.ClientVerdicts.At(id)
		}
	}
	return all
}

// Evidence comes back as what it came to, with the reasons of the clients that were hit.
func TestLoadEvidence(t *testing.T) {
	path := dbPath(t)
	m := judged(t, 1, 8, 5, evidence.Human)
	storeJudged(t, path, m)
	want := verdictsOf(&m.result)
	hit := map[string]bool{}
	for i := range m.result.Policies {
		for h := range m.result.Policies[i].Hits.All() {
			hit[m.result.Tables.Clients.Name(h.Client)] = true
		}
	}
	if len(hit) == 0 || len(hit) == len(want) {
		t.Fatalf("%d of %d clients are hit", len(hit), len(want))
	}
	for name, f := range want {
		if !hit[name] {
			f.Reasons = nil
			want[name] = f
		}
	}
	if diff := cmp.Diff(want, verdictsOf(mustLoad(t, path, 1).Result)); diff != "" {
		t.Error(diff)
	}
	disguised := askNumber(t, path, "SELECT count(*) FROM clients c JOIN client_evidence v USING (run, client) WHERE c.class = 'browser' AND v.verdict = 'bot'")
	for _, query := range []string{
		"SELECT clients FROM people_totals WHERE policy = 'token:0s' AND who = 'disguised'",
		"SELECT (SELECT clients FROM latest_class_totals WHERE policy = 'token:0s' AND class = 'browser') - clients FROM latest_people_totals WHERE policy = 'token:0s' AND who = 'people'",
	} {
		if n := askNumber(t, path, query); n != disguised || n == 0 {
			t.Errorf("%s: %d, want %d", query, n, disguised)
		}
	}
}

// Of runs that are put together the verdict is that of the run with most requests; a run without evidence says nothing.
func TestLoadEvidenceOfSeveralRuns(t *testing.T) {
	path := dbPath(t)
	few, many := judged(t, 1, 100, 1000, evidence.Human), judged(t, 2, 100, 100_000, evidence.Bot)
	storeJudged(t, path, few)
	storeJudged(t, path, many)
	storeRun(t, path, makeRun(t, 3, 2, 30, 100), info)
	storeJudged(t, path, few)
	if got := mustLoad(t, path, 3).Result.ClientVerdicts; got != nil {
		t.Errorf("a run without evidence has %d findings", got.Len())
	}
	for _, runs := range [][]int32{{1, 2}, {2, 4}} {
		got := verdictsOf(mustLoad(t, path, runs...).Result)
		for name, want := range verdictsOf(&many.result) {
			if got[name].Verdict != want.Verdict || got[name].Shared != want.Shared {
				t.Errorf("%q of runs %v: %+v, want %+v", name, runs, got[name], want)
			}
		}
	}
	l := mustLoad(t, path, 1, 2, 3)
	if text := strings.Join(l.Warnings, "\n"); !strings.Contains(text, "1 of 3 runs have no evidence: clients of those alone are undecided") {
		t.Errorf("warnings: %s", text)
	}
	known := verdictsOf(&few.result)
	for name, f := range verdictsOf(l.Result) {
		if _, judged := known[name]; !judged && !reflect.DeepEqual(f, replay.ClientVerdict{Verdict: evidence.Undecided}) {
			t.Errorf("%q, that nobody judged: %+v", name, f)
		}
	}
}

// Curves keep what they say of the disguised.
func TestLoadCurvesOfTheDisguised(t *testing.T) {
	path := dbPath(t)
	res := sweptRun(t, 7)
	storeSweep(t, path, res)
	res.Hidden = &sweep.Disguised{Clients: 2}
	for i := range res.Curves {
		for j := range res.Curves[i].Points {
			p := &res.Curves[i].Points[j]
			p.Hidden.Clients = int64(j % 3)
			if p.Counted {
				p.Hidden.Requests = int64(10 * j)
			}
		}
	}
	storeSweep(t, path, res)
	r := openReaderOf(t, path)
	without, err := r.Curves(1)
	if err != nil || without.Hidden != nil {
		t.Errorf("%+v: %v", without, err)
	}
	got, err := r.Curves(2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Curves, got.Curves); diff != "" || got.Hidden == nil || got.Hidden.Clients != 2 {
		t.Errorf("%+v\n%s", got.Hidden, diff)
	}
}
