// Command table compares the limiters on the logs of traces/: what share of the requests of scrapers and attackers the
// best limit of each refuses, while it protects the people. It writes docs/table.md.
//
//	make table
//	go run ./scripts/table traces/spark-developer.parquet   # one log, to standard output
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow"
	"shadow/internal/policy"
	"shadow/report/format"
)

// The promise: of a thousand people that a limit could hit at all, it hits at most one.
const protects = 1000

// numbers are tried for N in each shape: from 1 to some thousands in steps of a twelfth.
var numbers = func() (all []int) {
	for n := 1; n < 5000; n += max(1, n/12) {
		all = append(all, n)
	}
	return all
}()

// shapes returns the limits that are tried of an algorithm: N in a period, and where it has one a burst of N above a rate.
func shapes(a *policy.Algorithm, more string) (all []string) {
	for _, period := range []string{"10s", "1m", "10m", "1h"} {
		all = append(all, a.Name+":%d/"+period+more)
	}
	if strings.Contains(a.Options, "burst=N") {
		for _, rate := range []string{"6/1m", "30/1m", "1/1s", "5/1s"} {
			all = append(all, a.Name+":"+rate+",burst=%d"+more)
		}
	}
	return all
}

// A judged is a policy in the JSON of a replay.
type judged struct {
	Policy     string
	ByIdentity map[string]struct {
		Clients    int64
		ClientsHit int64 `json:"clients_hit"`
		Requests   int64
		Refused    int64
	} `json:"by_identity"`
	Delay *struct {
		P99 float64 `json:"p99_seconds"`
	}
}

// The clients that a limit is to spare, and those that it is to refuse, as suggest has them for a site that people use.
var (
	people  = []string{"people", "offices", "undecided"}
	targets = []string{"programs", "disguised", "attackers", "crawlers"}
)

// sums adds up what a policy does to some clients.
func (j *judged) sums(who []string) (hit, requests, refused int64) {
	for _, identity := range who {
		of := j.ByIdentity[identity]
		hit, requests, refused = hit+of.ClientsHit, requests+of.Requests, refused+of.Refused
	}
	return hit, requests, refused
}

func main() {
	logs, to := os.Args[1:], os.Stdout
	if len(logs) == 0 {
		var err error
		logs, err = filepath.Glob("traces/*.parquet")
		exit(err)
		to, err = os.Create("docs/table.md")
		exit(err)
		_, err = to.WriteString(head)
		exit(err)
	}
	for _, log := range logs {
		exit(table(to, log))
	}
	exit(to.Close())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

const head = `<!-- written by make table -->

# What each limiter can do

For each limiter the best limit on public logs: of those that keep the promise the one that refuses most of the target's
requests. The promise: of the people who ever send more than it admits at once, it hits at most one in a thousand. People
are all who [behave like browsers](evidence.md), the target are programs, disguised clients, attackers and crawlers. The
first row is the most that any limit by client could refuse that hits one browser in a thousand.

` + "`make table`" + ` tries each algorithm of ` + "`internal/policy/algorithms.go`" + `, over four periods and four rates. The logs are
[traces](../traces/README.md).
`

// table writes the table of one log.
func table(to *os.File, log string) error {
	ctx := context.Background()
	risk, all, err := atRisk(ctx, log)
	if err != nil {
		return err
	}
	bound, err := bound(ctx, log)
	if err != nil {
		return err
	}
	_, of, _ := all.sums(targets)
	_, requests, _ := all.sums(people)
	fmt.Fprintf(to, "\n## %s\n\n%s of the target, %s of people.\n\n", strings.TrimSuffix(filepath.Base(log), ".parquet"),
		format.Count(of, "request"), format.Count(requests, "request"))
	if bound == none {
		fmt.Fprintln(to, "No limit by client refuses any of the target and protects the people.")
		return nil
	}
	fmt.Fprint(to, "| limiter | best limit | refuses of the target | of people's requests | keeps waiting (p99) |\n|---|---|---|---|---|\n")
	fmt.Fprintf(to, "| any | bound | %s | | |\n", bound)
	var rows []row
	for i := range policy.Algorithms {
		a := &policy.Algorithms[i]
		if a.Name == "conn" { // which needs how long answers took
			continue
		}
		ways := []string{""}
		if strings.Contains(a.Options, "nodelay") {
			ways = append(ways, ",nodelay")
		}
		for _, way := range ways {
			best, err := bestOf(ctx, log, a.Name+way, shapes(a, way), risk)
			if err != nil {
				return err
			}
			rows = append(rows, best)
		}
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.stopped, x.stopped) })
	for _, r := range rows {
		fmt.Fprintf(to, "| %s | %s | %s | %s | %s |\n", r.name, r.limit, r.target, r.people, r.wait)
	}
	return nil
}

