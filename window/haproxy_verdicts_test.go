package window

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// Counters that a real HAProxy read when it decided, with the microsecond. They can be had exactly: a model must read
// the same ones. Where a key has several requests in one microsecond, their order is not known.

// A reading is one request and what HAProxy counted, itself included.
type reading struct {
	key    string
	at     limit.Time
	counts []int64 // one for each table
}

// The project's own recording, made by scripts/record-verdicts. One of its periods is an odd number of milliseconds.
func TestHAProxyReadsCounters(t *testing.T) {
	all := readReadings(t, "testdata/verdicts/haproxy-2s-1501ms.log.gz", func(fields []string) (key, at string, counts []string) {
		return fields[0], fields[1], fields[2:]
	})
	expectReadings(t, all, 700, "haproxy:20/2s", "haproxy:10/1501ms")
}

// The large recording, which is not part of the project.
func TestHAProxyReadsSharedCounters(t *testing.T) {
	file := testneeds.Shared(t, "verdicts/haproxy-rate30s-rate10s-dry.log.gz")
	all := readReadings(t, file, func(fields []string) (key, at string, counts []string) {
		n := len(fields)
		return fields[n-3], fields[n-12], fields[n-8 : n-6] // CLIENT, the microsecond, r30= and r10=
	})
	expectReadings(t, all, 38_000, "haproxy:6/30s", "haproxy:20/10s")
}

// A counter that only admitted requests move: each request was refused when the counter, read without it, was 8 or more.
// The project has a quarter of the clients.
func TestHAProxyReadsAdmitted(t *testing.T) {
	all := readReadings(t, "testdata/verdicts/haproxy-8-10s-admitted.log.gz", func(fields []string) (key, at string, counts []string) {
		verdict := strings.Replace(fields[2], "=-", "=0", 1) // v=1 where it was refused, else v=-
		return fields[0], fields[1], []string{verdict, fields[3]}
	})
	sortTies(all)
	expectAdmitted(t, all, 2_800, "haproxy:8/10s,charge=admitted", 8)
}

// The same in the large recording.
func TestHAProxyReadsSharedAdmitted(t *testing.T) {
	file := testneeds.Shared(t, "verdicts/haproxy2-gpc0rate-8-10s.log.gz")
	all := readReadings(t, file, func(fields []string) (key, at string, counts []string) {
		verdict := strings.Replace(fields[14], "=-", "=0", 1)
		return fields[0], fields[10], []string{verdict, fields[15]}
	})
	sortTies(all)
	expectAdmitted(t, all, 11_000, "haproxy:8/10s,charge=admitted", 8)
}

// sortTies puts those of one microsecond in the order in which they were counted.
func sortTies(all []reading) {
	slices.SortStableFunc(all, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at), cmp.Compare(a.counts[1], b.counts[1]))
	})
}

// expectAdmitted wants each counter of at least so many to be read as HAProxy did, and just those requests to be
// refused that HAProxy refused. The counts are the verdict and the counter.
func expectAdmitted(t *testing.T, all []reading, least int, text string, count int64) {
	t.Helper()
	l := must(t, text)
	var s limit.State
	var verdicts, counters, refused int
	for i, r := range all {
		if i == 0 || r.key != all[i-1].key {
			s.Release()
		}
		read := int64(l.(limit.Leveler).Level(&s, r.at))
		was := r.counts[0] == 1
		is := len(l.Refuse(nil, &s, []limit.Time{r.at})) > 0
		if was != (r.counts[1] >= count) {
			t.Fatalf("HAProxy read %d and refused: %v", r.counts[1], was)
		}
		if was {
			refused++
		}
		if is == was {
			verdicts++
		}
		if read == r.counts[1] {
			counters++
		}
	}
	t.Logf("%s: %d verdicts and %d counters of %d agree, %d refused", text, verdicts, counters, len(all), refused)
	if verdicts != len(all) || counters != len(all) || len(all) < least || refused < len(all)/10 {
		t.Errorf("%s: %d verdicts and %d counters of %d agree, want all of at least %d", text, verdicts, counters, len(all), least)
	}
}

// expectReadings wants at least so many readings, and each limit to read all of its counters, the first of each request
// for the first limit.
func expectReadings(t *testing.T, all []reading, least int, limits ...string) {
	for table, text := range limits {
		agree := countReadings(t, must(t, text), all, table)
		t.Logf("%s: %d of %d counters agree", text, agree, len(all))
		if agree != len(all) || len(all) < least {
			t.Errorf("%s: %d of %d counters agree, want all of at least %d", text, agree, len(all), least)
		}
	}
}

// readReadings reads a log that HAProxy wrote, in the order of time. split finds the key, the microsecond and the
// counters.
func readReadings(t *testing.T, file string, split func(fields []string) (key, at string, counts []string)) []reading {
	var all []reading
	lines := bufio.NewScanner(bytes.NewReader(testneeds.Content(t, file)))
	for lines.Scan() {
		key, at, counts := split(strings.Fields(lines.Text()))
		if key == "-" {
			continue // <BADREQ>
		}
		r := reading{key: key, at: limit.Time(number(t, at))}
		for _, count := range counts {
			_, value, _ := strings.Cut(count, "=")
			r.counts = append(r.counts, number(t, value))
		}
		all = append(all, r)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	slices.SortStableFunc(all, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
	})
	return all
}

func number(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// countReadings counts the counters of a table that the limiter reads as HAProxy did. It must refuse those that exceed
// its count, and no others.
func countReadings(t *testing.T, l limit.Limiter, all []reading, table int) (agree int) {
	var s limit.State
	key := ""
	for len(all) > 0 {
		if all[0].key != key {
			key = all[0].key
			s.Release()
		}
		n := 1
		for n < len(all) && all[n].key == key && all[n].at == all[0].at {
			n++
		}
		var got, want []int64
		for _, r := range all[:n] {
			refused := len(l.Refuse(nil, &s, []limit.Time{r.at})) > 0
			read := int64(l.(limit.Leveler).Level(&s, r.at))
			if refused != (read > l.(*HAProxy).count) {
				t.Errorf("%s at %d: refused %v, and the counter is %d", r.key, r.at, refused, read)
			}
			got, want = append(got, read), append(want, r.counts[table])
		}
		agree += common(got, want)
		all = all[n:]
	}
	return agree
}

// common counts the numbers that are in both, in any order.
func common(a, b []int64) (n int) {
	slices.Sort(a)
	slices.Sort(b)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b, n = a[1:], b[1:], n+1
		}
	}
	return n
}
