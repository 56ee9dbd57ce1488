package servers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/report/format"
)

// The table of docs/export.md: a limit of one server, the nearest of another, and how many of a client's hundred requests the
// two judge otherwise at most. SHADOW_PAIRS is how many random timelines each pair judges; with -update the table is
// rewritten:
//
//	SHADOW_PAIRS=1000000 go test ./servers -run TestPairs -update -timeout 1h
const (
	pairsVariable = "SHADOW_PAIRS"
	fewPairs      = 1500
	ofTimeline    = 100 // requests
)

// pairLimits are usual limits of eight servers.
var pairLimits = []struct{ target, limit string }{
	{"nginx", "nginx:1r/s,burst=19,nodelay"},
	{"ingress-nginx", "nginx:1r/s,burst=5,nodelay"},
	{"haproxy", "haproxy:20/20s"},
	{"envoy-local", "token:1/s,burst=20"},
	{"envoy", "envoy:60/m"},
	{"traefik", "traefik:1/s,burst=20"},
	{"caddy", "caddy:20/20s"},
	{"kong", "fixed:60/m"},
}

// A pair is a limit and what is nearest to it on another server.
type pair struct {
	from, to       limit.Limiter
	set            string
	hits, releases int // at most, of a timeline
}

func limiterOf(t *testing.T, text string) policy.Part {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	return policies[0].Parts[0]
}

// TestPairs holds the table against fewer timelines: none may differ by more than it says.
func TestPairs(t *testing.T) {
	n := fewPairs
	if text := os.Getenv(pairsVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	pairs := make([][]pair, len(pairLimits))
	for i, from := range pairLimits {
		source := limiterOf(t, from.limit)
		for _, to := range pairLimits {
			target, err := TargetNamed(to.target)
			if err != nil {
				t.Fatal(err)
			}
			set, _ := target.Nearest(source.Spec, source.Limiter.(limit.Describer).Shape())
			pairs[i] = append(pairs[i], pair{from: source.Limiter, to: limiterOf(t, set).Limiter, set: set})
		}
	}
	r := testneeds.Rand(t, 9, 79)
	var refused [2][]int32
	for range n {
		at := timeline(r)
		for i := range pairs {
			for j := range pairs[i] {
				if p := &pairs[i][j]; i != j {
					for k, l := range []limit.Limiter{p.from, p.to} {
						var s limit.State
						refused[k] = l.Refuse(refused[k][:0], &s, at)
					}
					hits, releases := differences(refused[0], refused[1])
					p.hits, p.releases = max(p.hits, hits), max(p.releases, releases)
				}
			}
		}
	}
	for i, from := range pairLimits { // a limit is itself
		if pairs[i][i].set != limiterOf(t, from.limit).Spec.String() {
			t.Errorf("%s of %s is told as %s", from.limit, from.target, pairs[i][i].set)
		}
	}
	checkPairs(t, pairs, n)
}

// timeline is a client that is busy, steady near the rate and away in turn.
func timeline(r *rand.Rand) []limit.Time {
	at := make([]limit.Time, 0, ofTimeline)
	now := limit.Time(r.Int64N(int64(limit.Day)))
	mood := r.IntN(3)
	for range ofTimeline {
		if r.IntN(12) == 0 {
			mood = r.IntN(3)
		}
		switch mood {
		case 0:
			now += limit.Time(r.Int64N(int64(100 * limit.Millisecond)))
		case 1:
			now += 500*limit.Millisecond + limit.Time(r.Int64N(int64(limit.Second)))
		case 2:
			now += limit.Time(r.Int64N(int64(30 * limit.Second)))
		}
		at = append(at, now)
	}
	return at
}

// differences counts the requests that only the second refuses, and those that only the first refuses.
func differences(a, b []int32) (hits, releases int) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) == 0 || len(b) > 0 && b[0] < a[0]:
			hits, b = hits+1, b[1:]
		case len(b) == 0 || a[0] < b[0]:
			releases, a = releases+1, a[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return hits, releases
}

const pairsPage = "../../docs/export.md"

// checkPairs compares with the table, or rewrites it.
func checkPairs(t *testing.T, pairs [][]pair, n int) {
	t.Helper()
	page, err := os.ReadFile(pairsPage)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- pairs: a test writes them -->\n", "<!-- end of pairs -->\n"
	before, rest, found := strings.Cut(string(page), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the pairs", pairsPage)
	}
	if flag.Lookup("update").Value.String() == "true" { // of package limittest
		table = fmt.Sprintf("\nOf %s timelines of %d requests for each pair:\n\n", format.Thousands(int64(n)), ofTimeline) + pairsTable(pairs) + "\n"
		if err := os.WriteFile(pairsPage, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var rows [][]string
	for line := range strings.SplitSeq(table, "\n") {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	if len(rows) != len(pairs) {
		t.Fatalf("the table has %d rows, want %d", len(rows), len(pairs))
	}
	for i := range pairs {
		for j, p := range pairs[i] {
			var hits, releases int
			cell := rows[i][j+1]
			if _, err := fmt.Sscanf(cell, "+%d −%d", &hits, &releases); err != nil && cell != "equal" && cell != "–" {
				t.Fatalf("the table has a cell %q", cell)
			}
			if p.hits > hits || p.releases > releases {
				t.Errorf("%s to %s: +%d −%d, and the table says %s", pairLimits[i].target, pairLimits[j].target, p.hits, p.releases, cell)
			}
		}
	}
}

// pairsTable is the table in Markdown.
func pairsTable(pairs [][]pair) string {
	var b strings.Builder
	b.WriteString("| from | ")
	for _, to := range pairLimits {
		b.WriteString(to.target + " | ")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(pairLimits)) + "\n")
	for i, from := range pairLimits {
		fmt.Fprintf(&b, "| `%s` |", from.limit)
		for j, p := range pairs[i] {
			switch {
			case i == j:
				b.WriteString(" – |")
			case p.hits+p.releases == 0:
				b.WriteString(" equal |")
			default:
				fmt.Fprintf(&b, " +%d −%d |", p.hits, p.releases)
			}
		}
		b.WriteByte('\n')
	}
	return strings.ReplaceAll(b.String(), " | \n", " |\n")
}
