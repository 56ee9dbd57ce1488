//go:build !nostore

package store

import (
	"context"
	"reflect"
	"testing"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/limit"
)

// sweptRun is a run with a window of which everything is known and a token bucket of which it is not.
func sweptRun(t testing.TB, points int) *sweep.Result {
	made := makeRun(t, 1, 0, 3, 0)
	res := &sweep.Result{
		Stats: made.result.Stats, Tables: made.result.Tables, Tallies: &traffic.Tallies{Clients: *made.result.Clients, Actions: made.result.Actions},
		By: request.ByClientAction, Action: "login", Judged: 40, Clients: sweep.Classes{request.Browser: 3, request.Tool: 1},
	}
	window := sweep.Curve{Shape: sweep.Shape{Kind: sweep.WindowAll, Per: limit.Minute}}
	for i := range points {
		n := int64(points - 1 - i)
		window.Points = append(window.Points, sweep.Point{
			Limit: int64(i + 1), Counted: true, Refused: sweep.Classes{request.Tool: n}, Hit: sweep.Classes{request.Tool: min(n, 1)},
		})
	}
	token := sweep.Curve{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: 3, Per: 2 * limit.Second}}}
	token.Points = []sweep.Point{{Limit: 1, Hit: sweep.Classes{2}}, {Limit: 5, Counted: true, Refused: sweep.Classes{7}, Hit: sweep.Classes{1}}}
	res.Curves = []sweep.Curve{window, token}
	return res
}

func storeSweep(t *testing.T, path string, res *sweep.Result) {
	t.Helper()
	s := openStore(t, path)
	r, err := s.Begin(context.Background(), RunInfo{Command: "shadow sweep access.log", Version: "1.0", Started: started})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.FinishSweep(res, finished); err != nil {
		t.Fatal(err)
	}
}

func TestCurves(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	storeSweep(t, path, sweptRun(t, 3))
	for query, want := range map[string][][]any{
		"SELECT COLUMNS(c -> c NOT IN ('run', 'browser_clients', 'crawler_clients', 'tool_clients', 'monitor_clients', 'unknown_clients', 'doubted_clients')) FROM curves ORDER BY curve": {
			{int64(0), "window,charge=all", "client+action", "login", int64(60_000_000), nil, nil, int64(40), int64(4), int64(3), int64(3)},
			{int64(1), "token", "client+action", "login", nil, int64(3), int64(2_000_000), int64(40), int64(4), int64(2), int64(2)},
		},
		"SELECT DISTINCT browser_clients, crawler_clients, tool_clients, monitor_clients, unknown_clients FROM curves": {
			{int64(3), int64(0), int64(1), int64(0), int64(0)},
		},
		"SELECT limit_count, refused, clients_hit, browser_refused, browser_clients_hit, tool_refused, tool_clients_hit FROM curve_points ORDER BY curve, limit_count": {
			{int64(1), int64(2), int64(1), int64(0), int64(0), int64(2), int64(1)},
			{int64(2), int64(1), int64(1), int64(0), int64(0), int64(1), int64(1)},
			{int64(3), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)},
			{int64(1), nil, int64(2), nil, int64(2), nil, int64(0)},
			{int64(5), int64(7), int64(1), int64(7), int64(1), int64(0), int64(0)},
		},
		"SELECT per_seconds, rate_per_second, limit_count, refused_percent, clients_hit_percent FROM latest_curve_figures WHERE limit_count = 1 ORDER BY limit_kind": {
			{nil, 1.5, int64(1), nil, 50.0}, {60.0, nil, int64(1), 5.0, 25.0},
		},
		"SELECT count(*) FROM latest_policy_totals": {{int64(2)}},
		"SELECT run FROM latest_run":                {{int64(2)}},
		"SELECT count(*) FROM curves WHERE run = 1": {{int64(0)}},
	} {
		if got := mustAsk(t, path, query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%v, want\n%v", query, got, want)
		}
	}
}

// Of a long curve the lower half is kept whole, and some of the rest; how many there were is said.
func TestLongCurvesAreThinned(t *testing.T) {
	path := dbPath(t)
	const points = 300_000
	storeSweep(t, path, sweptRun(t, points))
	rows := mustAsk(t, path, `SELECT c.points, c.kept, count(*), max(p.limit_count), min(p.limit_count),
		count(*) FILTER (limit_count <= 5000) FROM curves c JOIN curve_points p USING (run, curve) WHERE curve = 0 GROUP BY ALL`)
	row := rows[0]
	if row[0] != int64(points) || row[1] != row[2] || row[3] != int64(points) || row[4] != int64(1) || row[5] != int64(5000) {
		t.Errorf("points, kept, there, last, first, lower half: %v", row)
	}
	if kept := row[1].(int64); kept > MostPoints || kept < MostPoints*3/4 {
		t.Errorf("%d points kept", kept)
	}
}

func TestThin(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 12, 20, 1000, 123_456} {
		points := make([]sweep.Point, n)
		for i := range points {
			points[i].Limit = int64(i + 1)
		}
		kept := thin(points, 10)
		if len(kept) > 10 || n <= 10 && len(kept) != n || n > 0 && kept[len(kept)-1].Limit != int64(n) {
			t.Errorf("of %d points %v are kept", n, kept)
		}
		for i := 1; i < len(kept); i++ {
			if kept[i].Limit <= kept[i-1].Limit {
				t.Errorf("of %d points %d is kept after %d", n, kept[i].Limit, kept[i-1].Limit)
			}
		}
	}
}
