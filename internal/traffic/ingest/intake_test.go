package ingest

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"shadow/internal/logfile"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse"
)

// newTestIntake returns an intake for one format, with tables of its own.
func newTestIntake(t testing.TB, sample []byte) (*intake, *parse.Format) {
	t.Helper()
	o := readingOptions(t)
	found, err := o.Format.For(sample)
	check(t, err)
	return newIntake(&o, o.span(), traffic.Columns{Host: true, Upstream: true}), found.Format
}

// A block of clients, agents and paths that are known costs no allocation, nor does putting its rows in order.
func TestIntakeAllocatesNothing(t *testing.T) {
	text := []byte(strings.Join(busy(testneeds.Rand(t, 1, 1), 3_000, 10), ""))
	in, format := newTestIntake(t, text)
	block, r := logfile.Block{}, rows{Batch: *traffic.NewBatch(0, in.columns)}
	fill := func() {
		block.Data = append(block.Data[:0], text...)
		in.fill(&r, &block, format)
	}
	if n := allocations(fill); n > 0 {
		t.Errorf("%v allocations to fill %d rows", n, r.Len())
	}
	if r.Len() != 3_000 || r.counts.Parsed != 3_000 || r.counts.Lines != 3_000 || r.counts.Bytes != int64(len(text)) {
		t.Fatalf("%d rows of %d lines", r.Len(), r.counts.Lines)
	}
	p := pending{Batch: *traffic.NewBatch(10_000, in.columns), lateness: 5 * limit.Second, since: traffic.MinTime, watermark: traffic.MinTime}
	w, out := newProgress(), traffic.NewBatch(10_000, in.columns)
	order := func() {
		p.watermark = traffic.MinTime // the log begins again
		*w = *newProgress()
		p.add(&r.Batch, w)
		out.Reset()
		p.release(traffic.MaxTime, out, 10_000)
	}
	order()
	if n := allocations(order); n > 2 { // once a batch: for the places of those that are late
		t.Errorf("%v allocations to put %d rows in order", n, r.Len())
	}
}

// A stream is a log that is written while it is read: ten lines a second, from 40 clients.
type stream struct {
	line, lines int
	text        []byte // written and not yet read
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for ; len(s.text) < len(p) && s.line < s.lines; s.line++ {
		s.text = append(s.text, combined(s.line/10, fmt.Sprintf("192.0.2.%d", s.line%40), "/")...)
	}
	n := copy(p, s.text)
	s.text = s.text[:copy(s.text, s.text[n:])]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A log five times as long takes no more memory.
func TestReaderMemoryIsFlat(t *testing.T) {
	// heap returns the bytes in use at the end: of the last batches the least, since buffers come and go.
	heap := func(lines int) (least uint64) {
		o := readingOptions(t)
		o.Batch, o.Waiting, o.Lateness, o.Workers = 5_000, 20_000, 10*limit.Second, 1
		r, err := NewReader(t.Context(), []string{"-"}, &stream{lines: lines}, o)
		check(t, err)
		defer r.Close()
		var m runtime.MemStats
		var used []uint64
		for {
			if _, err := r.Next(); err != nil {
				return slices.Min(used[len(used)-5:])
			}
			runtime.GC()
			runtime.ReadMemStats(&m)
			used = append(used, m.HeapAlloc)
		}
	}
	if few, many := heap(80_000), heap(400_000); many > few+few/3 {
		t.Errorf("%d kB for many lines, %d kB for few", many>>10, few>>10)
	}
}

// What a request counts by under a key by path.
func TestPathKey(t *testing.T) {
	for _, c := range []struct{ method, target, want string }{
		{"GET", "/a/b", "/a/b"},
		{"GET", "/a/b?x=1#y", "/a/b"},
		{"GET", "/a/", "/a/"},
		{"GET", "//a/%62/../c", "//a/%62/../c"},
		{"GET", "http://shop.example/a?b", "/a"},
		{"OPTIONS", "*", "*"},
		{"CONNECT", "shop.example:443", "shop.example:443"},
		{"GET", "", "-"},
		{"", "\x16\x03\x01", match.NotHTTPAction},
		{"", "/a", "/a"},
	} {
		if got := string(pathKey(&parse.Record{Method: []byte(c.method), Path: []byte(c.target)}, false)); got != c.want {
			t.Errorf("%s %q counts by %q, want %q", c.method, c.target, got, c.want)
		}
	}
}

// allocations counts the allocations of one call of f, the least of several measurements: what an earlier test has left
// running allocates as well, now and then.
func allocations(f func()) float64 {
	const runs = 5
	least := testing.AllocsPerRun(runs, f)
	for tries := 0; least > 0 && tries < 10; tries++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
