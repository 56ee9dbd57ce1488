package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shadow/internal/mapped"
	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/store"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
	"shadow/report/curves"
	"shadow/report/format"
)

// A Sweep says of every limit at once what it would refuse, and which clients it would hit.
type Sweep struct {
	Logs
	Shapes
	Keeping
	Bursts []int64      // of token buckets, of which to count what they refuse
	Key    *request.Key // that policies of Chosen count by; nil: their own
	Exact  *bool        // whether to look twice for what those of the table refuse; nil: if that takes a moment
	Action string
	Chosen []string // policies of the configuration whose limits are swept in place of Shapes
	Output string
	Band   bool

	weighed    []*sweep.Weighed // their limits, in the first look; none: Shapes are swept
	ofPolicies []sweep.WeighedCurve
	shapes     []sweep.Shape // that take the place of their limits; none: these are tried

	options sweep.Options
}

// Run verifies what is asked, draws the curves, stores them if they are to be stored, and reports.
func (r *Sweep) Run(ctx context.Context, logs []string) error {
	if err := r.prepareSweep(ctx, logs); err != nil {
		return err
	}
	heap.CollectOftenLater()
	var result *sweep.Result
	database, number, err := r.keep(ctx, r.Keeping, 0, func(run *store.Run) (err error) {
		if result, err = r.sweep(ctx); err != nil || run == nil {
			return err
		}
		if r.idle != "" {
			return errIdle
		}
		run.Warnings, run.Findings, run.Who = r.warnings(result), r.told, r.who()
		defer Storing()()
		return run.FinishSweep(result, time.Now())
	})
	switch {
	case errors.Is(err, errIdle):
		database, number = "", ""
	case err != nil:
		return err
	}
	return Afterwards(database, number, r.report(result, database, number))
}

// Model draws the curves of the logs, and returns them with their report. It stores nothing. An IncompleteError comes with
// what was read.
func (r *Sweep) Model(ctx context.Context, logs []string) (*sweep.Result, *curves.Report, error) {
	r.NoStore = true
	if err := r.prepareSweep(ctx, logs); err != nil {
		return nil, nil, err
	}
	result, err := r.sweep(ctx)
	if err != nil {
		return nil, nil, err
	}
	return result, r.model(result, "", ""), r.Incomplete(&result.Stats)
}

// prepareSweep looks up everything that is named.
func (r *Sweep) prepareSweep(ctx context.Context, logs []string) error {
	r.options, r.Asked = r.Shapes.options(), r.Action
	r.Memory.expect(sweepClient)
	choose := func(*policy.Config) ([]policy.Policy, error) {
		windows, err := longestWindow(r.options.Periods, r.By)
		if err != nil {
			return nil, err
		}
		underWay, err := r.underWay(r.Band)
		return append(windows, underWay...), err
	}
	if len(r.Chosen) > 0 && r.Output == "html" {
		return Usage("--output html has no limits of policies, since not every N is counted: want table, json, csv or markdown")
	}
	if len(r.Chosen) > 0 { // the requests and clients come from a sweep of nothing
		if r.Named() || len(r.Kinds) > 0 {
			r.shapes = slices.DeleteFunc(r.options.Shapes(), func(s sweep.Shape) bool { return s.Kind == sweep.WindowAll && len(r.Kinds) == 0 })
		}
		r.options.Kinds, r.options.Periods, r.options.Rates, r.NoStore = nil, nil, nil, true
		choose = func(c *policy.Config) ([]policy.Policy, error) {
			policies, err := c.Pick(r.Chosen)
			if err != nil {
				return nil, Usage("--policy: %w", err)
			}
			return r.instead(policies)
		}
	}
	if err := r.Prepare(ctx, logs, choose); err != nil {
		return err
	}
	if err := r.weigh(); err != nil {
		return err
	}
	if r.By == request.ByClientAction {
		r.byPath = byPath
	}
	NotePaths(&r.Read, PolicyKeys(r.Policies))
	o := &r.options
	o.Doubted = r.doubted()
	o.Action, o.Bursts, o.Tables, o.Lateness = r.Action, r.Bursts, r.Read.Tables, r.Read.StepBack()
	o.Band, r.Read.Band = r.Band, r.Band
	r.byFlag = true
	return nil
}

