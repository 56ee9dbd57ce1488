package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// spanned returns the rows that take part, judged by the second that they begin with.
func spanned(rows []string, from, until int) (some []string) {
	for _, row := range rows {
		var second int
		fmt.Sscan(row, &second)
		if second >= from && second < until {
			some = append(some, row)
		}
	}
	return some
}

// --since and --until cut out a stretch; a horizon before it warms the limiters, unless they are to be cold.
func TestReaderSpan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := busy(testneeds.Rand(t, 9, 10), 12_000, 30) // 1,200 seconds
	name := write(t, dir, "access.log", strings.Join(lines, ""))
	other := write(t, dir, "other.log", strings.Join(busy(testneeds.Rand(t, 11, 12), 3_000, 30), ""))
	all := read(t, readingOptions(t), name, other)
	const never, none = 1 << 30, -1 << 30
	for what, test := range map[string]struct{ since, until, warm int }{
		"all":                     {none, never, 0},
		"since":                   {600, never, 0},
		"until":                   {none, 600, 0},
		"a stretch":               {300, 600, 0},
		"warmed":                  {300, 600, 100},
		"warmed by all":           {300, 600, never},
		"warmed by all and more":  {300, never, 10_000},
		"before the first line":   {-9000, -8000, 100},
		"from before the first":   {-9000, 50, 100},
		"behind the last line":    {9000, 9999, 100},
		"nothing but warming":     {1400, never, 1000},
		"an instant, to be exact": {300, 301, 1},
	} {
		for _, batch := range []int{0, 300} {
			o := readingOptions(t)
			o.Batch = batch
			o.HasSince, o.HasUntil = test.since != none, test.until != never
			o.Since, o.Until = noon+limit.Time(test.since)*limit.Second, noon+limit.Time(test.until)*limit.Second
			if o.Warmup = limit.Time(test.warm) * limit.Second; test.warm == never {
				o.Warmup = limit.Never
			}
			got := read(t, o, name, other)
			equalText(t, what, got.rows, spanned(all.rows, test.since, test.until))
			if o.HasSince {
				equalText(t, what+", warming", got.warm, spanned(all.rows, test.since-test.warm, test.since))
			}
			if got.stats.Late != 0 || len(got.rows) == 0 && (got.stats.FirstAt != 0 || got.stats.LastAt != 0) {
				t.Errorf("%s: %+v", what, got.stats)
			}
		}
	}
}

// Of two requests at one moment that of the input that begins first comes first, whatever the span.
func TestReaderSpanKeepsTheOrderOfInputs(t *testing.T) {
	dir := t.TempDir()
	early := write(t, dir, "b.log", combined(0, "192.0.2.1", "/")+combined(300, "192.0.2.2", "/")+combined(301, "192.0.2.2", "/"))
	later := write(t, dir, "a.log", combined(5, "192.0.2.3", "/")+combined(300, "192.0.2.4", "/")+combined(301, "192.0.2.4", "/"))
	all := read(t, readingOptions(t), early, later)
	o := readingOptions(t)
	o.HasSince, o.Since = true, noon+300*limit.Second
	equalText(t, "since", read(t, o, early, later).rows, spanned(all.rows, 300, 400))
}

// Requests that come too late to warm anything are left out, and counted as such.
func TestReaderLeavesOutWhatComesTooLateToWarm(t *testing.T) {
	name := write(t, t.TempDir(), "access.log",
		strings.ReplaceAll(combined(90, "warm", "/"), " 200 ", " 429 ")+combined(100, "a", "/")+combined(120, "b", "/")+combined(121, "c", "/")+
			combined(95, "late", "/")+combined(115, "d", "/"))
	o := readingOptions(t)
	o.HasSince, o.Since, o.Warmup, o.Lateness = true, noon+100*limit.Second, limit.Never, 10*limit.Second
	got := read(t, o, name)
	equalText(t, "counted", clients(got.rows), []string{"a", "d", "b", "c"})
	equalText(t, "warm", clients(got.warm), []string{"warm"})
	if got.stats.Excluded != 1 || got.stats.Late != 1 || got.stats.Refusals != 0 {
		t.Errorf("%+v", got.stats)
	}
}

func clients(rows []string) (names []string) {
	for _, row := range rows {
		names = append(names, strings.Fields(row)[1])
	}
	return names
}

// What is left out is not in the tables either, and answers that the server itself gave are counted.
func TestReaderExcludes(t *testing.T) {
	text := combined(1, "192.0.2.1", "/a") + combined(2, "192.0.2.2", "/b") + combined(3, "192.0.2.3", "/c")
	text += strings.ReplaceAll(combined(4, "192.0.2.4", "/d"), " 200 ", " 429 ") + strings.ReplaceAll(combined(5, "192.0.2.2", "/d"), " 200 ", " 503 ")
	o := readingOptions(t)
	var err error
	o.Exclude, err = match.ParseExclude([]string{"192.0.2.2", "/c"})
	check(t, err)
	got := read(t, o, write(t, t.TempDir(), "access.log", text))
	equalText(t, "clients", clients(got.rows), []string{"192.0.2.1", "192.0.2.4"})
	if s := got.stats; s.Excluded != 3 || s.Refusals != 1 || o.Tables.Clients.Len() != 2 || s.FirstAt != noon+limit.Second {
		t.Errorf("%+v, %d clients", got.stats, o.Tables.Clients.Len())
	}
}

