package sweep_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
)

// weighedConfig has a policy for each way in which requests may concern a limit, with room for the limit and its key.
const weighedConfig = `
actions: [{name: export, prefix: /e}, {name: search, prefix: /s}]
policies:
  - {name: ones, limits: {limit: "%[1]s", by: "%[2]s"}}
  - {name: points, limits: {limit: "%[1]s", by: "%[2]s", cost: [{match: {action: export}, points: 7}, {match: {action: search}, points: 0}]}}
  - {name: egress, limits: {limit: "%[1]s", by: "%[2]s", cost: {field: bytes, per: 3}}}
  - {name: tokens, limits: {limit: "%[1]s", by: "%[2]s", cost: {field: tokens}}}
  - {name: matched, limits: {limit: "%[1]s", by: "%[2]s", match: {action: [export, search]}, cost: {field: bytes}}}
  - {name: asked, limits: {limit: "%[1]s", by: "%[2]s", count: {action: export}, cost: {field: bytes}}}
  - {name: counted, limits: {limit: "%[1]s", by: "%[2]s", match: {action: search}, count: {action: export}, cost: {field: bytes}}}
`

// A weighedLog is a small log, which is drawn.
type weighedLog struct {
	tables  *traffic.Tables
	batches []*traffic.Batch
}

