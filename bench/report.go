//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"path/filepath"
)

// How soon a stored run is on the screen: the larger log, judged by six limits and swept, of which nothing is read again.
// A reader waits for the clock, so the times are those of the machine; nothing else may be going on.

// What readers wait for at most, in seconds.
const (
	tableSeconds = 1
	pageSeconds  = 3
)

func (b *bench) report() error {
	db := filepath.Join(b.dir, "report.duckdb")
	return errors.Join(b.reportStored(max(b.lines, b.large), db), removeDatabase(db))
}

func (b *bench) reportStored(lines int64, db string) error {
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	if err := removeDatabase(db); err != nil {
		return err
	}
	store := []*contender{
		{name: "replay", args: []string{b.shadow, "replay", log, "--quiet", "--db", db, "--limit", "6/30s", "--limit", "30/1m"}},
		{name: "sweep", args: []string{b.shadow, "sweep", log, "--quiet", "--db", db}},
	}
	if err := race(b.ctx, 1, store...); err != nil {
		return err
	}
	table := &contender{name: "table", args: []string{b.shadow, "report", "--db", db}}
	week := &contender{name: "table, compared", args: []string{b.shadow, "report", "--db", db, "--compare", "7d"}}
	page := &contender{name: "html", args: []string{b.shadow, "report", "--db", db, "--output", "html"}}
	if err := race(b.ctx, b.rounds, table, week, page); err != nil {
		return err
	}
	t := newTable(b.out, fmt.Sprintf("report: a replay of %d lines by six limits, and its curves", lines), "\ttime s\toutput kB\ttarget\t")
	most := map[*contender]float64{table: tableSeconds, week: tableSeconds, page: pageSeconds}
	for _, c := range []*contender{table, week, page} {
		fmt.Fprintf(t, "%s\t%.3f\t%d\t%s\t\n", c.name, c.seconds(), len(c.laps[0].stdout)/1000, b.atMost("seconds: ", c.seconds(), most[c]))
	}
	return t.Flush()
}
