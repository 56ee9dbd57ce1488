//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What storing costs: the generator's log, of which token:6/30s refuses a tenth, with and without a database. The
// smaller log shows what opening and committing cost, the larger one what a row costs.

func (b *bench) store() error {
	for _, lines := range b.sizes() {
		db := filepath.Join(b.dir, "bench.duckdb")
		if err := errors.Join(b.storeLog(lines, db), removeDatabase(db)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) storeLog(lines int64, db string) error {
	log, err := b.log(lines, 50_000)
	if err != nil {
		return err
	}
	replay := []string{b.shadow, "replay", log, "--quiet", "--limit", "6/30s"}
	without := &contender{name: "--no-store", args: append(slices.Clone(replay), "--no-store"), cores: 2}
	with := &contender{
		name: "storing", args: append(slices.Clone(replay), "--db", db), cores: 2,
		clean: func() error { return removeDatabase(db) },
		after: func(l *lap) (err error) { l.rows, err = b.eventRows(db); return err },
	}
	if err := race(b.ctx, b.rounds, without, with); err != nil {
		return err
	}
	size := logSize{lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("store: %d lines, three policies, 2 cores", size.lines),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× --no-store\ttarget\t")
	t.speed(without, without, size, "")
	t.speed(with, without, size, b.atMost("× --no-store: ", with.times(without), 2))
	if err := t.Flush(); err != nil {
		return err
	}
	b.rowRate(with, without)
	return nil
}

// rowRate prints how many rows a second went in during the time that storing took on top.
func (b *bench) rowRate(with, without *contender) {
	extra := make([]float64, len(with.laps)) // seconds
	for i := range extra {
		extra[i] = (with.laps[i].wall - without.laps[i].wall).Seconds()
	}
	rows, seconds := with.laps[0].rows, medianOf(extra)
	if seconds <= 0 {
		fmt.Fprintf(b.out, "%d event rows in no time that could be measured\n", rows)
		return
	}
	fmt.Fprintf(b.out, "%d event rows in %.3f s more; %s\n", rows, seconds,
		b.atLeast("million rows/s: ", float64(rows)/seconds/1e6, 4))
}

// eventRows counts what a run has stored.
func (b *bench) eventRows(db string) (int64, error) {
	query := exec.CommandContext(b.ctx, b.shadow, "query", "--db", db, "--output", "csv", "SELECT count(*) AS n FROM events")
	out, err := query.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("shadow query: %w\n%s", err, out)
	}
	fields := strings.Fields(string(out))
	return strconv.ParseInt(fields[len(fields)-1], 10, 64)
}

func removeDatabase(db string) error {
	for _, name := range []string{db, db + ".wal"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