// In a plain file, what lies before the stretch is not read.
func TestReaderSkips(t *testing.T) {
	t.Parallel()
	lines := busy(testneeds.Rand(t, 13, 14), 60_000, 10) // 6,000 seconds, 6 MB
	// At 5,460 s, a stretch that is older than the warming, but by less than the lateness.
	lines = slices.Insert(lines, 54_600, slices.Repeat([]string{combined(5445, "c", "/")}, 2_000)...)
	text := strings.Join(lines, "")
	name := write(t, t.TempDir(), "access.log", text)
	all := read(t, readingOptions(t), name)
	o := readingOptions(t)
	o.HasSince, o.Since, o.Warmup, o.Lateness = true, noon+5550*limit.Second, 100*limit.Second, 60*limit.Second
	got := read(t, o, name)
	equalText(t, "rows", got.rows, spanned(all.rows, 5550, 1<<30))
	equalText(t, "warm rows", got.warm, spanned(all.rows, 5450, 5550))
	if got.stats.Bytes > int64(len(text))/6 {
		t.Errorf("%d of %d bytes were read", got.stats.Bytes, len(text))
	}
	piped := readFrom(t, o, strings.NewReader(text), "-")
	equalText(t, "from a pipe", piped.rows, got.rows)
	if piped.stats.Lines != 62_000 {
		t.Errorf("%d lines were read from a pipe", piped.stats.Lines)
	}
}

// Where reading began in the middle of the file, lines have no numbers.
func TestReaderSkipsLineNumbers(t *testing.T) {
	lines := busy(testneeds.Rand(t, 15, 16), 20_000, 0)
	lines[19_990] = "bad\n"
	o := readingOptions(t)
	o.HasSince, o.Since, o.Lateness = true, noon+1900*limit.Second, limit.Second
	s := read(t, o, write(t, t.TempDir(), "access.log", strings.Join(lines, ""))).stats
	if len(s.Faults) != 1 || s.Faults[0].Line != 0 || s.Faults[0].Fault.OK() {
		t.Errorf("faults %+v", s.Faults)
	}
}

// A host is the same one in upper and in lower case.
func TestReaderOfHosts(t *testing.T) {
	var lines strings.Builder
	for i, host := range []string{"Shop.Example", "shop.example", "SHOP.EXAMPLE", "shop2.example", "É[.example", "é[.example"} {
		fmt.Fprintf(&lines, `{"msec":"%d.000","remote_addr":"192.0.2.1","request":"GET /x HTTP/1.1","status":"200","host":%q}`+"\n", 1767268802+i, host)
	}
	o := readingOptions(t)
	o.Hosts = true
	r, err := NewReader(t.Context(), []string{write(t, t.TempDir(), "a.json", lines.String())}, nil, o)
	check(t, err)
	defer r.Close()
	batch, err := r.Next()
	check(t, err)
	if !slices.Equal(batch.Host, []int32{0, 0, 0, 1, 2, 3}) || o.Tables.Hosts.Name(0) != "shop.example" {
		t.Errorf("hosts %d, the first %s", batch.Host, o.Tables.Hosts.Name(0))
	}
}

// Several names of one field, and formats with and without what a run wants, can be read side by side.
func TestReaderOfSeveralFormats(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a.log", combined(1, "a", "/")+combined(3, "a", "/"))
	b := write(t, dir, "b.json", `{"msec":"1767268802.000","remote_addr":"192.0.2.1","request":"GET /x HTTP/1.1","status":"200","upstream_response_time":"0.250","host":"h"}`+"\n")
	o := readingOptions(t)
	o.Hosts = true
	r, err := NewReader(t.Context(), []string{a, b}, nil, o)
	check(t, err)
	defer r.Close()
	batch, err := r.Next()
	check(t, err)
	slices.Sort(batch.Upstream)
	if !slices.Equal(batch.Upstream, []int64{0, 0, 250_000}) || len(batch.Host) != 3 || o.Tables.Hosts.Len() != 2 {
		t.Errorf("upstream %d, hosts %d of %d", batch.Upstream, batch.Host, o.Tables.Hosts.Len())
	}
	if _, err := r.Next(); err == nil {
		t.Error("another batch")
	}
	s := r.Stats()
	if !s.HasAgents || !s.HasUpstream || s.Resolution != limit.Second || s.Inputs[0].Format == s.Inputs[1].Format {
		t.Errorf("%+v", s)
	}
	for _, in := range s.Inputs {
		if (len(in.Warnings) == 1) != (in.Name == a) {
			t.Errorf("%s: warnings %q; want one of the log without hosts", in.Name, in.Warnings)
		}
	}
	if _, err := NewReader(t.Context(), []string{a}, nil, o); err == nil {
		t.Error("no log tells the host")
	}
}
