package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"shadow/report"
	"shadow/request"
	"shadow/sample"
	"shadow/suggest"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/ingest"
	"shadow/traffic/traffictest"
)

// Most figures of 100 samples may miss the truth this often.
const missesOf100 = 5

// sampledPolicies are what the tests judge by.
var sampledPolicies = []string{"token:6/30s", "window:60/1h", "nginx:2/1s,burst=4", "window:3/10s"}

// A sampledLog is a log of which samples are drawn again and again.
type sampledLog struct {
	*Replay
	whole *report.Model
	stats ingest.Stats
}

// readSampled reads logs, and judges all their requests.
func readSampled(t *testing.T, logs []string, by request.Key) (*sampledLog, *sample.Census) {
	t.Helper()
	var out, errs bytes.Buffer
	r := &Replay{Logs: Logs{Caller: called(&out, &errs), Quiet: true}, Choice: Choice{Limits: sampledPolicies, By: by}, Keeping: Keeping{NoStore: true}}
	r.Lateness, r.Sample = ingest.DefaultLateness, sample.Options{Share: 10, Seed: sample.DefaultSeed}
	if err := r.prepareReplay(t.Context(), logs); err != nil {
		t.Fatal(err)
	}
	census, stats, err := r.count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.release() })
	l := &sampledLog{Replay: r, stats: stats}
	engine := r.newEngine(t.Context(), nil)
	pass := r.requests.Pass().Ahead()
	defer pass.Close()
	if err := engine.Run(pass); err != nil {
		t.Fatal(err)
	}
	l.whole = report.New(engine.Result(stats), report.Options{Top: 5})
	return l, census
}

// draw is the report on a sample.
func (l *sampledLog) draw(t *testing.T, census *sample.Census, o sample.Options) *report.Model {
	t.Helper()
	l.Sample = o
	result, err := l.judgeDrawn(t.Context(), census, l.stats)
	if err != nil {
		t.Fatal(err)
	}
	return report.New(result, report.Options{Top: 5})
}

// coverage counts, of each figure, how often its interval was drawn, and how often it missed the truth.
type coverage struct {
	drawn, missed map[string]int
	width         map[string]float64
}

func newCoverage() *coverage {
	return &coverage{map[string]int{}, map[string]int{}, map[string]float64{}}
}

func (c *coverage) note(name string, truth, estimate float64, r [2]float64) {
	c.drawn[name]++
	const rounding = 1e-9 // of shares, which are divided
	if truth < r[0]-rounding || truth > r[1]+rounding || estimate < r[0]-rounding || estimate > r[1]+rounding {
		c.missed[name]++
	}
	c.width[name] += r[1] - r[0]
}

func (c *coverage) count(name string, truth, estimate int64, r [2]int64) {
	c.note(name, float64(truth), float64(estimate), [2]float64{float64(r[0]), float64(r[1])})
}

