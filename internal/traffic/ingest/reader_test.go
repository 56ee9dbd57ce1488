package ingest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
)

// Whatever the size of batches, the number of workers and the order of the inputs: the same rows come in the same order,
// with the same statistics.
func TestReaderGivesTheSameRows(t *testing.T) {
	dir, rng := t.TempDir(), testneeds.Rand(t, 1, 2)
	var names []string
	for i, n := range []uint64{25_000, 25_000, 500} { // three hosts at the same time; 5,000 lines are about a block
		lines := busy(rng, int(fewer(n)), 40)
		for range 20 {
			lines[rng.IntN(len(lines))] = fmt.Sprintf("bad line of host %d\n", i)
		}
		names = append(names, write(t, dir, fmt.Sprintf("host%d.log", i), strings.Join(lines, "")))
	}
	var want haul
	for i, batch := range []int{0, 1, 7, 1000, 20_000} {
		o := readingOptions(t)
		o.Lateness = 20 * limit.Second // so that some are late
		o.Batch, o.Workers = batch, 1+rng.IntN(4)
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		got := read(t, o, names...)
		if i == 0 {
			want = got
			continue
		}
		equalText(t, fmt.Sprintf("batch %d, %d workers", batch, o.Workers), got.rows, want.rows)
		if !reflect.DeepEqual(got.stats, want.stats) {
			t.Errorf("batch %d: %+v\nwant %+v", batch, got.stats, want.stats)
		}
	}
	if want.stats.Late == 0 || want.stats.Unreadable == 0 || len(want.sizes) != 1 {
		t.Errorf("the test is too easy: %+v, %d batches", want.stats, len(want.sizes))
	}
}

// A byte order mark hides neither the first client nor that a log is JSON.
func TestReaderSkipsByteOrderMark(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"combined": combined(1, "192.0.2.7", "/"),
		"json":     `{"time":"2026-01-01T12:00:01Z","remote_addr":"192.0.2.7","request":"GET / HTTP/1.1","status":200}` + "\n",
	} {
		o := readingOptions(t)
		got := read(t, o, write(t, dir, name, "\ufeff"+text))
		if len(got.rows) != 1 || o.Tables.Clients.Len() != 1 || o.Tables.Clients.Name(0) != "192.0.2.7" {
			t.Errorf("%s: %q", name, got.rows)
		}
	}
}

// However the bytes arrive, the rows are the same.
func TestReaderFromEverywhere(t *testing.T) {
	dir := t.TempDir()
	text := strings.Join(busy(testneeds.Rand(t, 3, 4), 9000, 5), "")
	plain := write(t, dir, "access.log", text)
	want := read(t, readingOptions(t), plain)
	if len(want.rows) != 9000 {
		t.Fatalf("%d rows", len(want.rows))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(text))
	check(t, w.Close())
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	for name, got := range map[string]haul{
		"gzip":            read(t, readingOptions(t), write(t, dir, "access.log.gz", packed.String())),
		"stdin":           readFrom(t, readingOptions(t), strings.NewReader(text), "-"),
		"stdin in halves": readFrom(t, readingOptions(t), iotest.HalfReader(strings.NewReader(text)), "-"),
		"gzip from stdin": readFrom(t, readingOptions(t), &packed, "-"),
		"CRLF":            read(t, readingOptions(t), write(t, dir, "crlf.log", crlf)),
		"no last newline": read(t, readingOptions(t), write(t, dir, "cut.log", strings.TrimSuffix(text, "\n"))),
	} {
		equalText(t, name, got.rows, want.rows)
		if got.stats.Lines != want.stats.Lines || got.stats.Late != 0 {
			t.Errorf("%s: %d lines, want %d; %d late", name, got.stats.Lines, want.stats.Lines, got.stats.Late)
		}
	}
}