func drawWeighedLog(t *rapid.T, config *policy.Config, warm bool) weighedLog {
	l := weighedLog{tables: traffic.NewTables()}
	l.tables.Parts = []request.Part{{Kind: request.PartField, Name: "tokens", Number: true}}
	agents := []string{"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "curl/8"}
	for _, agent := range agents {
		l.tables.Agents.ID([]byte(agent))
	}
	actions := []string{"export", "search", "/…"}
	for _, action := range actions {
		l.tables.Actions.ID([]byte(action))
	}
	tokens := []string{"5", "0.3", "12", "n/a", "0", "-2", "1e30"}
	for _, text := range tokens {
		l.tables.Values.ID([]byte(text))
	}
	n := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	now := limit.Time(n(100)) * limit.Second
	unit := []limit.Time{1, limit.Millisecond, limit.Second, 5 * limit.Second}[n(3)]
	size := []int64{1, 9, 40, math.MaxInt64 / 20}[n(3)]
	late := n(2) == 0
	for i := range 1 + n(4) {
		b := &traffic.Batch{Warm: warm && i == 0}
		for range 1 + n(15) {
			now += unit * limit.Time([]int{0, 0, 1, 2, 5, 30}[n(5)])
			at := now
			if late && n(5) == 0 {
				at -= unit * limit.Time(n(40))
			}
			client, action := n(3), n(len(actions)-1)
			b.At, b.Seq = append(b.At, at), append(b.Seq, now)
			b.Client = append(b.Client, l.tables.Clients.ID(fmt.Append(nil, "192.0.2.", client)))
			b.Agent, b.Action = append(b.Agent, uint16(client%2)), append(b.Action, uint16(action))
			b.Took = append(b.Took, int64(unit)*int64(n(50)))
			b.Status, b.Bytes = append(b.Status, 200), append(b.Bytes, size*int64(n(20))-1)
			b.Values[0] = append(b.Values[0], int32(n(len(tokens))-1))
			marks := uint64(0)
			for i, scope := range config.Scopes {
				if slices.Contains(scope.Actions, actions[action]) {
					marks |= 1 << i
				}
			}
			b.Marks = append(b.Marks, marks)
		}
		l.batches = append(l.batches, b)
	}
	return l
}

// TestWeighedAgreesWithReplay holds each N that is counted, and where hits are known for all N also those beside, against a
// replay of the policy with that N.
func TestWeighedAgreesWithReplay(t *testing.T) {
	counted, nested, refused := 0, 0, 0
	testneeds.Rapid(t, func(t *rapid.T) {
		limits := rapid.SampledFrom([]string{
			"window:3/10s", "window:1,9,20/30s", "window:1..70:1/10s", "fixed:4/10s", "token:3/10s,burst=4", "token:1,7/5s", "fixed:100000000000000/7s",
			"conn:2", "conn:1,3,6", "conn:1..70",
		}).Draw(t, "limit")
		by := rapid.SampledFrom([]string{"client", "client", "client+action", "site", "agent"}).Draw(t, "by")
		text := fmt.Sprintf(weighedConfig, limits, by)
		if strings.HasPrefix(limits, "conn:") { // each of its requests is one
			text = regexp.MustCompile(`, cost: .*\}\}`).ReplaceAllString(text, "}}")
		}
		config, err := policy.ParseConfig("shadow.yaml", []byte(text))
		must(t, err)
		sets := config.Policies
		if strings.HasPrefix(limits, "conn:") { // nor does it count others than it refuses
			sets = sets[:len(sets)-2]
		}
		set := sets[rapid.IntRange(0, len(sets)-1).Draw(t, "policy")]
		log := drawWeighedLog(t, &config, set.Policies[0].Parts[0].Spec.Algorithm != "token" && rapid.IntRange(0, 3).Draw(t, "warm") == 0)
		lateness := rapid.SampledFrom([]limit.Time{0, limit.Second, ingest.DefaultLateness}).Draw(t, "lateness")
		result, curves := weighedCurves(t, set, log, lateness)
		for _, c := range curves {
			tried := map[int64]*sweep.Point{}
			for i := range c.Points {
				p := &c.Points[i]
				if tried[p.Limit] = p; i > 0 && !c.By.Shared() && p.Limit-1 > c.Points[i-1].Limit {
					between := c.Points[i-1]
					between.Limit, between.Counted = p.Limit-1, false
					tried[between.Limit] = &between
				}
				if p.Counted {
					counted++
					refused += int(p.Refused.Sum())
				} else {
					nested++
				}
			}
			for n, p := range tried {
				want := replayed(t, set.Policies[0], c.Shape, n, log, lateness)
				if !p.Counted {
					if known := len(c.Points) > countedOf(c); !known {
						continue // nothing is said of N in between
					}
					want.Refused, want.Hidden.Requests = p.Refused, p.Hidden.Requests
				}
				if want.Limit, want.Counted = p.Limit, p.Counted; *p != want {
					t.Fatalf("%s by %s, %s of %d requests: %+v; replay says %+v", c.Shape.Limit(n), by, c.Policy, result.Judged, *p, want)
				}
			}
		}
	})
	if testing.Short() {
		return // rapid draws a fifth of the logs then, which may lack anything
	}
	if counted < 150 || nested < 15 || refused < 500 {
		t.Errorf("%d N are counted, %d more are known, and %d requests refused: too few to say anything", counted, nested, refused)
	}
}

func countedOf(c sweep.WeighedCurve) (n int) {
	for _, p := range c.Points {
		if p.Counted {
			n++
		}
	}
	return n
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// weighedCurves looks twice.
func weighedCurves(t *rapid.T, set policy.Set, log weighedLog, lateness limit.Time) (*sweep.Result, []sweep.WeighedCurve) {
	first, err := sweep.NewWeighed(set, log.tables, lateness)
	must(t, err)
	all := sweep.New(sweep.Options{Tables: log.tables, By: request.ByClient, Lateness: lateness, Workers: 1})
	for _, b := range log.batches {
		all.Take(b)
		for _, w := range first {
			w.Take(b)
		}
	}
	result := all.Result(ingest.Stats{})
	second := result.LookAgain(first, someDoubted)
	for _, b := range log.batches {
		second.Take(b)
	}
	return result, second.Curves()
}

// replayed returns what a replay finds of the policy with another N.
func replayed(t *rapid.T, p policy.Policy, shape sweep.Shape, n int64, log weighedLog, lateness limit.Time) (point sweep.Point) {
	part := p.Parts[0]
	spec, err := limit.Parse(shape.Limit(n))
	must(t, err)
	part.Spec.Count = spec.Count // the rate of a bucket
	part, err = part.WithNumber(n)
	must(t, err)
	policies := []policy.Policy{{Name: "N", Parts: []policy.Part{part}}}
	if shape.Kind == sweep.Token { // beside one that never forgets, as the sweep does not
		never, err := policy.ParseLimits([]string{"token:1/1s,burst=2,initial=1"}, part.By)
		must(t, err)
		policies = append(policies, never...)
	}
	e := replay.New(replay.Options{Tables: log.tables, Policies: policies, Lateness: lateness})
	for _, b := range log.batches {
		must(t, e.Judge(b))
	}
	r := e.Result(ingest.Stats{})
	for hit := range r.Policies[0].Hits.All() {
		note(&point, r, hit.Client, hit.Refused, true)
	}
	return point
}

// Once it has met what comes, a look allocates for keys that come back after they were forgotten, and not by request.
func TestWeighedAllocatesLittle(t *testing.T) {
	b, tables := manyRequests(t, 20_000, 300)
	for i := range b.Bytes {
		b.Bytes[i] = int64(i % 7)
	}
	for _, text := range []string{"window:9,20/1m", "fixed:9,20/1m", "token:9/1m,burst=20"} {
		config, err := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, weighedConfig, text, "client"))
		check(t, err)
		first, err := sweep.NewWeighed(config.Policies[2], tables, ingest.DefaultLateness)
		check(t, err)
		all := sweep.New(sweep.Options{Tables: tables, By: request.ByClient, Workers: 1})
		all.Take(b)
		first[0].Take(b)
		second := all.Result(ingest.Stats{}).LookAgain(first, nil)
		next := func() {
			for i := range b.At {
				b.At[i] += 2 * limit.Day
			}
			first[0].Take(b)
			second.Take(b)
		}
		for range 5 {
			next()
		}
		if n := testing.AllocsPerRun(5, next); n > float64(b.Len())/25 {
			t.Errorf("%s: %v allocations a batch", text, n)
		}
		if points := second.Curves()[0].Points; points[1].Refused.Sum() == 0 {
			t.Errorf("%s: nothing is refused: %v", text, points)
		}
	}
}