// take compares the report on a sample with that on the whole log. What needs no verdict must be the same.
func (c *coverage) take(t *testing.T, whole, drawn *report.Model) {
	t.Helper()
	if whole.Input.Requests != drawn.Input.Requests || whole.Input.Clients != drawn.Input.Clients {
		t.Fatalf("of a sample %d requests and %d clients, want %d and %d", drawn.Input.Requests, drawn.Input.Clients,
			whole.Input.Requests, whole.Input.Clients)
	}
	for i := range whole.Policies {
		p, q := &whole.Policies[i], &drawn.Policies[i]
		r, name := q.Sample, p.Policy+" "
		if p.Requests != q.Requests || p.Clients != q.Clients {
			t.Fatalf("%s: %d requests of %d clients, want %d of %d", p.Policy, q.Requests, q.Clients, p.Requests, p.Clients)
		}
		c.count(name+"refused", p.Refused, q.Refused, r.Refused)
		c.count(name+"clients_hit", p.ClientsHit, q.ClientsHit, r.ClientsHit)
		c.count(name+"delayed", p.Delayed, q.Delayed, r.Delayed)
		c.count(name+"bytes_saved", p.BytesSaved, q.BytesSaved, r.BytesSaved)
		c.note(name+"refused_percent", p.RefusedPercent, q.RefusedPercent, r.RefusedPercent)
		c.note(name+"clients_hit_percent", p.ClientsHitPercent, q.ClientsHitPercent, r.ClientsHitPercent)
		if r.UpstreamSecondsSaved != nil {
			c.note(name+"upstream", *p.UpstreamSecondsSaved, *q.UpstreamSecondsSaved, *r.UpstreamSecondsSaved)
		}
		for class := range p.ByClass {
			f, g, of := p.ByClass[class], q.ByClass[class], r.ByClass[class]
			if f.Requests != g.Requests || f.Clients != g.Clients {
				t.Fatalf("%s, %s: %+v, want %+v", p.Policy, request.Class(class), g, f)
			}
			if f.Clients == 0 {
				continue
			}
			c.count(name+request.Class(class).String()+" refused", f.Refused, g.Refused, of.Refused)
			c.count(name+request.Class(class).String()+" clients_hit", f.ClientsHit, g.ClientsHit, of.ClientsHit)
		}
		for _, a := range p.TopActions {
			j := slices.IndexFunc(q.TopActions, func(b report.Action) bool { return a.Action == b.Action })
			if j < 0 {
				continue // no request that the sample refuses is of it
			}
			b := &q.TopActions[j]
			c.count(name+a.Action, a.Refused, b.Refused, *b.Range)
			c.note(name+a.Action+" share", a.SharePercent, b.SharePercent, *b.ShareRange)
		}
	}
}

// check reports the figures that were missed too often.
func (c *coverage) check(t *testing.T) {
	t.Helper()
	names, worst := []string{}, 0.0
	for name := range c.drawn {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		share := float64(c.missed[name]) / float64(c.drawn[name])
		worst = max(worst, share)
		if c.drawn[name] >= 20 && share > missesOf100/100.0 {
			t.Errorf("%s: %d of %d intervals miss the truth", name, c.missed[name], c.drawn[name])
		}
	}
	t.Logf("%d figures, of which the worst was missed in %.1f %% of its intervals", len(names), 100*worst)
}

// heavyLog writes a log in which few clients send most, in bursts, with answers of very different sizes.
func heavyLog(t *testing.T, rng *rand.Rand, requests int) string {
	t.Helper()
	agents := []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "curl/8.5.0", "python-requests/2.31.0",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	}
	paths := []string{"/", "/login", "/product/7", "/search?q=a", "/static/a.css"}
	type line struct {
		at   time.Time
		text string
	}
	var lines []line
	start := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	shape := 0.6 + rng.Float64() // of Pareto: below 1 there is not even a mean
	for client := 0; len(lines) < requests; client++ {
		n := min(int(math.Pow(rng.Float64(), -1/shape)), requests/3)
		agent := agents[rng.IntN(len(agents))]
		at := start.Add(time.Duration(rng.IntN(6*3600)) * time.Second)
		pace := []int{1, 4, 30}[rng.IntN(3)]
		for range n {
			at = at.Add(time.Duration(rng.IntN(pace+1)) * time.Second)
			size := int(math.Min(1e9, 100*math.Pow(rng.Float64(), -1)))
			lines = append(lines, line{at, fmt.Sprintf("10.%d.%d.%d - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" \"%s\"\n", client>>10&255,
				client>>5&31, client&31, at.Format("02/Jan/2006:15:04:05 -0700"), paths[rng.IntN(len(paths))], size, agent)})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var text bytes.Buffer
	for _, l := range lines {
		text.WriteString(l.text)
	}
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Of 100 logs with heavy tails, each with a sample of its own, the interval of each figure holds the truth of 95 or more.
func TestSampleOfGeneratedLogs(t *testing.T) {
	for by, unit := range map[request.Key]string{request.ByClientAction: "client", request.ByClient24: "client/24"} {
		c := newCoverage()
		for i := range uint64(100) {
			rng := testneeds.Rand(t, i, 7)
			l, census := readSampled(t, []string{heavyLog(t, rng, 1200)}, by)
			drawn := l.draw(t, census, sample.Options{Share: 10, Seed: fmt.Sprint(i)})
			if drawn.Sample.By != unit {
				t.Fatalf("a sample by %s, want %s", drawn.Sample.By, unit)
			}
			c.take(t, l.whole, drawn)
		}
		t.Log(unit)
		c.check(t)
	}
}

// Of real logs, 100 samples of each.
func TestSampleOfRealLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("real logs take time")
	}
	for name, logs := range traffictest.Logs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, census := readSampled(t, logs, request.ByClient)
			if l.whole.Input.Requests == 0 {
				return // there is nothing to draw
			}
			c := newCoverage()
			for seed := range 100 {
				c.take(t, l.whole, l.draw(t, census, sample.Options{Share: 2, Seed: fmt.Sprint(seed)}))
			}
			c.check(t)
		})
	}
}

