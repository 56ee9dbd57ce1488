package sweep_test

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/traffictest"
	"shadow/limit"
	"shadow/replay"
)

// pairs is the number of limits that are replayed for each log.
const pairs = 200

// A trial is one limit, replayed, and the curve that must know its figures.
type trial struct {
	shape sweep.Shape
	n     int64 // the limit of a window, the burst of a token bucket
	known bool  // whether the curve must know what is refused
}

// TestAgreesWithReplay holds 200 random points of the curves against a replay of the limits that they stand for, on every
// log, by every key, with late requests and without.
func TestAgreesWithReplay(t *testing.T) {
	traffictest.EachLog(t, func(t *testing.T, rng *rand.Rand, name string, files []string) {
		lateness := ingest.DefaultLateness
		if rng.IntN(2) == 0 { // so that some requests come too late
			lateness = []limit.Time{0, limit.Millisecond, limit.Second, 10 * limit.Second, 5 * limit.Minute}[rng.IntN(5)]
		}
		by := request.UsualKeys[rng.IntN(len(request.UsualKeys))]
		if rng.IntN(2) == 0 {
			by = request.ByClient
		}
		if by == request.ByHost && name != "vhosts.log" { // the others do not tell the host
			by = request.BySite
		}
		t.Logf("by %s, lateness %s", by, limit.FormatPeriod(lateness))
		agree(t, rng, files, by, lateness)
	})
}

func agree(t *testing.T, rng *rand.Rand, files []string, by request.Key, lateness limit.Time) {
	options := randomOptions(rng, by, lateness)
	trials := randomTrials(rng, &options)
	o := traffictest.Options(t)
	o.Lateness, o.Hosts, o.Paths = lateness, by == request.ByHost, by == request.ByClientPath
	o.Batch = []int{64, 1000, 50_000, 500_000}[rng.IntN(4)]
	if rng.IntN(3) == 0 {
		countFromTheMiddle(t, &o, files)
	}
	options.Band = rng.IntN(2) == 0
	o.Band = options.Band
	someAction := rng.IntN(3) == 0
	options.Tables = o.Tables
	reader, err := ingest.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer reader.Close()
	var s *sweep.Sweep
	var engines map[limit.Time]*replay.Engine
	for b, err := reader.Next(); err == nil; b, err = reader.Next() {
		if s == nil {
			if someAction {
				options.Action = o.Tables.Actions.Name(int32(b.Action[rng.IntN(b.Len())]))
				t.Logf("action %s", options.Action)
			}
			s, engines = sweep.New(options), newEngines(t, trials, &options)
		}
		s.Take(b)
		marked := mark(b, &options)
		for per, e := range engines {
			if per > 0 || !b.Warm { // token buckets start full
				check(t, e.Judge(marked))
			}
		}
	}
	if s != nil {
		compare(t, s.Result(reader.Stats()), engines, trials)
	}
}

// TestSecondLook holds what a second look counts against a replay of the limits that it was about, on every log: a few of them each.
func TestSecondLook(t *testing.T) {
	traffictest.EachLog(t, func(t *testing.T, rng *rand.Rand, _ string, files []string) {
		options := randomOptions(rng, request.ByClient, ingest.DefaultLateness)
		options.Band = rng.IntN(2) == 0
		o := traffictest.Options(t)
		o.Band, options.Tables = options.Band, o.Tables
		first := look(t, o, files, options, nil)
		again := first.Again(options)
		trials := trialsOf(rng, again)
		if len(trials) == 0 {
			return // every burst that matters is counted already
		}
		engines := newEngines(t, trials, &options)
		second := look(t, o, files, again, engines[0].Judge)
		if !first.Add(second) || len(first.Uncounted()) > 0 {
			t.Fatalf("not counted: %v", first.Uncounted())
		}
		compare(t, first, engines, trials)
	})
}

// look sweeps a log, and hands the batches to another one as well, unless it is nil.
func look(t *testing.T, o ingest.Options, files []string, options sweep.Options, also func(*traffic.Batch) error) *sweep.Result {
	reader, err := ingest.NewReader(context.Background(), files, nil, o)
	check(t, err)
	defer reader.Close()
	s := sweep.New(options)
	for b, err := reader.Next(); err == nil; b, err = reader.Next() {
		s.Take(b)
		if also != nil {
			check(t, also(b))
		}
	}
	return s.Result(reader.Stats())
}

