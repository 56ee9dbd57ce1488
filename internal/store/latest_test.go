//go:build !nostore

package store

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/replay"
)

// latestOf lists the views of the latest run, with the kinds of run that have what each shows.
var latestOf = map[string]string{
	"policy_totals": "replay judged unkept tail", "policy_limits": "replay judged unkept tail", "class_totals": "replay judged unkept tail",
	"client_totals": "replay judged unkept tail", "action_totals": "replay judged unkept tail",
	"identity_totals": "judged", "would_blocks": "replay judged tail", "curve_figures": "sweep",
}

// storeKind stores a run of a kind. seed is another one for each.
func storeKind(t *testing.T, path, kind string, seed uint64) {
	t.Helper()
	switch kind {
	case "replay":
		storeRun(t, path, makeRun(t, seed, 2, 20, 100), info)
	case "unkept":
		few, m := info, makeRun(t, seed, 2, 20, 100)
		few.Events, m.events = 0, nil
		storeRun(t, path, m, few)
	case "judged":
		storeJudged(t, path, judged(t, seed, 100, 5, who.Person))
	case "sweep":
		storeSweep(t, path, sweptRun(t, int(seed)+1))
	case "tail":
		var batches []*replay.Addition
		for n := range uint64(5) {
			a := madeBatch(testneeds.Rand(t, seed, n), n+1, 2, newGrown(2))
			a.Tail = fmt.Sprint("tail ", seed)
			batches = append(batches, a)
		}
		appendTo(t, path, batches...)
	}
}

// Each latest_ view shows the latest run that has what it shows, in whatever order the runs come.
func TestLatestViews(t *testing.T) {
	t.Parallel()
	path, latest := dbPath(t), map[string]int{}
	for i, kind := range strings.Fields("sweep replay sweep judged unkept tail sweep replay") {
		run := i + 1
		storeKind(t, path, kind, uint64(run))
		if n := askNumber(t, path, "SELECT run FROM latest_run"); n != int64(run) {
			t.Errorf("latest_run after run %d: %d", run, n)
		}
		var differ []string // for each view: how many rows differ, and how many there are
		for view, kinds := range latestOf {
			if strings.Contains(kinds, kind) {
				latest[view] = run
			}
			got, want := "FROM latest_"+view, fmt.Sprintf("SELECT * EXCLUDE (run) FROM %s WHERE run = %d", view, latest[view])
			differ = append(differ, fmt.Sprintf(`SELECT '%s', (SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%s EXCEPT ALL %s))),
				(SELECT count(*) FROM (%s))`, view, got, want, want, got, got))
		}
		for _, row := range mustAsk(t, path, strings.Join(differ, " UNION ALL ")) {
			view := row[0].(string)
			if row[1] != int64(0) || (row[2] == int64(0)) != (latest[view] == 0) {
				t.Errorf("latest_%s after run %d, a %s: %d of %d rows are not those of run %d", view, run, kind, row[1], row[2], latest[view])
			}
		}
	}
}

// A run that refused nothing has would-blocks all the same, none: those of another run stay away.
func TestLatestOfNothingRefused(t *testing.T) {
	path := dbPath(t)
	storeKind(t, path, "replay", 1)
	quiet := makeRun(t, 2, 2, 20, 0)
	storeRun(t, path, quiet, info)
	storeKind(t, path, "sweep", 3)
	for view, want := range map[string]int64{"would_blocks": 0, "client_totals": 0, "policy_totals": 2} {
		if n := askNumber(t, path, "SELECT count(*) FROM latest_"+view); n != want {
			t.Errorf("latest_%s: %d rows, want %d", view, n, want)
		}
	}
}
