package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse/detect"
)

// A night reads what has come since the one before, and leaves what it has to.
type night struct {
	state []byte
	logs  int
	rows  []string
	late  int64
	last  Stats
}

// read reads files, each of which is a log's: those that are known go on.
func (n *night) read(t *testing.T, o Options, parts []logfile.Range) {
	t.Helper()
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	o.Resume = &Resume{Ranges: parts, Logs: n.logs, Now: traffic.MaxTime}
	if n.state != nil {
		o.Resume.Carried = traffic.NewDecoder(n.state, o.Tables, o.Actions.Named)
	}
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	before := len(n.rows)
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		n.take(o.Tables, b)
	}
	s := r.Stats()
	if s.Judged() != int64(len(n.rows)-before) {
		t.Errorf("%d requests are said to be judged, %d were", s.Judged(), len(n.rows)-before)
	}
	n.state, n.late, n.last = save(t, r, o.Tables), n.late+s.Late, s
	for _, read := range r.Resumed() {
		n.logs = max(n.logs, read.Rank+1)
		parts[read.Range].From, parts[read.Range].Known = read.Place, true
	}
}

// take notes the counted rows of a batch, in the order that Batch promises.
func (n *night) take(tables *traffic.Tables, b *traffic.Batch) {
	if b.Warm {
		return
	}
	rows := make([]int32, b.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, b.Compare)
	for _, row := range rows {
		n.rows = append(n.rows, describe(tables, b, row))
	}
}

// compare holds the nights against one reading of the whole: what it gave, but for what the last night holds back.
func (n *night) compare(t *testing.T, whole haul) {
	t.Helper()
	if len(n.rows)+int(n.last.Held) != len(whole.rows) || n.late != whole.stats.Late {
		t.Errorf("%d rows, %d held, %d late; the whole has %d rows, %d late", len(n.rows), n.last.Held, n.late, len(whole.rows), whole.stats.Late)
		return
	}
	equalText(t, "nights", n.rows, whole.rows[:len(n.rows)])
}