const none = "none"

// A row is the best limit of an algorithm.
type row struct {
	name, limit, target, people, wait string
	stopped                           int64
}

// bestOf tries all limits of some shapes. risk holds the people at risk by N.
func bestOf(ctx context.Context, log, name string, shapes []string, risk map[int]int64) (row, error) {
	var limits []string
	of := map[string]int{}
	for _, shape := range shapes {
		for _, n := range numbers {
			text := fmt.Sprintf(shape, n)
			if _, err := shadow.NewLimiter(text); err == nil {
				limits, of[text] = append(limits, text), n
			}
		}
	}
	best := row{name: "`" + name + "`", limit: "refuses none of it"}
	policies, err := replay(ctx, log, limits)
	for i := range policies {
		p := &policies[i]
		hit, asked, harmed := p.sums(people)
		_, requests, refused := p.sums(targets)
		if protects*hit > risk[of[p.Policy]] || refused <= best.stopped {
			continue
		}
		best = row{best.name, "`" + p.Policy + "`", format.Share(refused, requests), format.Share(harmed, asked), "", refused}
		if p.Delay != nil && p.Delay.P99 > 0 {
			best.wait = format.Wait(p.Delay.P99)
		}
	}
	return best, err
}

// replay returns what limits do to a log.
func replay(ctx context.Context, log string, limits []string) ([]judged, error) {
	report, err := shadow.Replay(ctx, shadow.Files(log), shadow.Limit(limits...), shadow.Options{Top: 1})
	if err != nil {
		return nil, err
	}
	var told struct{ Policies []judged }
	var text bytes.Buffer
	if err := report.WriteJSON(&text); err != nil {
		return nil, err
	}
	return told.Policies, json.Unmarshal(text.Bytes(), &told)
}

// atRisk counts, for each N, the people who sent more than N requests, which a window longer than any log tells. all has
// what the log holds.
func atRisk(ctx context.Context, log string) (risk map[int]int64, all judged, err error) {
	var limits []string
	for _, n := range numbers {
		limits = append(limits, fmt.Sprintf("window:%d/36500d", n))
	}
	policies, err := replay(ctx, log, limits)
	if err != nil {
		return nil, all, err
	}
	risk = map[int]int64{}
	for i, n := range numbers {
		risk[n], _, _ = policies[i].sums(people)
	}
	return risk, policies[0], nil
}

// bound returns the share of the target's requests that any limit by client refuses at most.
func bound(ctx context.Context, log string) (string, error) {
	answer, err := shadow.Suggest(ctx, shadow.Files(log), shadow.Options{Protect: []string{"browsers=99.9%"}, Target: targets})
	if err != nil {
		return "", err
	}
	var told struct {
		Answer struct {
			Bound *struct {
				Requests int64
				Of       int64 `json:"of_requests"`
			}
		}
	}
	var text bytes.Buffer
	if err = answer.WriteJSON(&text); err == nil {
		err = json.Unmarshal(text.Bytes(), &told)
	}
	switch b := told.Answer.Bound; {
	case err != nil || b == nil:
		return "not known", err
	case b.Requests == 0:
		return none, nil
	default:
		return format.Share(b.Requests, b.Of), nil
	}
}