// trialsOf are some of the bursts that a second look counts.
func trialsOf(rng *rand.Rand, again sweep.Options) (trials []trial) {
	for _, rate := range again.Rates {
		for _, burst := range again.BurstsOf[rate] {
			if rng.IntN(4) == 0 || len(trials) == 0 {
				trials = append(trials, trial{shape: sweep.Shape{Kind: sweep.Token, Rate: rate}, n: burst, known: true})
			}
		}
	}
	return trials
}

// countFromTheMiddle has only the later half of a log be counted.
func countFromTheMiddle(t *testing.T, o *ingest.Options, files []string) {
	whole := *o
	whole.Tables = traffic.NewTables()
	actions, err := match.NewActions(nil, whole.Tables.Actions)
	check(t, err)
	whole.Actions = actions
	reader, err := ingest.NewReader(context.Background(), files, nil, whole)
	check(t, err)
	defer reader.Close()
	for err == nil {
		_, err = reader.Next()
	}
	stats := reader.Stats()
	o.HasSince, o.Since, o.Warmup = true, stats.FirstAt+(stats.LastAt-stats.FirstAt)/2, limit.Week
	t.Logf("since %d", o.Since)
}

// mark is the batch with the requests of the action, if there is one, marked as in the first scope.
func mark(b *traffic.Batch, o *sweep.Options) *traffic.Batch {
	if o.Action == "" {
		return b
	}
	marked := *b
	id, _ := o.Tables.Actions.Find([]byte(o.Action))
	marked.Marks = make([]uint64, b.Len())
	for i, action := range b.Action {
		if int32(action) == id {
			marked.Marks[i] = 1
		}
	}
	return &marked
}

// randomOptions are some of the windows, rates and bursts that there may be.
func randomOptions(rng *rand.Rand, by request.Key, lateness limit.Time) sweep.Options {
	o := sweep.Options{
		By: by, Lateness: lateness, Kinds: []sweep.Kind{sweep.Window, sweep.Fixed, sweep.WindowAll, sweep.Token},
		Periods: sweep.DefaultPeriods(), Bursts: sweep.DefaultBursts(), Workers: 1 + rng.IntN(3),
		Doubted: someDoubted,
	}
	o.Periods = append(o.Periods, 333*limit.Millisecond, 7*limit.Second, limit.Week)
	rng.Shuffle(len(o.Periods), func(i, j int) { o.Periods[i], o.Periods[j] = o.Periods[j], o.Periods[i] })
	o.Periods = o.Periods[:4]
	rates := append(sweep.DefaultRates(by), sweep.Rate{Count: 7, Per: 30 * limit.Second}, sweep.Rate{Count: 1, Per: 333})
	for range 6 {
		o.Rates = append(o.Rates, rates[rng.IntN(len(rates))])
	}
	o.Bursts = append(o.Bursts, 1, 2, 3)
	return o
}

func randomTrials(rng *rand.Rand, o *sweep.Options) (trials []trial) {
	for range pairs {
		n := 1 + int64(rng.ExpFloat64()*[]float64{2, 10, 50, 400}[rng.IntN(4)])
		try := trial{shape: sweep.Shape{Kind: o.Kinds[rng.IntN(len(o.Kinds))]}, n: n, known: true}
		if try.shape.Kind == sweep.Token {
			try.shape.Rate = o.Rates[rng.IntN(len(o.Rates))]
			if try.known = rng.IntN(2) == 0; try.known {
				try.n = o.Bursts[rng.IntN(len(o.Bursts))]
			}
		} else {
			try.shape.Per = o.Periods[rng.IntN(len(o.Periods))]
		}
		trials = append(trials, try)
	}
	return trials
}

