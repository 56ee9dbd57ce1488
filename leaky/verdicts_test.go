package leaky

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/limit"
)

// Verdicts of a real nginx. Its log tells when a request ended and how long it took, to the millisecond, and the limiter
// decided when it began, on another clock; so a model can come close and not agree on every line. The figures are those of
// a faithful model; what a wrong rate, burst or rule does to them is far worse.

// A verdict is what nginx did with a request.
type verdict struct {
	key string
	at  limit.Time // when it began
	was byte       // '.' passed, d delayed, x rejected
}

// A tally compares the model with nginx.
type tally struct {
	lines, agree int
	refusals     int // the sum over keys of |model − nginx|
	delays       int
}

func (t tally) String() string {
	return fmt.Sprintf("%d lines, %.2f %% agree; off by %d refusals and %d delays", t.lines, t.share(), t.refusals, t.delays)
}

func (t tally) share() float64 { return 100 * float64(t.agree) / float64(t.lines) }

const shared = "../../shared/verdicts"

// The large recordings, which are not part of the project.
func TestNginxAgreesWithSharedVerdicts(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("the large recordings are not here: ", err)
	}
	for _, test := range []struct {
		file, limit      string
		agree            float64 // percent, at least
		refusals, delays int     // at most
	}{
		{"nginx-60rm-dry", "nginx:60r/m", 95.2, 34, 0},
		{"nginx-12rm-burst6-nodelay-dry", "nginx:12r/m,burst=6,nodelay", 99.7, 0, 0},
		{"nginx-12rm-burst6-nodelay-enforced", "nginx:12r/m,burst=6,nodelay", 99.7, 0, 0},
		{"nginx-10rs-burst20-nodelay-dry", "nginx:10r/s,burst=20,nodelay", 99.4, 0, 0},
		{"nginx-10rs-burst20-delay8-dry", "nginx:10r/s,burst=20,delay=8", 98.4, 0, 26},
	} {
		t.Run(test.file, func(t *testing.T) {
			file := filepath.Join(shared, test.file+".log.gz")
			got := compare(t, test.limit, readVerdicts(t, file, sharedLine))
			t.Log(got)
			if got.share() < test.agree || got.refusals > test.refusals || got.delays > test.delays {
				t.Errorf("want at least %v %%, and at most %d refusals and %d delays off", test.agree, test.refusals, test.delays)
			}
		})
	}
}

// sharedLine reads a combined line with $msec $request_time $limit_req_status "$client_id" $http_x_rid $connection
// $connection_requests $pid behind it.
func sharedLine(fields []string) (key string, last []string) {
	return fields[0], fields[len(fields)-8:]
}

// readVerdicts reads a log that nginx wrote and puts its requests into the order in which they began. split finds the key
// and the fields from $msec on.
func readVerdicts(t *testing.T, file string, split func(fields []string) (key string, last []string)) []verdict {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []verdict
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		key, last := split(strings.Fields(lines.Text()))
		if last[2] == "-" {
			continue // never came as far as the limiter
		}
		at := thousandths(t, last[0]) - thousandths(t, last[1])
		all = append(all, verdict{key, at * limit.Millisecond, verdictOf(t, last[2])})
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	slices.SortStableFunc(all, func(a, b verdict) int { return cmp.Compare(a.at, b.at) })
	return all
}

// thousandths reads seconds with three decimals, exactly.
func thousandths(t *testing.T, text string) limit.Time {
	whole, decimals, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+decimals, 10, 64)
	if err != nil || len(decimals) != 3 {
		t.Fatalf("%q: want seconds with three decimals", text)
	}
	return limit.Time(n)
}

func verdictOf(t *testing.T, status string) byte {
	switch strings.TrimSuffix(status, "_DRY_RUN") {
	case "PASSED":
		return '.'
	case "DELAYED":
		return 'd'
	case "REJECTED":
		return 'x'
	}
	t.Fatalf("unknown verdict %q", status)
	return 0
}

// compare judges the requests and counts where nginx did the same.
func compare(t *testing.T, text string, all []verdict) tally {
	spec, err := limit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewNginx(spec)
	if err != nil {
		t.Fatal(err)
	}
	got := tally{lines: len(all)}
	states := map[string]*limit.State{}
	off := map[string]map[byte]int{} // model − nginx, by key and verdict
	for _, v := range all {
		if states[v.key] == nil {
			states[v.key], off[v.key] = new(limit.State), map[byte]int{}
		}
		is := judge(l.(limit.Delayer), states[v.key], v.at)
		if is == v.was {
			got.agree++
		}
		off[v.key][is]++
		off[v.key][v.was]--
	}
	for _, o := range off {
		got.refusals += max(o['x'], -o['x'])
		got.delays += max(o['d'], -o['d'])
	}
	return got
}

// judge is the verdict on one request.
func judge(l limit.Delayer, s *limit.State, at limit.Time) byte {
	refused, late := l.RefuseAndDelay(nil, nil, s, []limit.Time{at})
	switch {
	case len(refused) > 0:
		return 'x'
	case len(late) > 0:
		return 'd'
	}
	return '.'
}
