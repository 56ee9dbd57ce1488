package replay_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// costly are policies whose requests have costs: by action, by size, by a field, several limits in each way, by several keys.
const costly = `
actions: [{name: export, prefix: /e}, {name: search, prefix: /s}]
policies:
  - {name: points, limits: {limit: "token:20/10s", cost: [{match: {action: export}, points: 7}, {match: {action: search}, points: 0}]}}
  - {name: egress, limits: {limit: "window:20/10s", cost: {field: bytes, per: 100}}}
  - {name: scoped, limits: {limit: "window:6/10s", match: {action: export}, cost: [{match: {action: export}, points: 3}]}}
  - {name: counted, limits: {limit: "token:20/10s", match: {action: search}, count: {action: export}, cost: {field: bytes, per: 100}}}
  - {name: tokens, limits: {limit: "token:20/10s", cost: [{match: {action: search}, field: tokens}, {field: field:tokens, per: 10}]}}
  - name: together
    limits: [{limit: "window:30/10s", cost: {field: bytes, per: 100}}, "token:5/5s"]
  - name: each
    limits: [{limit: "window:30/10s", cost: {field: bytes, per: 100}}, {limit: "token:9/5s", cost: {points: 2}}]
    combine: each
  - name: in turn
    limits: [{limit: "token:30/10s", cost: {field: bytes, per: 70}}, {limit: "window:8/5s", cost: {field: tokens, per: 3}}, {limit: "window:9/5s", cost: {points: 2}}]
    combine: in-turn
  - name: crossed
    limits: [{limit: "window:30/10s", cost: {field: bytes, per: 100}}, {limit: "token:60/10s", by: site, cost: {field: bytes, per: 90}}]
  - {name: under way, limits: {limit: "conn:3"}}
  - {name: some under way, limits: {limit: "conn:2", match: {action: search}, count: {action: [search, export]}}}
  - name: under way and more
    limits: [{limit: "conn:3"}, "token:5/5s", {limit: "conn:5", by: site}]
  - name: under way in turn
    limits: [{limit: "conn:3"}, {limit: "window:9/5s", cost: {points: 2}}]
    combine: in-turn
`

// The Engine refuses what the reference does, request by request, however the requests are cut into batches.
func TestCosts(t *testing.T) {
	config, err := policy.ParseConfig("shadow.yaml", []byte(costly))
	check(t, err)
	policies, err := config.Pick(nil)
	check(t, err)
	for _, p := range policies {
		t.Run(p.Name, func(t *testing.T) {
			refusals := 0
			for seed := range uint64(60) {
				lines := costlyLines(testneeds.Rand(t, seed, 5), &config)
				want := refusedByCost(lines, p)
				refusals += len(want)
				b := newBenchOf(t, limit.Hour, []policy.Policy{p})
				for chunk := range slices.Chunk(lines, 1+int(seed)) {
					b.judge(chunk)
				}
				got := strings.Fields(b.verdicts())
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: refused\n%s, want\n%s", seed, got, want)
				}
			}
			if refusals < 300 {
				t.Errorf("only %d requests are refused", refusals)
			}
		})
	}
}

// costlyLines returns random lines, each at a moment of its own.
func costlyLines(r *rand.Rand, config *policy.Config) (lines []line) {
	at := limit.Time(r.Int64N(int64(limit.Hour)))
	for range 150 {
		at += limit.Second/5 + limit.Time(r.Int64N(int64(limit.Second)))
		l := line{at: at, client: fmt.Sprint("c", r.IntN(2)), action: []string{"export", "search", "/…"}[r.IntN(3)], bytes: r.Int64N(1500) - 10}
		l.tokens = tokenTexts[r.IntN(len(tokenTexts))]
		l.took = limit.Time(r.Int64N(int64(4 * limit.Second)))
		for i, scope := range config.Scopes {
			if len(scope.Actions) == 0 || slices.Contains(scope.Actions, l.action) {
				l.marks |= 1 << i
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// tokenTexts may stand in a field where numbers are expected.
var tokenTexts = []string{
	"", "n/a", "5", "5", "12", "0", "7.0", "7.000001", "0.3", "-3", "1e1", "12.5e-1", "99999999999999999999", "1e400", "12 ", "0x5", "1,5",
}

// refusedByCost judges lines one after the other, and remembers all that was charged to each key.
func refusedByCost(lines []line, p policy.Policy) (refused []string) {
	type charged struct {
		at   limit.Time
		cost int64
	}
	book := map[string][]charged{}
	for _, l := range lines {
		key := func(i int) string {
			if p.Parts[i].By == request.BySite {
				return fmt.Sprint(i)
			}
			return fmt.Sprint(i, l.client)
		}
		costs, full, carries := make([]int64, len(p.Parts)), make([]bool, len(p.Parts)), make([]bool, len(p.Parts))
		verdict := false
		charge := func(i int, refused bool) {
			if !refused && inScope(p.Parts[i].Count, l.marks) {
				book[key(i)] = append(book[key(i)], charged{l.at, costs[i]})
			}
		}
		for i, part := range p.Parts {
			carries[i] = part.Spec.Algorithm == "conn" && !inScope(part.Match, l.marks)
			costs[i] = costOfLine(part.Costs, &l)
			var backlog, inside int64 // of a bucket in tokens times the period; of a window
			var last limit.Time
			for _, c := range book[key(i)] {
				backlog = max(0, backlog-part.Spec.Count*int64(c.at-last)) + c.cost*int64(part.Spec.Period)
				if last = c.at; part.Spec.Algorithm == "conn" && c.at+limit.Time(c.cost) > l.at {
					inside++
				} else if c.at > l.at-part.Spec.Period {
					inside += c.cost
				}
			}
			backlog = max(0, backlog-part.Spec.Count*int64(l.at-last)) + costs[i]*int64(part.Spec.Period)
			switch part.Spec.Algorithm {
			case "conn":
				full[i] = inside >= part.Spec.Count
			case "window":
				full[i] = inside+costs[i] > part.Spec.Count
			default:
				full[i] = backlog > part.Spec.Count*int64(part.Spec.Period)
			}
			if p.Combine != policy.Together && (!verdict || p.Combine == policy.Each) {
				charge(i, full[i] && !carries[i])
				verdict = verdict || full[i] && inScope(part.Match, l.marks)
			}
			verdict = verdict || p.Combine == policy.Together && full[i] && inScope(part.Match, l.marks)
		}
		for i := range p.Parts {
			if p.Combine == policy.Together {
				charge(i, verdict || full[i] && !carries[i])
			}
		}
		if verdict {
			refused = append(refused, l.client+"@"+limit.FormatPeriod(l.at))
		}
	}
	return refused
}

// costOfLine returns the cost of a line.
func costOfLine(costs policy.Costs, l *line) int64 {
	for _, c := range costs {
		switch {
		case !inScope(c.Scope, l.marks):
		case c.Taken:
			return int64(l.took)
		case c.Field.Number:
			n, ok := new(big.Rat).SetString(l.tokens)
			if !ok || strings.Contains(l.tokens, "x") {
				return 1
			}
			if n.Quo(n, big.NewRat(c.Per, 1)).Cmp(big.NewRat(1000, 1)) > 0 {
				return 1000 // more than any limit holds
			}
			cost := int64(0)
			for n.Cmp(big.NewRat(cost, 1)) > 0 {
				cost++
			}
			return cost
		case c.Per > 0:
			return (max(0, l.bytes) + c.Per - 1) / c.Per
		default:
			return c.Points
		}
	}
	return 1
}