// newEngines makes an engine for each trial's horizon, which is what decides when a late request finds its key forgotten.
// All token buckets go together, beside one that never forgets.
func newEngines(t *testing.T, trials []trial, o *sweep.Options) map[limit.Time]*replay.Engine {
	limits := map[limit.Time][]string{}
	for _, try := range trials {
		limits[try.shape.Per] = append(limits[try.shape.Per], try.shape.Limit(try.n))
	}
	if limits[0] != nil {
		limits[0] = append(limits[0], "token:1/1s,burst=2,initial=1")
	}
	engines := map[limit.Time]*replay.Engine{}
	for per, texts := range limits {
		policies, err := policy.ParseLimits(texts, o.By)
		check(t, err)
		for i := range policies {
			if o.Action != "" {
				policies[i].Parts[0].Match, policies[i].Parts[0].Count = 1, 1
			}
		}
		engines[per] = replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness, Band: o.Band})
	}
	return engines
}

func compare(t *testing.T, got *sweep.Result, engines map[limit.Time]*replay.Engine, trials []trial) {
	results := map[limit.Time]*replay.Result{}
	for per, e := range engines {
		check(t, e.Run(nothing{}))
		results[per] = e.Result(got.Stats)
	}
	curves := map[sweep.Shape]int{}
	for i := range got.Curves {
		curves[got.Curves[i].Shape] = i
	}
	for _, try := range trials {
		result, text := results[try.shape.Per], try.shape.Limit(try.n)
		want := banded(t, result, text)
		points := got.Banded(curves[try.shape], try.n)
		if try.known && !points.Counted() {
			t.Errorf("%s: the curve does not know what is refused", text)
		}
		for i, point := range []*sweep.Point{&points.Logged, &points.Low, &points.High} {
			placement := []string{"as logged", "at least", "at most"}[i]
			if !point.Counted && got.By.Shared() {
				continue // nor which clients a burst hits that was not chosen
			}
			if point.Counted && point.Refused != want[i].Refused || point.Hit != want[i].Hit {
				t.Errorf("%s, %s: the curve says %v refused, %v hit; replay says %v and %v",
					text, placement, point.Refused, point.Hit, want[i].Refused, want[i].Hit)
			}
			if point.Counted && point.Hidden.Requests != want[i].Hidden.Requests || point.Hidden.Clients != want[i].Hidden.Clients {
				t.Errorf("%s, %s: of the doubted the curve says %+v; replay says %+v", text, placement, point.Hidden, want[i].Hidden)
			}
		}
	}
}

// nothing is a source at its end.
type nothing struct{}

func (nothing) Next() (*traffic.Batch, error) { return nil, io.EOF }

// banded returns what a replay found of a limit: as logged, at least and at most.
func banded(t *testing.T, r *replay.Result, limit string) (points [3]sweep.Point) {
	for i := range r.Policies {
		p := &r.Policies[i]
		if !same(t, p.Policy.Name, limit) {
			continue
		}
		all := []*replay.Hits{&p.Hits, &p.Hits, &p.Hits}
		if p.Bounds != nil {
			all[1], all[2] = &p.Bounds[0].Hits, &p.Bounds[1].Hits
		}
		clients := map[int32][3]int64{}
		for j, hits := range all {
			for hit := range hits.All() {
				refused := clients[hit.Client]
				refused[j] = hit.Refused
				clients[hit.Client] = refused
			}
		}
		for client, refused := range clients {
			hit := [3]bool{refused[0] > 0, slices.Min(refused[:]) > 0, true}
			for j := range points {
				note(&points[j], r, client, refused[j], hit[j])
			}
		}
		return points
	}
	t.Fatalf("no limit %s was replayed", limit)
	return points
}

// note adds what a limit did to a client.
func note(p *sweep.Point, r *replay.Result, client int32, refused int64, hit bool) {
	class, n := r.Clients.At(client).Class(), int64(0)
	if hit {
		n = 1
	}
	p.Refused[class] += refused
	p.Hit[class] += n
	if class == request.Browser && someDoubted(client) {
		p.Hidden.Requests += refused
		p.Hidden.Clients += n
	}
}

// someDoubted makes some clients doubted, by their ids alone; those that claim no browser do not count.
func someDoubted(client int32) bool { return client%3 == 1 }

func same(t *testing.T, x, y string) bool {
	if x == y {
		return true
	}
	a, err := limit.Parse(x)
	check(t, err)
	b, err := limit.Parse(y)
	check(t, err)
	return a == b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
