package leaky

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// How recordings are read, and how a model is compared with one.

// A verdict is what nginx did with a request.
type verdict struct {
	key  string
	at   limit.Time // when it began
	took limit.Time // until it was answered
	was  byte       // '.' passed, d delayed, x rejected
	no   bool       // whether it was answered with the status of a refusal
}

// behind is 1 of a request that stands behind the others of its moment.
func (v verdict) behind() int {
	if v.no && v.at%limit.Second != 0 {
		return 1
	}
	return 0
}

// A tally compares the model with nginx.
type tally struct {
	lines, agree int
	admission    int // lines on which both admit, delayed or not, or both refuse
	refusals     int // the sum over keys of |model − nginx|
	delays       int
	worst        int // the largest of these
}

func (t tally) String() string {
	return fmt.Sprintf("%d lines, %.2f %% agree, %.2f %% on whether to admit; off by %d refusals and %d delays, at most %d of a key",
		t.lines, t.share(), t.admitted(), t.refusals, t.delays, t.worst)
}

func (t tally) share() float64 { return 100 * float64(t.agree) / float64(t.lines) }

// admitted is the share of lines on which both admit or both refuse.
func (t tally) admitted() float64 { return 100 * float64(t.admission) / float64(t.lines) }

// ownLine reads $http_x_client $msec $request_time $limit_req_status.
func ownLine(fields []string) (key string, last []string) { return fields[0], fields[1:] }

// sharedLine reads a combined line with $msec $request_time $limit_req_status "$client_id" $http_x_rid $connection
// $connection_requests $pid behind it.
func sharedLine(fields []string) (key string, last []string) {
	return fields[0], fields[len(fields)-8:]
}

// secondLine reads a combined line with $msec $request_time $limit_req_status $http_x_rid behind it. Of the recording
// in which the zone counts by client and path, the key is both.
func secondLine(fields []string) (key string, last []string) {
	return fields[0], fields[len(fields)-4:]
}

func secondByPath(fields []string) (key string, last []string) {
	return fields[0] + " " + fields[6], fields[len(fields)-4:]
}

// readVerdicts reads a log that nginx wrote and puts its requests into the order in which they began, those of a
// millisecond that were really refused behind the others, as traffic does. split finds the key and the fields from
// $msec on.
func readVerdicts(t *testing.T, file string, split func(fields []string) (key string, last []string)) []verdict {
	var all []verdict
	lines := bufio.NewScanner(bytes.NewReader(testneeds.Content(t, file)))
	for lines.Scan() {
		key, last := split(strings.Fields(lines.Text()))
		if last[2] == "-" {
			continue // never came as far as the limiter
		}
		end, took := thousandths(t, last[0])*limit.Millisecond, thousandths(t, last[1])*limit.Millisecond
		all = append(all, verdict{key, end - took, took, verdictOf(t, last[2]), last[2] == "REJECTED"})
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	slices.SortStableFunc(all, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.behind(), b.behind()))
	})
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
func compare(all []verdict, judge func(verdict) (is byte, late limit.Time)) tally {
	got := tally{lines: len(all)}
	off := map[string]map[byte]int{} // model − nginx, by key and verdict
	for _, v := range all {
		if off[v.key] == nil {
			off[v.key] = map[byte]int{}
		}
		is, _ := judge(v)
		if is == v.was {
			got.agree++
		}
		if (is == 'x') == (v.was == 'x') {
			got.admission++
		}
		off[v.key][is]++
		off[v.key][v.was]--
	}
	for _, o := range off {
		refusals, delays := max(o['x'], -o['x']), max(o['d'], -o['d'])
		got.refusals += refusals
		got.delays += delays
		got.worst = max(got.worst, refusals, delays)
	}
	return got
}

// zones judges as the zones do that limits describe: all are asked, then charged all or none, and the longest delay
// counts. The first zone counts by key, and the others do or count by the site.
func zones(t *testing.T, others counting, limits ...string) func(verdict) (is byte, late limit.Time) {
	var parts []limit.Delayer
	for _, text := range limits {
		parts = append(parts, must(t, text).(limit.Delayer))
	}
	keys := map[string]*limit.State{}
	states := make([]*limit.State, len(parts))
	return func(v verdict) (is byte, late limit.Time) {
		for i := range states {
			name := fmt.Sprint(i)
			if i == 0 || others == byKey {
				name += " " + v.key
			}
			if keys[name] == nil {
				keys[name] = new(limit.State)
			}
			states[i] = keys[name]
		}
		return judge(parts, states, v.at)
	}
}

// counting says what a zone counts by.
type counting int

const (
	byKey counting = iota
	bySite
)

// judge is the verdict of several zones on one request.
func judge(parts []limit.Delayer, states []*limit.State, at limit.Time) (is byte, late limit.Time) {
	is = '.'
	for i, l := range parts {
		if l.Wait(states[i], at) > 0 {
			is = 'x'
		} else {
			late = max(late, l.Delay(states[i], at))
		}
	}
	for i, l := range parts {
		l.Charge(states[i], at, is == 'x')
	}
	switch {
	case is == 'x':
		return 'x', 0
	case late > 0:
		return 'd', late
	}
	return '.', 0
}