// What suggest promises of the whole log by a sample holds: of 100 second samples, the share of the protected clients that
// the answer hits is no larger than it says in 95 or more, and what it refuses is in its range.
func TestSuggestOnSample(t *testing.T) {
	c := newCoverage()
	for i := range uint64(10) {
		rng := testneeds.Rand(t, i, 8)
		var out, errs bytes.Buffer
		r := &Suggest{Logs: Logs{Caller: called(&out, &errs), Quiet: true}, Sample: sample.Options{Share: 30, Seed: fmt.Sprint(i)}}
		r.Lateness, r.retain = ingest.DefaultLateness, true
		goal, err := suggest.ParseGoal("browsers=90%")
		if err != nil {
			t.Fatal(err)
		}
		r.Protect = []suggest.Goal{goal}
		if err := r.prepareSuggest(t.Context(), []string{heavyLog(t, rng, 3000)}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.advise(t.Context()); err != nil {
			t.Fatal(err)
		}
		prove := func(share float64, seed string) *suggest.SampleProof {
			p, err := r.advisor.Prove(t.Context(), sample.Options{Share: share, Seed: seed}, func(do func(*traffic.Batch) error) error {
				return r.allAgain(t.Context(), do)
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		whole := prove(100, "")
		if whole == nil {
			continue // no limit will do
		}
		for seed := range 10 {
			p := prove(30, fmt.Sprint(seed))
			c.count("refused", whole.Refused.Estimate, p.Refused.Estimate, p.Refused.Ends())
			g, of := &p.Goals[0], &whole.Goals[0]
			if of.Drawn != of.Clients || g.Clients != of.Clients || g.Drawn >= of.Drawn {
				t.Fatalf("%+v of %+v", g, of)
			}
			c.note("most hit", float64(of.Hit)/float64(of.Clients), 0, [2]float64{0, g.MostHit.Float() / 100})
		}
		if err := r.release(); err != nil {
			t.Fatal(err)
		}
	}
	if c.drawn["refused"] < 50 {
		t.Errorf("only %d proofs", c.drawn["refused"])
	}
	c.check(t)
}

// What a sample cannot tell is refused with the reason, before a log is read.
func TestSampleRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*Replay)
		text string
	}{
		"site":          {func(r *Replay) { r.By = request.BySite }, "counts requests of many clients together"},
		"action":        {func(r *Replay) { r.By = request.ByAction }, "counts requests of many clients together"},
		"approximation": {func(r *Replay) { r.Limits = []string{"cloudflare~:100/1m"} }, "approximation"},
		"harm":          {func(r *Replay) { r.Harm = true }, "--sample and --harm"},
		"band":          {func(r *Replay) { r.Band = true }, "--sample and --band"},
		"resume":        {func(r *Replay) { r.Resume = "on" }, "--sample and --resume"},
		"condition":     {func(r *Replay) { r.FailIf = []string{"refused > 0"} }, "--sample and --fail-if"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			r := &Replay{Logs: Logs{Caller: called(&out, &errs)}, Choice: Choice{Limits: []string{"token:6/30s"}}, Keeping: Keeping{NoStore: true}}
			r.Sample, r.Output = sample.Options{Share: 10}, "json"
			c.set(r)
			err := r.Run(t.Context(), []string{burst(t)})
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %q", err, c.text)
			}
		})
	}
}
