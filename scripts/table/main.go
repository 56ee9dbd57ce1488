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
	"sort"
	"strings"

	"shadow"
	"shadow/internal/policy"
	"shadow/report/format"
)

// The promise: of a thousand people that a limit could hit at all, it hits at most one.
const oneIn = 1000

// grid has numbers for N that are tried in each shape: from 1 to some thousands in steps of a twelfth. Of the least that keeps
// the promise, all down to the one before are tried, too.
var grid = func() (all []int) {
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
	TopClients []struct {
		Identity struct{ Identity string }
		Requests int64
	} `json:"top_clients"`
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
requests. The promise: of the people at risk, who ever send more than its N, it hits at most one in a thousand; of fewer,
none. People are all who [behave like browsers](evidence.md), the target are programs, disguised clients, attackers and
crawlers. The first row is the most that any limit by client could refuse that hits one browser in a thousand.

` + "`make table`" + ` tries each algorithm of ` + "`internal/policy/algorithms.go`" + ` but ` + "`conn`" + `, over four periods and four rates. N goes in steps of
a twelfth, and through all below the least that keeps the promise. The logs are [traces](../traces/README.md).
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
	fmt.Fprint(to, "| limiter | best limit | refuses of the target | of people's requests | people at risk | keeps waiting (p99) |\n|---|---|---|---|---|---|\n")
	fmt.Fprintf(to, "| any | bound | %s | | | |\n", bound)
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
		fmt.Fprintf(to, "| %s | %s | %s | %s | %s | %s |\n", r.name, r.limit, r.target, r.people, r.risk, r.wait)
	}
	return nil
}

const none = "none"

// A row is the best limit of an algorithm.
type row struct {
	name, limit, target, people, risk, wait string
	stopped                                 int64
}

// bestOf returns the best limit of some shapes. risk holds the requests of each of the people, most first.
func bestOf(ctx context.Context, log, name string, shapes []string, risk []int64) (row, error) {
	best := row{name: "`" + name + "`", limit: "refuses none of it"}
	least, err := best.try(ctx, log, shapes, func(string) []int { return grid }, risk)
	if err == nil {
		_, err = best.try(ctx, log, shapes, func(shape string) (between []int) {
			at := slices.Index(grid, least[shape])
			for n := least[shape] - 1; at > 0 && n > grid[at-1]; n-- {
				between = append(between, n)
			}
			return between
		}, risk)
	}
	return best, err
}

// try takes the best of some limits, if it is better, and returns the least number of each shape that keeps the promise.
func (best *row) try(
	ctx context.Context, log string, shapes []string, numbers func(shape string) []int, risk []int64,
) (least map[string]int, err error) {
	type tried struct {
		shape string
		n     int
	}
	var limits []string
	var of []tried
	for _, shape := range shapes {
		for _, n := range numbers(shape) {
			text := fmt.Sprintf(shape, n)
			if _, err := shadow.NewLimiter(text); err == nil {
				limits, of = append(limits, text), append(of, tried{shape, n})
			}
		}
	}
	if len(limits) == 0 {
		return nil, nil
	}
	least = map[string]int{}
	policies, err := replay(ctx, log, 1, limits)
	for i := range policies {
		p := &policies[i]
		this := of[i]
		hit, asked, harmed := p.sums(people)
		_, requests, refused := p.sums(targets)
		risky := int64(sort.Search(len(risk), func(i int) bool { return risk[i] <= int64(this.n) }))
		if oneIn*hit > risky {
			continue
		}
		if n := least[this.shape]; n == 0 || this.n < n {
			least[this.shape] = this.n
		}
		if refused <= best.stopped {
			continue
		}
		*best = row{
			name: best.name, limit: "`" + p.Policy + "`", target: format.Share(refused, requests), people: format.Share(harmed, asked),
			risk: format.Thousands(risky), stopped: refused,
		}
		if p.Delay != nil && p.Delay.P99 > 0 {
			best.wait = format.Wait(p.Delay.P99)
		}
	}
	return least, err
}

// replay returns what limits do to a log.
func replay(ctx context.Context, log string, top int, limits []string) ([]judged, error) {
	report, err := shadow.Replay(ctx, shadow.Files(log), shadow.Limit(limits...), shadow.Options{Top: top})
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

// atRisk returns the requests of each of the people that sent more than one, most first: a window longer than any log refuses
// these clients. all has what the log holds.
func atRisk(ctx context.Context, log string) (risk []int64, all judged, err error) {
	policies, err := replay(ctx, log, 1<<20, []string{"window:1/36500d"})
	if err != nil {
		return nil, all, err
	}
	for _, c := range policies[0].TopClients {
		if slices.Contains([]string{"person", "office", "undecided"}, c.Identity.Identity) {
			risk = append(risk, c.Requests)
		}
	}
	slices.SortFunc(risk, func(x, y int64) int { return cmp.Compare(y, x) })
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
