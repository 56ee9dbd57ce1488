//go:build !nostore

package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report/history"
)

// judged is a run that knows who its clients are: they are of all identities, from the first on. Each client has so
// many requests of a browser.
func judged(t testing.TB, seed uint64, events int, requests int64, first who.Identity) madeRun {
	m := makeRun(t, seed, 2, 20, events)
	res := &m.result
	known := make(who.Identities, res.Clients.Len())
	for id := range known {
		res.Clients.At(int32(id)).ByClass[request.Browser] += requests
		known[id] = (first + who.Identity(id)) % who.Count
	}
	res.Who = &who.Register{Identities: known, Reasons: func(client int32) []string {
		return []string{fmt.Sprintf("seed %d, client %d", seed, client), "another one"}
	}}
	return m
}

func storeJudged(t *testing.T, path string, m madeRun) {
	t.Helper()
	s := openStore(t, path)
	r, err := s.Begin(context.Background(), info)
	if err == nil {
		err = r.Write(m.events, &m.sets)
	}
	if err == nil {
		r.Who = m.result.Who
		err = r.Finish(&m.result, finished)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A told is who a client is, and why.
type told struct {
	Is      who.Identity
	Reasons []string
}

// toldOf returns what a result knows of its clients, by their names.
func toldOf(res *replay.Result) map[string]told {
	all := map[string]told{}
	for id := range int32(res.Clients.Len()) {
		if res.Clients.At(id).Requests() > 0 {
			all[res.Tables.Clients.Name(id)] = told{res.Who.Of(id), res.Who.Reasons(id)}
		}
	}
	return all
}

// Identities come back, with the reasons of the clients that were hit.
func TestLoadIdentities(t *testing.T) {
	path := dbPath(t)
	m := judged(t, 1, 8, 5, who.Person)
	storeJudged(t, path, m)
	want := toldOf(&m.result)
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
	if diff := cmp.Diff(want, toldOf(mustLoad(t, path, 1).Result)); diff != "" {
		t.Error(diff)
	}
}

// The views count clients by identity as the table of clients has them; the totals are those of the classes.
func TestIdentityTotals(t *testing.T) {
	path := dbPath(t)
	m := judged(t, 1, 8, 5, who.Person)
	storeJudged(t, path, m)
	policy := m.result.Policies[0].Policy.Name
	var clients, hits, requests, refused [who.Count]int64
	for id := range int32(m.result.Clients.Len()) {
		if n := m.result.Clients.At(id).Requests(); n > 0 {
			clients[m.result.Who.Of(id)]++
			requests[m.result.Who.Of(id)] += n
		}
	}
	for h := range m.result.Policies[0].Hits.All() {
		hits[m.result.Who.Of(h.Client)]++
		refused[m.result.Who.Of(h.Client)] += h.Refused
	}
	for _, view := range []string{"identity_totals WHERE run = 1 AND", "latest_identity_totals WHERE"} {
		got := map[string][]any{}
		rows := mustAsk(t, path, "SELECT identity, clients, clients_hit, requests, refused FROM "+view+" policy = '"+policy+"'")
		for _, row := range rows {
			got[row[0].(string)] = row[1:]
		}
		want := map[string][]any{}
		for is := range who.Count {
			if clients[is] > 0 {
				want[is.One()] = []any{clients[is], hits[is], requests[is], refused[is]}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", view, diff)
		}
	}
	differ := askNumber(t, path, `SELECT count(*) FROM client_totals t JOIN clients c ON c.run = t.run AND c.name = t.client
		JOIN client_identities i ON i.run = c.run AND i.client = c.client WHERE t.identity IS DISTINCT FROM i.identity`)
	if all := askNumber(t, path, "SELECT count(identity) FROM client_totals"); differ != 0 || all == 0 {
		t.Errorf("%d of %d clients are another in client_totals", differ, all)
	}
}

// Of runs that are put together a client is what it is in the run with most of its requests; a run that does not know
// says nothing.
func TestLoadIdentitiesOfSeveralRuns(t *testing.T) {
	path := dbPath(t)
	few, many := judged(t, 1, 100, 1000, who.Person), judged(t, 2, 100, 100_000, who.Attacker)
	storeJudged(t, path, few)
	storeJudged(t, path, many)
	storeRun(t, path, makeRun(t, 3, 2, 30, 100), info)
	storeJudged(t, path, few)
	if got := mustLoad(t, path, 3).Result.Who; got != nil {
		t.Errorf("a run that does not know who its clients are says %v", got.Identities)
	}
	for _, runs := range [][]int32{{1, 2}, {2, 4}} {
		got := toldOf(mustLoad(t, path, runs...).Result)
		for name, want := range toldOf(&many.result) {
			if got[name].Is != want.Is || got[name].Reasons != nil && !slices.Equal(got[name].Reasons, want.Reasons) {
				t.Errorf("%q of runs %v: %+v, want %+v", name, runs, got[name], want)
			}
		}
	}
	l := mustLoad(t, path, 1, 2, 3)
	const warning = "of 1 of 3 runs it is not known who the clients are: clients of those alone are undecided"
	if text := strings.Join(l.Warnings, "\n"); !strings.Contains(text, warning) {
		t.Errorf("warnings: %s", text)
	}
	known, alone := toldOf(&few.result), 0
	maps.Copy(known, toldOf(&many.result))
	for name, f := range toldOf(l.Result) {
		if _, judged := known[name]; !judged {
			alone++
			if f.Is != who.Undecided || f.Reasons != nil {
				t.Errorf("%q, that no run knows: %+v", name, f)
			}
		}
	}
	if alone == 0 {
		t.Error("all runs have the same clients")
	}
}

// An identity that this release does not know is no other one.
func TestLoadUnknownIdentity(t *testing.T) {
	path := dbPath(t)
	storeJudged(t, path, judged(t, 1, 8, 5, who.Person))
	change(t, path, "client_identities", "* REPLACE (if(client = 3, 'martian', identity) AS identity)")
	if _, err := openReaderOf(t, path).Load([]int32{1}); err == nil || !strings.Contains(err.Error(), `unknown identity "martian"`) {
		t.Error(err)
	}
}

// Clients that moved are counted and listed as what they are where they came last, if any run knows it.
func TestHistoryByIdentity(t *testing.T) {
	path := dbPath(t)
	before, after := judged(t, 1, 15, 100, who.Person), judged(t, 2, 40, 100, who.Program)
	storeJudged(t, path, before)
	storeJudged(t, path, after)
	storeRun(t, path, makeRun(t, 3, 2, 30, 60), info)
	r := openReaderOf(t, path)
	for _, q := range []Question{
		{Now: []int32{2}, Base: []int32{1}, Top: 1000},
		{Now: []int32{3}, Base: []int32{2}, Top: 1000}, // only the run before knows
		{Now: []int32{3}, Base: []int32{3}, Top: 1000},
	} {
		l, err := r.Load(q.Now)
		if err != nil {
			t.Fatal(err)
		}
		h, err := r.History(l, q)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]told{}
		for _, run := range slices.Concat(q.Base, q.Now) {
			if m := map[int32]madeRun{1: before, 2: after}[run]; m.result.Who != nil {
				maps.Copy(known, toldOf(&m.result))
			}
		}
		for k := range h.Policies {
			p := &h.Policies[k]
			for _, c := range []struct {
				moved history.Moved
				top   []history.Mover
			}{{p.NewlyHit, p.TopNewlyHit}, {p.Released, p.TopReleased}} {
				var want history.HitIdentities
				for _, m := range c.top {
					is, isKnown := known[m.Client]
					if isKnown {
						want[is.Is]++
					}
					if isKnown && m.Identity != is.Is.One() || !isKnown && m.Identity != "" {
						t.Errorf("now %v: %q is %q, want %+v", q.Now, m.Client, m.Identity, is)
					}
				}
				if c.moved.ByIdentity != want {
					t.Errorf("now %v: moved %v, want %v", q.Now, c.moved.ByIdentity, want)
				}
			}
			if !slices.IsSortedFunc(p.TopNewlyHit, func(a, b history.Mover) int { return behind(a) - behind(b) }) {
				t.Errorf("now %v: people are not first of %+v", q.Now, p.TopNewlyHit)
			}
			if q.Now[0] == 2 && len(p.TopNewlyHit)*len(p.TopReleased) == 0 {
				t.Errorf("policy %d: none moved", k)
			}
		}
	}
}

// behind is 1 for those who stand behind people in a list.
func behind(m history.Mover) int {
	if m.Identity == "person" || m.Identity == "office" {
		return 0
	}
	return 1
}

// Curves keep what they say of the doubted.
func TestLoadCurvesOfTheDoubted(t *testing.T) {
	path := dbPath(t)
	res := sweptRun(t, 7)
	storeSweep(t, path, res)
	res.Hidden = &sweep.Doubted{Clients: 2}
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