// Of two requests at one moment, the one of the input that began earlier comes first, and inside an input the one that
// was logged first.
func TestReaderMergesByTime(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "b-but-earlier.log", combined(1, "a1", "/")+combined(5, "a2", "/")+combined(5, "a3", "/")+combined(9, "a4", "/"))
	b := write(t, dir, "a-but-later.log", combined(2, "b1", "/")+combined(5, "b2", "/")+combined(4, "b3", "/")+combined(9, "b4", "/"))
	want := []string{"1 a1", "2 b1", "4 b3", "5 a2", "5 a3", "5 b2", "9 a4", "9 b4"}
	for _, names := range [][]string{{a, b}, {b, a}} {
		var got []string
		for _, row := range read(t, readingOptions(t), names...).rows {
			got = append(got, strings.Join(strings.Fields(row)[:2], " "))
		}
		equalText(t, "merged", got, want)
	}
}

// Odd files have their outcome, and say so.
func TestReaderOfOddFiles(t *testing.T) {
	one := combined(1, "192.0.2.1", "/")
	for name, test := range map[string]struct {
		content                 string
		lines, bad, first, last int64 // first and last in seconds after noon
	}{
		"empty":                 {"", 0, 0, 0, 0},
		"a line feed":           {"\n", 1, 1, 0, 0},
		"one line":              {one, 1, 0, 1, 1},
		"one line, not ended":   {strings.TrimSuffix(one, "\n"), 1, 0, 1, 1},
		"one line, CRLF":        {strings.TrimSuffix(one, "\n") + "\r\n", 1, 0, 1, 1},
		"a line and half one":   {one + one[:30], 2, 1, 1, 1},
		"empty lines":           {"\n" + one + "\n\r\n", 4, 3, 1, 1},
		"only bad lines":        {strings.Repeat("no log at all\n", 50_000), 50_000, 50_000, 0, 0},
		"NUL bytes":             {strings.Repeat("\x00", 5000) + "\n" + one, 2, 1, 1, 1},
		"invalid UTF-8":         {"\xff\xfe\xfd\n" + one, 2, 1, 1, 1},
		"a line far too long":   {one + strings.TrimSuffix(one, "\"\n") + strings.Repeat("x", 3<<20) + "\"\n" + combined(2, "c", "/"), 3, 1, 1, 2},
		"and at the end":        {one + strings.TrimSuffix(one, "\"\n") + strings.Repeat("x", 3<<20), 2, 1, 1, 1},
		"stamps ahead by a day": {one + combined(86400, "c", "/") + combined(2, "c", "/"), 3, 0, 1, 86400},
	} {
		o := readingOptions(t)
		o.Format = detect.Choice{Format: "combined"}
		got := read(t, o, write(t, t.TempDir(), "access.log", test.content))
		s := &got.stats
		if s.Lines != test.lines || s.Unreadable != test.bad || s.Late != 0 {
			t.Errorf("%s: %d lines, %d unreadable, %d late; want %d, %d, 0", name, s.Lines, s.Unreadable, s.Late, test.lines, test.bad)
		}
		if test.lines > test.bad && (s.FirstAt != noon+limit.Time(test.first)*limit.Second || s.LastAt != noon+limit.Time(test.last)*limit.Second) {
			t.Errorf("%s: from %d to %d", name, s.FirstAt-noon, s.LastAt-noon)
		}
		if len(s.Inputs) != 1 || s.Inputs[0].Problem != "" {
			t.Errorf("%s: %+v", name, s.Inputs)
		}
	}
}