// One log that grows and is rotated, with lines that come too late among others: each request gets the place that it has in the
// whole.
func TestNightsOfOneLog(t *testing.T) {
	for seed := range fewer(25) {
		rng := testneeds.Rand(t, seed, 1)
		lines := busy(rng, 3000, 1+rng.IntN(30))
		dir := t.TempDir()
		o := readingOptions(t)
		o.Lateness = limit.Time(1+rng.IntN(30)) * limit.Second
		if rng.IntN(3) == 0 {
			o.HasSince, o.Since, o.Warmup = true, noon+limit.Time(rng.IntN(300))*limit.Second, limit.Never
		}
		whole := read(t, o, write(t, dir, "whole.log", strings.Join(lines, "")))
		var n night
		var parts []logfile.Range
		text := ""
		for i, file := 0, 0; i < len(lines); {
			if len(parts) == 0 || strings.Count(text, "\n") > 400 && rng.IntN(2) == 0 { // longer than lines are out of order
				file++
				text = ""
				parts = append(parts, logfile.Range{Name: filepath.Join(dir, fmt.Sprint(file))})
			}
			more := min(len(lines)-i, 1+rng.IntN(900))
			text += strings.Join(lines[i:i+more], "")
			i += more
			write(t, dir, fmt.Sprint(file), text)
			if rng.IntN(3) > 0 || i == len(lines) {
				p := readingOptions(t)
				p.Lateness, p.HasSince, p.Since, p.Warmup = o.Lateness, o.HasSince, o.Since, o.Warmup
				n.read(t, p, parts)
			}
		}
		n.compare(t, whole)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A file that holds a single line yet, as right after a rotation, is the last of its log and not the first.
func TestNightWithOneLineOfAFile(t *testing.T) {
	dir := t.TempDir()
	lines := busy(testneeds.Rand(t, 0, 4), 500, 1)
	closing := func(day int) string {
		return fmt.Sprintf("192.0.2.254 - - [%02d/Nov/2030:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\"\n", day)
	}
	parts := []logfile.Range{
		{Name: write(t, dir, "access.log.1", strings.Join(lines, "")+closing(1))}, {Name: write(t, dir, "access.log", closing(2))},
	}
	var n night
	n.read(t, readingOptions(t), parts)
	if len(n.rows) != len(lines) || n.last.Held != 2 {
		t.Errorf("%d of %d requests are judged, and %d held back", len(n.rows), len(lines), n.last.Held)
	}
}

// Several logs that are read up to the same moment each night.
func TestNightsOfSeveralLogs(t *testing.T) {
	for seed := range fewer(10) {
		rng := testneeds.Rand(t, seed, 2)
		logs := [][]string{busy(rng, 2000, 30), busy(rng, 2000, 30), busy(rng, 2000, 30)}
		dir := t.TempDir()
		var names []string
		var parts []logfile.Range
		for i, lines := range logs {
			names = append(names, write(t, dir, fmt.Sprint(i, ".log"), strings.Join(lines, "")))
			parts = append(parts, logfile.Range{Name: filepath.Join(dir, fmt.Sprint(i)), Log: i})
		}
		o := readingOptions(t)
		whole := read(t, o, names...)
		var n night
		for at := 0; at < 2000; {
			at = min(2000, at+1+rng.IntN(700))
			for i, lines := range logs {
				write(t, dir, fmt.Sprint(i), strings.Join(lines[:at], ""))
			}
			n.read(t, readingOptions(t), parts)
		}
		n.compare(t, whole)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// What is known of a request that waits goes with it: how long servers took, and what it shows of its sender.
func TestHeldRowsAreWhole(t *testing.T) {
	dir := t.TempDir()
	options := func() Options {
		o := readingOptions(t)
		o.Format = detect.Choice{Format: `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $host $upstream_response_time`}
		finder, err := evidence.NewClueFinder(evidence.ClueRules{})
		check(t, err)
		o.ClueFinder, o.Hosts, o.Users, o.Paths, o.Tables = finder, true, true, true, traffic.NewTables()
		o.Actions, err = match.NewActions(nil, o.Tables.Actions)
		check(t, err)
		return o
	}
	line := func(i int, client, rest string) string {
		return strings.Replace(strings.TrimSuffix(combined(i, client, fmt.Sprintf("/page/%d", i)), "\n"), " - - ", " - user"+fmt.Sprint(i)+" ", 1) + rest + "\n"
	}
	first := line(0, "192.0.2.1", " a.example 0.123") + line(1, "192.0.2.2", " b.example 4.5") + line(2, "192.0.2.3", " a.example -")
	last := line(9000, "192.0.2.9", " a.example 0.1") + line(9001, "192.0.2.9", " a.example 0.1")
	see := func(o Options, r *Reader) (rows []string) {
		for b, err := r.Next(); err == nil; b, err = r.Next() {
			for i := range b.At {
				rows = append(rows, fmt.Sprint(describe(o.Tables, b, int32(i)), b.Upstream[i], b.Clues[i], o.Tables.Hosts.Name(b.Host[i]), o.Tables.Users.Name(b.User[i]), o.Tables.Paths.Name(b.Path[i])))
			}
		}
		return rows
	}
	o := options()
	r, err := NewReader(context.Background(), []string{write(t, dir, "whole", first+last)}, nil, o)
	check(t, err)
	want := see(o, r)[:3]
	check(t, r.Close())

	o = options()
	part := logfile.Range{Name: write(t, dir, "a.log", first)}
	o.Resume = &Resume{Ranges: []logfile.Range{part}, Now: traffic.MaxTime}
	r, err = NewReader(context.Background(), []string{part.Name}, nil, o)
	check(t, err)
	if rows := see(o, r); len(rows) > 0 || r.Stats().Held != 3 || r.Stats().HeldFrom != noon {
		t.Errorf("handed out %v, held %+v", rows, r.Stats())
	}
	state := save(t, r, o.Tables)
	part.From, part.Known = r.Resumed()[0].Place, true
	check(t, r.Close())

	o = options()
	write(t, dir, "a.log", first+last)
	o.Resume = &Resume{Ranges: []logfile.Range{part}, Logs: 1, Now: traffic.MaxTime, Carried: traffic.NewDecoder(state, o.Tables, o.Actions.Named)}
	r, err = NewReader(context.Background(), []string{part.Name}, nil, o)
	check(t, err)
	got := see(o, r)
	check(t, r.Close())
	equalText(t, "carried", got, want)
}

// save returns the state that a Reader leaves to the next.
func save(t *testing.T, r *Reader, tables *traffic.Tables) []byte {
	t.Helper()
	var state bytes.Buffer
	to := traffic.NewEncoder(tables, &state)
	r.Save(to)
	check(t, to.Flush())
	return state.Bytes()
}

// A state that is damaged is an error, whatever is wrong with it.
func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	var n night
	part := logfile.Range{Name: write(t, dir, "a.log", strings.Join(busy(testneeds.Rand(t, 1, 1), 200, 5), ""))}
	n.read(t, readingOptions(t), []logfile.Range{part})
	for cut := 0; cut < len(n.state)-1; cut += 1 + len(n.state)/60 {
		o := readingOptions(t)
		o.Resume = &Resume{Ranges: []logfile.Range{part}, Logs: 1, Now: traffic.MaxTime, Carried: traffic.NewDecoder(n.state[:cut], o.Tables, o.Actions.Named)}
		if r, err := NewReader(context.Background(), []string{part.Name}, nil, o); err == nil {
			r.Close()
			t.Fatalf("%d bytes of %d are a state", cut, len(n.state))
		}
	}
}
