//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// What storing costs: the generator's log, of which token:6/30s refuses a tenth, with and without a database.

func (b *bench) store() error {
	db := filepath.Join(b.dir, "bench.duckdb")
	return errors.Join(b.storeIn(db), removeDatabase(db))
}

func (b *bench) storeIn(db string) error {
	log, err := b.log(b.lines, 50_000)
	if err != nil {
		return err
	}
	replay := []string{b.shadow, "replay", log, "--quiet", "--limit", "6/30s"}
	without := &contender{name: "--no-store", args: append(replay[:len(replay):len(replay)], "--no-store"), cores: 2}
	with := &contender{
		name: "storing", args: append(replay[:len(replay):len(replay)], "--db", db), cores: 2,
		clean: func() error { return removeDatabase(db) },
		after: func(l *lap) (err error) { l.rows, err = b.eventRows(db); return err },
	}
	if err := race(b.ctx, b.rounds, without, with); err != nil {
		return err
	}
	size := logSize{b.lines, size(log)}
	t := newTable(b.out, fmt.Sprintf("store: %d lines, three policies, 2 cores", size.lines),
		"\ttime s\tlines/s\tMB/s\tCPU ns/line\t× --no-store\ttarget\t")
	t.speed(without, without, size, "")
	t.speed(with, without, size, b.atMost("× --no-store: ", with.times(without), 2))
	if err := t.Flush(); err != nil {
		return err
	}
	rows := float64(with.laps[0].rows)
	extra := with.seconds() - without.seconds()
	fmt.Fprintf(b.out, "%.0f event rows in %.3f s more; %s\n", rows, extra, b.atLeast("million rows/s: ", rows/extra/1e6, 4))
	return nil
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
