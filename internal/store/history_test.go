//go:build !nostore

package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/history"
)

// A moved is which clients a policy hit before and now, the slow and obvious way.
type movedNames struct{ newlyHit, released, repeating map[string]int64 }

// moves goes through the hits of runs, by run.
func moves(now, base, recent []bareResult, policy int, days [][2]limit.Time, often int) movedNames {
	m := movedNames{map[string]int64{}, map[string]int64{}, map[string]int64{}}
	refused := func(runs []bareResult, name string) (n int64) {
		for _, run := range runs {
			if policy < len(run.Policies) {
				n += run.Policies[policy].Hits[name].Refused
			}
		}
		return n
	}
	names := map[string]bool{}
	for _, runs := range [][]bareResult{now, base, recent} {
		for _, run := range runs {
			if policy < len(run.Policies) {
				for name := range run.Policies[policy].Hits {
					names[name] = true
				}
			}
		}
	}
	inBase := slices.ContainsFunc(base, func(run bareResult) bool { return policy < len(run.Policies) })
	for name := range names {
		after, before := refused(now, name), refused(base, name)
		switch {
		case after > 0 && before == 0 && inBase:
			m.newlyHit[name] = after
		case after == 0 && before > 0:
			m.released[name] = before
		}
		on := map[int]bool{}
		for _, run := range recent {
			if policy >= len(run.Policies) {
				continue
			}
			hit, was := run.Policies[policy].Hits[name]
			for i, day := range days {
				for _, at := range []limit.Time{hit.First, hit.Last} {
					on[i] = on[i] || was && day[0] <= at && at < day[1]
				}
			}
		}
		n := 0
		for _, hit := range on {
			if hit {
				n++
			}
		}
		if n >= often {
			m.repeating[name] = refused(recent, name)
		}
	}
	return m
}

// nights are runs a day apart, in which different clients are hit.
func nights(t *testing.T, path string, n int) (all []bareResult) {
	for i := range n {
		m := makeRun(t, uint64(i+1), 2, 30+i, 15*(i+1))
		shift := limit.Time(i) * limit.Day
		for j := range m.events {
			m.events[j].At += shift
		}
		for p := range m.result.Policies {
			old := m.result.Policies[p].Hits
			m.result.Policies[p].Hits = replay.Hits{}
			for hit := range old.All() {
				over := limit.Time(hit.Client%2) * limit.Day // some are still refused on the day after
				m.result.Policies[p].Hits.Add(hit.Client, hit.Refused, hit.First+shift, hit.Last+shift+over)
			}
		}
		m.result.Stats.FirstAt += shift
		m.result.Stats.LastAt += shift
		storeRun(t, path, m, info)
		all = append(all, bare(&m.result))
	}
	return all
}

func TestHistory(t *testing.T) {
	path := dbPath(t)
	all := nights(t, path, 6)
	var days [][2]limit.Time
	for i := range 7 {
		days = append(days, [2]limit.Time{dayOne + limit.Time(i-1)*limit.Day, dayOne + limit.Time(i)*limit.Day})
	}
	r := openReaderOf(t, path)
	for _, q := range []Question{
		{Now: []int32{6}, Base: []int32{5}, Trend: []int32{1, 2, 3, 4, 5, 6}, Recent: []int32{1, 2, 3, 4, 5, 6}, Days: days, Often: 3, Top: 1000},
		{Now: []int32{5, 6}, Base: []int32{1, 2}, Trend: []int32{6}, Recent: []int32{3, 4}, Days: days, Often: 2, Top: 1000},
		{Now: []int32{1}, Top: 10},
	} {
		l, err := r.Load(q.Now)
		if err != nil {
			t.Fatal(err)
		}
		h, err := r.History(l, q)
		if err != nil {
			t.Fatal(err)
		}
		of := func(ids []int32) (runs []bareResult) {
			for _, id := range ids {
				runs = append(runs, all[id-1])
			}
			return runs
		}
		for k := range h.Policies {
			p := &h.Policies[k]
			want := moves(of(q.Now), of(q.Base), of(q.Recent), k, q.Days, max(q.Often, 1))
			for _, c := range []struct {
				what  string
				moved history.Moved
				top   []history.Mover
				want  map[string]int64
			}{{"newly hit", p.NewlyHit, p.TopNewlyHit, want.newlyHit}, {"released", p.Released, p.TopReleased, want.released}, {"repeating", p.Repeating, p.TopRepeating, want.repeating}} {
				got := map[string]int64{}
				for _, m := range c.top {
					got[m.Client] = m.Refused
				}
				if diff := cmp.Diff(c.want, got); diff != "" || c.moved.Clients != int64(len(c.want)) || c.moved.ByClass.Sum() != c.moved.Clients {
					t.Errorf("now %v, policy %d, %s: %d clients, want %d:\n%s", q.Now, k, c.what, c.moved.Clients, len(c.want), diff)
				}
			}
			checkTrend(t, p, k, q, all)
		}
		checkActions(t, h, of(q.Now), of(q.Base))
	}
}