// Faults tell the line of the file, also many blocks on, and lines that are too long are among them.
func TestReaderCountsLines(t *testing.T) {
	lines := busy(testneeds.Rand(t, 5, 6), 30_000, 0)
	bad := []int{1, 2, 4_000, 4_001, 9_999, 15_000, 15_001, 20_000, 30_000}
	for _, n := range bad {
		lines[n-1] = fmt.Sprintf("bad line %d\n", n)
	}
	long := 12_345
	lines[long-1] = strings.TrimSuffix(lines[long-1], "\"\n") + strings.Repeat("y", 2<<20) + "\"\n"
	name := write(t, t.TempDir(), "access.log", strings.Join(lines, ""))
	for _, workers := range []int{1, 4} {
		o := readingOptions(t)
		o.Workers = workers
		s := read(t, o, name).stats
		var got []int
		for _, f := range s.Faults {
			if f.Input != name || len(f.Text) > faultTextBytes {
				t.Errorf("fault in %q: %.300q", f.Input, f.Text)
			}
			if f.Fault == parse.TooLong {
				got = append(got, -int(f.Line))
			} else if got = append(got, int(f.Line)); f.Text != fmt.Sprintf("bad line %d", f.Line) {
				t.Errorf("line %d is said to be %q", f.Line, f.Text)
			}
		}
		slices.SortFunc(got, func(x, y int) int { return cmp.Compare(max(x, -x), max(y, -y)) })
		want := slices.Sorted(slices.Values(append(slices.Clone(bad), long)))
		want[slices.Index(want, long)] = -long
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: faults in lines %d, want %d", workers, got, want)
		}
	}
}

// Only so many faults are shown, those of the input that began first before the others.
func TestReaderShowsFaultsInOrder(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 4 {
		lines := []string{combined(i, "c", "/"), combined(i, "c", "/")}
		for n := range 4 {
			lines = append(lines, fmt.Sprintf("bad %d.%d\n", i, n))
		}
		names = append(names, write(t, dir, fmt.Sprintf("%d.log", i), strings.Join(lines, "")))
	}
	slices.Reverse(names)
	o := readingOptions(t)
	o.Format = detect.Choice{Format: "combined"}
	var got []string
	for _, f := range read(t, o, names...).stats.Faults {
		got = append(got, f.Text)
	}
	want := "bad 0.0,bad 0.1,bad 0.2,bad 0.3,bad 1.0,bad 1.1,bad 1.2,bad 1.3,bad 2.0,bad 2.1"
	equalText(t, "faults", got, strings.Split(want, ","))
}

// The finest stamp decides on the resolution, before any subtraction.
func TestReaderResolution(t *testing.T) {
	line := func(stamp string) string {
		return fmt.Sprintf(`{"time_iso8601":%q,"remote_addr":"192.0.2.1","request":"GET / HTTP/1.1","status":"200","request_time":"0.123"}`+"\n", stamp)
	}
	for name, test := range map[string]struct {
		stamps string // two inputs of two lines each
		want   limit.Time
	}{
		"minutes":      {"12:00:00 12:01:00 12:02:00 12:03:00", limit.Minute},
		"tens":         {"12:00:00 12:01:00 12:02:00 12:03:10", 10 * limit.Second},
		"seconds":      {"12:00:00 12:00:01 12:00:02 12:00:03", limit.Second},
		"milliseconds": {"12:00:00.000 12:00:01.000 12:00:02.000 12:00:03.120", limit.Millisecond},
		"microseconds": {"12:00:00.000001 12:00:01.000 12:00:02.000 12:00:03.500", limit.Microsecond},
		"at the end":   {"12:00:00.000 12:00:01.500 12:00:02.000 12:00:03.500001", limit.Microsecond},
	} {
		dir, s := t.TempDir(), strings.Fields(test.stamps)
		a, b := line("2026-01-01T"+s[0]+"Z")+line("2026-01-01T"+s[1]+"Z"), line("1969-01-01T"+s[2]+"Z")+line("2026-01-01T"+s[3]+"Z")
		if got := read(t, readingOptions(t), write(t, dir, "a", a), write(t, dir, "b", b)).stats.Resolution; got != test.want {
			t.Errorf("%s: %d µs, want %d", name, got, test.want)
		}
	}
	if got := read(t, readingOptions(t), write(t, t.TempDir(), "empty", "")).stats.Resolution; got != 0 {
		t.Errorf("of nothing: %d µs", got)
	}
}

