package ingest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/useragent"
	"shadow/limit"
	"shadow/parse/detect"
)

// fewer returns a fifth of a number, of seeds or lines, where the tests have to be quick.
func fewer(n uint64) uint64 {
	if testing.Short() {
		return n / 5
	}
	return n
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noon is the time at which the logs of these tests begin.
const noon = 1_767_268_800 * limit.Second // 2026-01-01 12:00 UTC

// combined returns a line of a log, n seconds after noon.
func combined(n int, client, path string) string {
	at := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(n) * time.Second)
	return fmt.Sprintf("%s - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" \"curl/8.5.0\"\n", client, at.Format("02/Jan/2006:15:04:05 -0700"), path, 100+n%50)
}

// busy returns a log of n lines, some of them out of order by some seconds, at about ten lines a second.
func busy(rng *rand.Rand, n, jitter int) (lines []string) {
	for i := range n {
		client := fmt.Sprintf("192.0.2.%d", rng.IntN(40))
		lines = append(lines, combined(i/10-rng.IntN(jitter+1), client, fmt.Sprintf("/%c/%d", 'a'+rng.IntN(4), i)))
	}
	return lines
}

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	check(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// readingOptions returns the options of a replay, with tables of their own.
func readingOptions(t testing.TB) Options {
	t.Helper()
	tables := &traffic.Tables{Clients: intern.NewDict(), Agents: useragent.NewAgents(), Actions: intern.NewDict(), Hosts: intern.NewDict()}
	actions, err := match.NewActions(nil, tables.Actions)
	check(t, err)
	return Options{
		Tables: tables, Actions: actions, Lateness: DefaultLateness, Format: detect.Choice{Format: "auto"},
		Waiting: 100_000, // as many as these logs have lines
	}
}

// A haul is all that a Reader gave.
type haul struct {
	rows  []string // in the order that Batch promises
	warm  []string // those that only warm
	sizes []int    // of the batches
	stats Stats
}

// read reads inputs to their end.
func read(t testing.TB, o Options, names ...string) haul {
	t.Helper()
	return readFrom(t, o, nil, names...)
}

func readFrom(t testing.TB, o Options, stdin io.Reader, names ...string) (h haul) {
	t.Helper()
	r, err := NewReader(context.Background(), names, stdin, o)
	check(t, err)
	defer r.Close()
	last := traffic.MinTime
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		rows := make([]int32, b.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		slices.SortFunc(rows, b.Compare)
		if first := b.Sequence()[rows[0]]; first <= last {
			t.Errorf("a batch begins at %d, the one before it ended at %d", first, last)
		}
		last = b.Sequence()[rows[len(rows)-1]]
		h.sizes = append(h.sizes, b.Len())
		for _, row := range rows {
			text := describe(o.Tables, b, row)
			if b.Warm {
				h.warm = append(h.warm, text)
			} else {
				h.rows = append(h.rows, text)
			}
		}
	}
	h.stats = r.Stats()
	h.addUp(t)
	return h
}

// describe writes down a row: its second after noon, client, action, status and size.
func describe(tables *traffic.Tables, b *traffic.Batch, row int32) string {
	return fmt.Sprintf("%d %s %s %d %d", (b.At[row]-noon)/limit.Second, tables.Clients.Name(b.Client[row]),
		tables.Actions.Name(int32(b.Action[row])), b.Status[row], b.Bytes[row])
}

// addUp checks that every line went somewhere.
func (h *haul) addUp(t testing.TB) {
	t.Helper()
	s := &h.stats
	if s.Lines != s.Parsed+s.Unreadable {
		t.Errorf("%d lines are not %d parsed and %d unreadable", s.Lines, s.Parsed, s.Unreadable)
	}
	if s.Taken() != s.Warm+int64(len(h.rows)) || s.Warm != int64(len(h.warm)) {
		t.Errorf("%d parsed lines are not %d excluded, %d warm (%d came) and %d requests", s.Parsed, s.Excluded, s.Warm, len(h.warm), len(h.rows))
	}
	var sum Stats
	first, last := traffic.MaxTime, traffic.MinTime
	for _, in := range s.Inputs {
		sum.Lines, sum.Parsed, sum.Unreadable = sum.Lines+in.Lines, sum.Parsed+in.Parsed, sum.Unreadable+in.Unreadable
		if in.FirstAt != 0 {
			first, last = min(first, in.FirstAt), max(last, in.LastAt)
		}
	}
	if sum.Lines != s.Lines || sum.Parsed != s.Parsed || sum.Unreadable != s.Unreadable {
		t.Errorf("the inputs add up to %d lines, %d parsed, %d unreadable; want %d, %d, %d", sum.Lines, sum.Parsed, sum.Unreadable, s.Lines, s.Parsed, s.Unreadable)
	}
	if len(h.rows) > 0 && (first != s.FirstAt || last != s.LastAt) {
		t.Errorf("the inputs span %d to %d, want %d to %d", first, last, s.FirstAt, s.LastAt)
	}
	if want := min(s.Unreadable, faultsShown); int64(len(s.Faults)) != want {
		t.Errorf("%d faults are shown, want %d", len(s.Faults), want)
	}
}

// equalText compares what came with what was wanted, line by line.
func equalText(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: row %d is %q, want %q (%d and %d rows)", what, i, got[i], want[i], len(got), len(want))
			return
		}
	}
	t.Errorf("%s: %d rows, want %d: %s", what, len(got), len(want), strings.Join(slices.Concat(got, want)[min(len(got), len(want)):][:1], ""))
}