// weigh prepares to sweep the limits of policies.
func (r *Sweep) weigh() error {
	for _, set := range r.Config.Policies {
		set.Policies = slices.DeleteFunc(slices.Clone(set.Policies), func(p policy.Policy) bool {
			return len(r.Chosen) == 0 || !slices.ContainsFunc(r.Policies, func(q policy.Policy) bool { return p.Name == q.Name })
		})
		var err error
		if set.Policies, err = r.instead(set.Policies); err != nil {
			return err
		}
		weighed, err := sweep.NewWeighed(set, r.Read.Tables, r.Read.StepBack())
		if err != nil {
			return Usage("--policy: %w", err)
		}
		for _, w := range weighed {
			if w.Action = r.Action; len(r.shapes) > 0 {
				w.Named = []int64{} // the policy has no such limit
			}
			if w.Shape.Kind == sweep.Token {
				w.More = r.Bursts
			}
		}
		r.weighed = append(r.weighed, weighed...)
	}
	if len(r.Chosen) > 0 && len(r.Bursts) > 0 && !slices.ContainsFunc(r.weighed, func(w *sweep.Weighed) bool { return w.Shape.Kind == sweep.Token }) {
		return Usage("--bursts are of token buckets, and the limit of the policy is none: --kind token tries some")
	}
	if len(r.Chosen) > 0 && len(r.weighed) == 0 {
		return Usage("--policy: which policy is to be swept? Name one of the configuration")
	}
	return nil
}

// instead returns policies with the key and the limits that are asked for in place of their own.
func (r *Sweep) instead(policies []policy.Policy) (all []policy.Policy, err error) {
	for _, p := range policies {
		first := p.Parts[0]
		texts, by := []string{first.Spec.String()}, cmp.Or(r.Key, &first.By)
		if len(r.shapes) > 0 {
			texts = nil
		}
		texts = mapped.Add(texts, r.shapes, func(s sweep.Shape) string { return s.Limit(1) })
		others, err := policy.ParseLimits(texts, *by)
		if err != nil {
			return nil, err
		}
		for _, other := range others {
			part := first
			if p.ByTime() != other.ByTime() {
				if first.Costs != nil && !p.ByTime() {
					return nil, Usage("--kind conn: requests under way count as one each, and those of policy %q have costs", p.Name)
				}
				part.Costs = other.Parts[0].Costs
			}
			part.By, part.Spec, part.Limiter = *by, other.Parts[0].Spec, other.Parts[0].Limiter
			p.Parts = append([]policy.Part{part}, p.Parts[1:]...)
			all = append(all, p)
		}
	}
	return all, nil
}