// A line that stands twice is known by its fraction of a second, also where blocks or parts meet.
func TestReaderTwins(t *testing.T) {
	line := `{"time_iso8601":"2026-01-01T12:00:%s","remote_addr":"192.0.2.1","request":"GET / HTTP/1.1","status":"200"}` + "\n"
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, line, fmt.Sprintf("%02d.%03d", i/500, i/2%1000))
	}
	name := write(t, t.TempDir(), "a", text.String())
	if got := read(t, readingOptions(t), name).stats.Inputs[0].Twins; got != 10_000-10 { // ten are of whole seconds
		t.Errorf("%d lines stand twice", got)
	}
}

// With too little room for those that wait, the oldest go early and those behind them are late; nothing is lost.
func TestReaderWithLittleRoom(t *testing.T) {
	lines := busy(testneeds.Rand(t, 7, 8), 30_000, 1100)
	name := write(t, t.TempDir(), "access.log", strings.Join(lines, ""))
	full := read(t, readingOptions(t), name)
	if full.stats.Late != 0 || len(full.sizes) != 1 {
		t.Fatalf("%d late in %d batches with much room", full.stats.Late, len(full.sizes))
	}
	for _, room := range []int{1, 1000, 5000} {
		o := readingOptions(t)
		o.Batch, o.Waiting = 500, room
		got := read(t, o, name)
		if got.stats.Late == 0 {
			t.Errorf("room for %d: nothing is late", room)
		}
		equalText(t, fmt.Sprintf("room for %d", room), slices.Sorted(slices.Values(got.rows)), slices.Sorted(slices.Values(full.rows)))
	}
}

// Batches have room for what waits: it grows where many wait at once, and is given back when they are through.
func TestReaderGivesRoomBack(t *testing.T) {
	var lines []string
	for i := range 60_000 {
		second := 0 // nothing is handed out before the lateness has passed
		if i >= 20_000 {
			second = 10_000 + 100*(i-20_000)
		}
		lines = append(lines, combined(second, "192.0.2.1", "/"))
	}
	o := readingOptions(t)
	o.Batch = 500
	r, err := NewReader(t.Context(), []string{write(t, t.TempDir(), "access.log", strings.Join(lines, ""))}, nil, o)
	check(t, err)
	defer r.Close()
	var room []int // of the batches
	rows := 0
	for {
		b, err := r.Next()
		if err != nil {
			break
		}
		rows, room = rows+b.Len(), append(room, cap(b.At))
	}
	if last := slices.Max(room[len(room)-10:]); rows != len(lines) || slices.Max(room) < 20_000 || last > 10_000 {
		t.Errorf("%d rows, room for %d at most and for %d in the end", rows, slices.Max(room), last)
	}
}

// A log of W3C's format may name other columns in its middle. Each line is read by the header before it, whichever block
// the two are in.
func TestColumnsChangeWithinALog(t *testing.T) {
	var log strings.Builder
	var want []string
	for i := range 60_000 {
		client := fmt.Sprintf("192.0.2.%d", i%100)
		if i%17_000 == 0 {
			log.WriteString("#Software: test\n#Fields: date time c-ip s-ip cs-method cs-uri-stem sc-status sc-bytes\n")
		}
		if i%17_000 == 9_000 {
			log.WriteString("#Fields: date time s-ip c-ip cs-uri-stem cs-method sc-bytes sc-status\n")
		}
		moment := time.UnixMicro(int64(noon)).UTC().Add(time.Duration(i) * time.Second).Format(time.DateTime)
		if i%17_000 < 9_000 {
			fmt.Fprintf(&log, "%s %s 10.0.0.5 GET /a 200 312\n", moment, client)
		} else {
			fmt.Fprintf(&log, "%s 10.0.0.5 %s /a GET 312 200\n", moment, client)
		}
		want = append(want, fmt.Sprintf("%d %s /a 200 312", i, client))
	}
	name := write(t, t.TempDir(), "u_ex260101.log", log.String())
	h := read(t, readingOptions(t), name)
	equalText(t, "requests", h.rows, want)
	if h.stats.Lines != 60_000 || h.stats.Unreadable != 0 {
		t.Errorf("%d lines, %d unreadable", h.stats.Lines, h.stats.Unreadable)
	}
}