func checkTrend(t *testing.T, p *history.Policy, k int, q Question, all []bareResult) {
	t.Helper()
	if len(p.Trend) != len(q.Trend) {
		t.Errorf("a trend over %d runs, want %d", len(p.Trend), len(q.Trend))
		return
	}
	for i, run := range p.Trend {
		want := all[q.Trend[i]-1]
		hit := run.ByClass.Sum()
		if run.Run != q.Trend[i] || run.Refused != want.Policies[k].Refused || run.Requests != want.Policies[k].Requests ||
			run.Clients != int64(len(want.Clients)) || run.ClientsHit != int64(len(want.Policies[k].Hits)) || hit != run.ClientsHit {
			t.Errorf("run %d of the trend: %+v", q.Trend[i], run)
		}
	}
}

func checkActions(t *testing.T, h *history.History, now, base []bareResult) {
	t.Helper()
	want := map[string]int64{}
	for _, run := range now {
		for name, n := range run.Actions {
			want[name] += n
		}
	}
	for _, run := range base {
		for name := range run.Actions {
			delete(want, name)
		}
	}
	if base == nil {
		want = map[string]int64{}
	}
	if h.NewActions != int64(len(want)) || len(h.TopNewActions) != len(want) {
		t.Errorf("%d new actions %v, want %v", h.NewActions, h.TopNewActions, slices.Collect(maps.Keys(want)))
	}
}

// The safe limit of a curve is the first that spares enough of the class's clients.
func TestSafeLimits(t *testing.T) {
	path := dbPath(t)
	for _, hits := range [][]int64{{50, 9, 2, 1, 0}, {50, 20, 9, 2, 0}} {
		res := sweptRun(t, 3)
		res.Clients = sweep.Classes{request.Browser: 1000}
		res.Curves = res.Curves[:1]
		res.Curves[0].Points = nil
		for i, n := range hits {
			res.Curves[0].Points = append(res.Curves[0].Points, sweep.Point{Limit: int64(10 * (i + 1)), Counted: true, Hit: sweep.Classes{n}})
		}
		storeSweep(t, path, res)
	}
	r := openReaderOf(t, path)
	for perMillion, want := range map[int64][2]int64{
		1_000_000: {50, 50}, 999_000: {40, 50}, 998_000: {30, 40}, 990_000: {20, 30}, 0: {10, 10}, 998_001: {40, 50},
	} {
		safe, err := r.SafeLimits(1, 2, Spare{request.Browser, perMillion})
		text := func(n int64) string { return fmt.Sprintf("window:%d/1m,charge=all", n) }
		limits := []history.SafeLimit{{By: "client+action", Action: "login", Before: text(want[0]), Now: text(want[1]), Change: want[1] - want[0]}}
		if err != nil || safe == nil || !slices.Equal(safe.Limits, limits) {
			t.Errorf("%d: %+v, %v, want %v", perMillion, safe, err, want)
		}
	}
}

// Ctrl-C ends a question.
func TestReaderInterrupted(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.Load([]int32{1}); err != context.Canceled {
		t.Error(err)
	}
}

// Where both runs know who their clients are, the doubted are no browsers; where one of them does not, all claims count
// in both.
func TestSafeLimitsOfBelieved(t *testing.T) {
	path := dbPath(t)
	for _, divided := range []bool{false, true, true} {
		res := sweptRun(t, 3)
		res.Clients, res.Hidden = sweep.Classes{request.Browser: 1000}, nil
		if divided {
			res.Hidden = &sweep.Doubted{Clients: 10}
		}
		res.Curves = res.Curves[:1]
		res.Curves[0].Points = nil
		for i, n := range []int64{50, 10, 9, 1, 0} {
			p := sweep.Point{Limit: int64(10 * (i + 1)), Counted: true, Hit: sweep.Classes{n}}
			if divided {
				p.Hidden.Clients = min(n, 10)
			}
			res.Curves[0].Points = append(res.Curves[0].Points, p)
		}
		storeSweep(t, path, res)
	}
	r := openReaderOf(t, path)
	for before, limit := range map[int32]string{1: "window:50/1m,charge=all", 2: "window:20/1m,charge=all"} {
		safe, err := r.SafeLimits(before, 3, Spare{request.Browser, 1_000_000})
		if err != nil || safe == nil || len(safe.Limits) != 1 {
			t.Fatal(safe, err)
		}
		if s := safe.Limits[0]; s.Before != limit || s.Now != limit || safe.People != (before == 2) {
			t.Errorf("since run %d: %+v, want %s", before, safe, limit)
		}
	}
	if runs, err := r.Divided(); err != nil || !slices.Equal(runs, []int32{2, 3}) {
		t.Error("divided:", runs, err)
	}
}