// longestWindow is, by each key, the window that remembers for longest: how logs are read goes by that.
func longestWindow(periods []limit.Time, keys ...request.Key) (policies []policy.Policy, err error) {
	spec := limit.Spec{Algorithm: "window", Count: 1, Period: slices.Max(periods)}
	for _, key := range keys {
		p, err := policy.New(spec, key)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	return policies, nil
}

// sweep reads the logs and draws the curves.
func (r *Sweep) sweep(ctx context.Context) (result *sweep.Result, err error) {
	defer func() { err = cmp.Or(err, r.Release()) }()
	if len(r.weighed) > 0 {
		r.ofPasses = 2
	}
	if result, err = r.look(ctx); err != nil {
		return nil, err
	}
	if result.Action, err = r.settle(&result.Stats, "action", r.Action); err != nil {
		return nil, err
	}
	if len(r.weighed) > 0 {
		second := result.LookAgain(r.weighed, r.options.Doubted)
		r.weighed = nil
		if err := r.again(ctx, func(b *traffic.Batch) error { second.Take(b); return nil }); err != nil {
			return nil, err
		}
		r.ofPolicies = second.Curves()
		return result, nil
	}
	return result, r.lookAgain(ctx, result)
}

// mostTwice is up to how many requests are looked at twice unasked: that takes a moment.
const mostTwice = 500_000

// lookAgain counts what those token buckets refuse of which people will want to know it, and of which the first look
// could not tell that they would.
func (r *Sweep) lookAgain(ctx context.Context, first *sweep.Result) error {
	again := first.Again(r.options)
	if len(again.Rates) == 0 || !r.twice(first.Judged) {
		return nil
	}
	second := sweep.New(again)
	if err := r.again(ctx, func(b *traffic.Batch) error { second.Take(b); return nil }); err != nil {
		return err
	}
	first.Add(second.Result(first.Stats))
	return nil
}

// twice reports whether so many requests are looked at twice.
func (r *Sweep) twice(requests int64) bool {
	if r.Exact != nil {
		return *r.Exact
	}
	return requests <= mostTwice
}

// look reads the logs, and keeps the requests while there may be a second look.
func (r *Sweep) look(ctx context.Context) (*sweep.Result, error) {
	s := sweep.New(r.options)
	r.severalPasses = len(r.weighed) > 0 || slices.Contains(r.options.Kinds, sweep.Token) && r.twice(0)
	stats, err := r.read(ctx, r.Read, func(src replay.Source, _ *ingest.Reader) error {
		return each(ctx, src, func(b *traffic.Batch) error {
			s.Take(b)
			for _, w := range r.weighed {
				w.Take(b)
			}
			r.severalPasses = r.severalPasses && (len(r.weighed) > 0 || r.twice(s.Judged()))
			return nil
		})
	})
	if err != nil {
		return nil, r.explainMissing(err, r.Policies)
	}
	return s.Result(stats), nil
}

// model makes the report of curves, which database has as a run; "": none has.
func (r *Sweep) model(result *sweep.Result, database, run string) *curves.Report {
	o := r.reportOptions(r.warnings(result))
	o.Database, o.Run = database, run
	if len(r.Chosen) > 0 {
		return curves.NewOfPolicies(result, r.ofPolicies, o)
	}
	return curves.New(result, o)
}

// report prints the curves, and complains if too much could not be read.
func (r *Sweep) report(result *sweep.Result, database, run string) error {
	if err := r.model(result, database, run).Write(r.Out, r.Output); err != nil {
		return err
	}
	return r.Incomplete(&result.Stats)
}

// warnings returns the warnings about logs, and says where curves are not what one may think.
func (r *Sweep) warnings(result *sweep.Result) []string {
	s := &result.Stats
	texts := append(r.Logs.warnings(s), r.actionWarnings(r.Action, result.Action, result.Judged, s)...)
	buckets := func(c sweep.WeighedCurve) bool { return c.Kind == sweep.Token }
	if s.Warm > 0 && (slices.Contains(r.options.Kinds, sweep.Token) || slices.ContainsFunc(r.ofPolicies, buckets)) {
		texts = append(texts, "token buckets start full at --since, as with shadow replay --cold; windows have been warmed")
	}
	texts = append(texts, noUsers(&r.Read, s)...)
	texts = append(texts, FoldedPaths(&r.Read, PolicyKeys(r.Policies))...)
	texts = append(append(texts, idleScopes(r.Policies, s)...), armed(r.Policies, s)...)
	texts = append(texts, beyondAny(r.ofPolicies)...)
	if len(r.Chosen) == 0 {
		texts = append(texts, r.countsRequests()...)
	}
	if r.NoStore {
		return texts
	}
	return append(texts, thinCurves(result)...)
}

// beyondAny tells of clients that no limit spares, since it would have to be larger than there can be.
func beyondAny(of []sweep.WeighedCurve) (texts []string) {
	for _, c := range of {
		if c.Beyond > 0 {
			texts = append(texts, fmt.Sprintf("policy %s: %s may need more than the largest N of %s (%s); where requests "+
				"cost a field, a larger per makes it fit", c.Policy, format.Count(c.Beyond, "client"), c.Shape, format.Thousands(c.Most)))
		}
	}
	return texts
}

// Shapes say which limits are tried.
type Shapes struct {
	Per   []limit.Time // lengths of windows; none: those by default
	Kinds []sweep.Kind // none: all but conn, which wants logs that tell how long requests take
	Rates []sweep.Rate // of token buckets; none: those that suit the key
	By    request.Key  // what limits count by
}

// Named reports whether some shapes were asked for.
func (f *Shapes) Named() bool { return len(f.Per)+len(f.Rates) > 0 }

// options are the shapes as a sweep takes them.
func (f *Shapes) options() sweep.Options {
	o := sweep.Options{By: f.By, Periods: f.Per, Kinds: f.Kinds, Rates: f.Rates}
	if len(o.Periods) == 0 {
		o.Periods = sweep.DefaultPeriods()
	}
	if len(f.Kinds) == 0 {
		o.Kinds = []sweep.Kind{sweep.Window, sweep.Fixed, sweep.WindowAll, sweep.Token}
	}
	if len(o.Rates) == 0 {
		o.Rates = sweep.DefaultRates(o.By)
	}
	return o
}

// underWay is a limit on requests under way if such are among the kinds: logs are read for it.
func (f *Shapes) underWay(band bool) (policies []policy.Policy, err error) {
	if !slices.Contains(f.Kinds, sweep.UnderWay) {
		return nil, nil
	}
	if policies, err = policy.ParseLimits([]string{sweep.Shape{Kind: sweep.UnderWay}.Limit(1)}, f.By); err != nil {
		return nil, err
	}
	return policies, noBand(band, policies)
}
