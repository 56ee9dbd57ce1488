package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/internal/pipeline/cputime"
	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/store"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/curves"
	"shadow/report/html"
)

// A Replay judges the requests of logs by policies. Into the database go, if there is to be one, would-blocks as they
// come and the tallies at the end.
type Replay struct {
	Logs
	Choice
	Look
	Nightly
	Redis
	Keeping
	Events     store.Events // of how many policies they are kept
	Retain     limit.Time   // older runs are deleted; 0: none is
	Resume     string       // "", or one of ResumeWords
	ResumeAs   string
	Timing     bool
	Harm       bool
	HarmAction string // implies Harm
	harmMeant  string // as reports call it
	Band       bool
	compares   bool   // whether conditions may ask what the second policy changes
	Sweep      bool   // draw the curves as well
	Verdicts   string // a file that verdicts on all requests are written to; "": none is
	Trace      string // a file that the requests are written to without their people; "": none is
	Retries    string // how refused requests come back, one of calibrate.RetryWords

	observers observers      // of verdicts one by one
	verdicts  *verdictFile   // nil unless Verdicts
	trace     *traceFile     // nil unless Trace
	harmed    *replay.Harm   // nil unless Harm
	retried   *retried       // nil unless Retries
	shared    *sharing       // nil unless Redis is
	overTime  *html.OverTime // nil unless the report is a page
	resumed   *resumption    // nil unless Resume is
	curves    *sweep.Result  // nil unless Sweep
}

// Run verifies what is asked, replays, and reports.
func (r *Replay) Run(ctx context.Context, logs []string) (err error) {
	if err := r.prepareReplay(ctx, logs); err != nil {
		return err
	}
	defer r.abandon()
	if err := r.openVerdicts(); err != nil {
		return err
	}
	if err := r.openTrace(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	heap.CollectLate(heap.LargeBatches)
	var result *replay.Result
	database, number, err := r.keep(ctx, r.Keeping, r.Events, func(run *store.Run) (err error) {
		if r.resumed != nil {
			if err := r.resumed.begin(ctx, run, r); err != nil {
				return err
			}
		}
		if run == nil {
			result, err = r.judge(ctx, nil)
			return err
		}
		if result, err = r.judge(ctx, run); err != nil {
			return err
		}
		if r.idle != "" {
			return errIdle
		}
		run.Warnings, run.Findings = r.warnings(&result.Stats), r.told
		if r.resumed != nil {
			if r.resumed.last != nil && result.Stats.Lines == 0 && result.Stats.Judged() == 0 {
				return errNothingNew
			}
			run.State = r.resumed.next
		}
		run.Curves, run.Who = r.curves, result.Who
		defer Storing()()
		return run.Finish(result, time.Now())
	})
	switch {
	case errors.Is(err, errNothingNew): // nothing of it is kept: what is held back stays so
		if !r.Quiet {
			fmt.Fprintf(r.Err, "nothing has come to the logs since run %d: no run is stored\n", r.resumed.last.Run)
		}
		return r.report(ctx, result, "", "")
	case errors.Is(err, errIdle):
		return r.report(ctx, result, "", "")
	case err != nil:
		return err
	}
	after := func(err error) error { return Afterwards(database, number, err) }
	return errors.Join(after(r.verdicts.finish(ctx)), after(r.writeTrace(ctx)), after(r.report(ctx, result, database, number)), after(r.prune(ctx)))
}

// Model judges the logs and returns the report. It stores nothing. An IncompleteError comes with a report of what was read.
func (r *Replay) Model(ctx context.Context, logs []string) (*report.Model, error) {
	if err := r.prepareReplay(ctx, logs); err != nil {
		return nil, err
	}
	result, err := r.judge(ctx, nil)
	if err != nil {
		return nil, err
	}
	model, err := r.model(result, "", "")
	return model, cmp.Or(err, r.Incomplete(&result.Stats))
}

// prepareReplay looks up everything that is named.
func (r *Replay) prepareReplay(ctx context.Context, logs []string) error {
	if err := r.verifyResume(logs); err != nil {
		return err
	}
	scopes := []report.Scope{report.WithIdentities}
	if r.compares {
		scopes = append(scopes, report.WithHistory)
	}
	if err := r.Nightly.Verify(scopes...); err != nil {
		return err
	}
	if r.Sweep && r.NoStore && r.Output != "html" {
		return Usage("--sweep keeps curves in the database, and --no-store keeps nothing: --output html shows them, as does shadow sweep")
	}
	r.Asked = r.HarmAction
	if err := r.Prepare(ctx, logs, r.Choose); err != nil {
		return err
	}
	r.byFlag = len(r.Limits) > 0
	if r.byFlag && r.By == request.ByClientAction {
		r.byPath = byPath
	}
	NotePaths(&r.Read, PolicyKeys(r.Policies))
	r.watchHarm()
	if err := r.watchRetries(); err != nil {
		return err
	}
	if err := noBand(r.Band, r.Policies); err != nil {
		return err
	}
	if r.Band && r.Read.Scopes.Busy() != 0 {
		return Usage("--band: a policy asks how busy the site is, which depends on when in their seconds all requests came; leave " +
			"out one of them")
	}
	r.Read.Band = r.Band
	var err error
	if r.shared, err = r.share(); err != nil {
		return err
	}
	if r.Timing {
		r.Read.Clock = cputime.Thread
	}
	if err := r.verified(); err != nil {
		return err
	}
	if r.Resume != "" {
		now := limit.Time(r.Started.UnixMicro())
		r.resumed = &resumption{name: r.ResumeAs, how: r.Resume, options: r.resumeOptions(), now: now}
	}
	return nil
}

// noBand refuses --band for policies whose bounds are not known.
func noBand(band bool, policies []policy.Policy) error {
	if i := slices.IndexFunc(policies, policy.Policy.Weighed); band && i >= 0 {
		return Usage("--band: the requests of policy %q have costs, or count for as long as they take, and with these "+
			"its bounds are not known; leave out one of them", policies[i].Name)
	}
	return nil
}

// judge reads the logs and judges their requests. sink may be nil.
func (r *Replay) judge(ctx context.Context, sink replay.Sink) (_ *replay.Result, err error) {
	if r.shared != nil {
		if err := r.shared.redis.Ping(ctx); err != nil {
			return nil, err
		}
		defer func() { err = cmp.Or(err, r.shared.close()) }()
	}
	engine := r.newEngine(ctx, sink)
	curves := r.newSweep()
	var times ingest.StageTimes
	defer func() {
		if !r.severalPasses || err != nil {
			err = cmp.Or(err, r.Release())
		}
	}()
	stats, err := r.read(ctx, r.Read, func(src replay.Source, reader *ingest.Reader) error {
		if err := r.resumed.restore(engine, reader); err != nil {
			return err
		}
		if r.verdicts != nil {
			r.verdicts.Inputs(reader.Names())
		}
		if curves != nil {
			src = tee{src, curves.Take}
		}
		if err := engine.Run(src); err != nil || reader == nil {
			return err
		}
		times = reader.Times()
		return r.resumed.leave(&r.Read, reader, engine)
	})
	if err != nil {
		return nil, r.explainMissing(err, r.Policies)
	}
	if r.harmMeant, err = r.settle(&stats, "harm-action", r.HarmAction); err != nil {
		return nil, err
	}
	if r.shared != nil {
		r.shared.tell(&r.Logs)
	}
	result := engine.Result(stats)
	result.Who = r.who()
	if curves != nil {
		r.curves = curves.Result(stats)
	}
	if r.Timing {
		writeTiming(r.Err, &stats, times, engine.Times(), time.Since(r.Started))
	}
	return result, nil
}

// newSweep is nil unless --sweep is given. With it a replay draws the curves of its requests as well, in the same
// reading: those that shadow sweep draws unless told otherwise, by the key of --by. They are kept with the run, so the
// page of a stored run has them, and a report can say whether safe limits have moved. Their clients are divided
// as those of the policies are.
func (r *Replay) newSweep() *sweep.Sweep {
	if !r.Sweep {
		return nil
	}
	o := (&Shapes{By: r.By}).options()
	o.Tables, o.Lateness, o.Bursts = r.Read.Tables, r.Read.StepBack(), sweep.DefaultBursts()
	o.Doubted = r.doubted()
	return sweep.New(o)
}

// newEngine returns an engine that judges by the policies. sink may be nil.
func (r *Replay) newEngine(ctx context.Context, sink replay.Sink) *replay.Engine {
	kept := min(int(r.Events), len(r.Policies))
	if r.Output == "html" {
		r.overTime = html.NewOverTime(sink, len(r.Policies))
		sink, kept = r.overTime, len(r.Policies)
	}
	o := replay.Options{
		Tables: r.Read.Tables, Policies: r.Policies, Lateness: r.Read.StepBack(),
		Sorted: func(by request.Key) *traffic.Timelines { return r.look.Timelines(by) },
		Sink:   sink, EventPolicies: kept, Band: r.Band, Stop: ctx.Err, Clock: r.Read.Clock,
	}
	if len(r.observers) > 0 {
		o.Observer, o.Retries = r.observers, r.verdicts != nil
	}
	if r.shared != nil {
		o.Remote = r.shared.limiter
	}
	return replay.New(o)
}

// watchHarm has the replay observed for what --harm tells. Page views are told by the clues that evidence goes by,
// too.
func (r *Replay) watchHarm() {
	if !r.Harm && r.HarmAction == "" {
		return
	}
	r.harmed = replay.NewHarm(r.Read.Tables, r.Policies)
	r.observers = append(r.observers, r.harmed)
	if r.HarmAction != "" {
		r.harmed.ActionUsage = replay.NewActionUsage(r.HarmAction, r.Read.Tables, r.Policies)
		r.observers = append(r.observers, r.harmed.ActionUsage)
	}
}

// model makes the report of a result, which database has as a run; "": none has.
func (r *Replay) model(result *replay.Result, database, run string) (_ *report.Model, err error) {
	if r.harmed != nil {
		r.harmed.Finish()
		if r.harmed.ActionUsage != nil {
			r.harmed.ActionUsage.Finish()
		}
	}
	o := r.reportOptions(r.warnings(&result.Stats))
	o.Top, o.Sort, o.Database, o.Run = r.Rows(), r.Sort, database, run
	o.Harm, o.Identities = r.harmed, o.Identities || r.Output == "html"
	if o.Retries, err = r.retried.loads(); err != nil {
		return nil, err
	}
	return report.New(result, o), nil
}

// report prints the result, and complains if too much could not be read.
func (r *Replay) report(ctx context.Context, result *replay.Result, database, run string) error {
	model, err := r.model(result, database, run)
	if err != nil {
		return err
	}
	r.Always = r.Output == "json"
	return r.Finish(ctx, &r.Caller, r.Quiet, model, r.Incomplete(&result.Stats), func() error {
		if r.Output != "html" {
			return model.Write(r.Out, r.Output)
		}
		page := html.NewReplay(model)
		page.Times, r.overTime.Requests = r.overTime, result.OverTime
		if r.curves != nil {
			page.Curves = curves.New(r.curves, report.Options{}).Curves()
		}
		return page.Write(r.Out)
	})
}

// warnings returns the warnings about logs, and what is unusual about policies.
func (r *Replay) warnings(s *ingest.Stats) []string {
	texts := slices.Concat(r.Logs.warnings(s), idleScopes(r.Policies, s), armed(r.Policies, s), smallBursts(r.Policies))
	if r.resumed != nil {
		texts = append(texts, r.resumed.notes...)
	}
	if r.curves != nil {
		texts = slices.Concat(texts, thinCurves(r.curves), r.countsRequests())
	}
	texts = append(texts, noUsers(&r.Read, s)...)
	texts = append(texts, r.takenFor("harm-action", r.HarmAction, r.harmMeant)...)
	return append(texts, FoldedPaths(&r.Read, PolicyKeys(r.Policies))...)
}

// prune deletes the runs that --retain does not keep.
func (r *Replay) prune(ctx context.Context) error {
	if _, err := os.Stat(r.DB); r.Retain == 0 || r.NoStore && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := store.Open(r.DB)
	if err != nil {
		return fmt.Errorf("--retain: %w", err)
	}
	old, err := db.FinishedBefore(ctx, limit.Time(r.Started.UnixMicro())-r.Retain)
	if err != nil || len(old) == 0 {
		return err
	}
	deleted, err := DeleteRuns(ctx, db, r.DB, old)
	if err != nil {
		err = fmt.Errorf("--retain: %w", err)
	}
	if deleted != nil && r.Verbose {
		err = errors.Join(err, deleted.Write(r.Err, ""))
	}
	return err
}

// observers are several of them, as one.
type observers []replay.Observer

// Observe shows each the batch.
func (o observers) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	for _, one := range o {
		if err := one.Observe(b, verdicts); err != nil {
			return err
		}
	}
	return nil
}
