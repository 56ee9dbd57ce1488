package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/curves"
	"shadow/request"
	"shadow/store"
	"shadow/sweep"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// A sweepRun is one call of `shadow sweep`, with everything looked up that its flags name.
type sweepRun struct {
	*sweepFlags
	inputs
	options sweep.Options
	judging *evidence.Rules  // nil: no evidence is gathered
	witness *replay.Engine   // gathers it, in the first look
	jury    *replay.Assessor // judges it, after the first look
	started time.Time
	changed bool // whether the logs did between two looks
}

// run verifies the flags, sweeps, and reports.
func (f *sweepFlags) run(cmd *cobra.Command, args []string) error {
	r := &sweepRun{sweepFlags: f, inputs: inputs{cmd: cmd}, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	return r.keep(cmd.Context())
}

// keep draws the curves, stores them if they are to be stored, and reports.
func (r *sweepRun) keep(ctx context.Context) error {
	if r.noStore {
		result, err := r.sweep(ctx)
		if err != nil {
			return err
		}
		return r.report(result, "", "")
	}
	var result *sweep.Result
	id, err := keepRun(ctx, r.db, store.RunInfo{
		Command: strings.Join(os.Args, " "), Version: versionText(), Started: r.started, Timezone: r.timezone,
	}, func(run *store.Run) (err error) {
		if result, err = r.sweep(ctx); err != nil {
			return err
		}
		run.Warn(r.warnings(result))
		run.Judge(r.jury)
		return run.FinishSweep(result, time.Now())
	})
	if err != nil {
		return err
	}
	return r.report(result, r.db, fmt.Sprint(id))
}

// sweepBatch is how many requests a sweep takes in at once: half as many as a replay, since its curves need the memory more.
const sweepBatch = 128 << 10

// prepare looks up everything that the flags name.
func (r *sweepRun) prepare(args []string) error {
	if err := verifyOutput(r.output, "html"); err != nil {
		return err
	}
	if r.quiet && r.verbose {
		return usage("--quiet and --verbose are opposites: state one")
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return err
	}
	if r.options, err = r.sweepOptions(); err != nil {
		return err
	}
	longest, err := r.longestWindow()
	if err != nil {
		return err
	}
	if r.reading, err = r.readingFlags.options(&config, longest, r.started); err != nil {
		return err
	}
	r.reading.Batch = sweepBatch
	notePaths(&r.reading, policyKeys(longest))
	if r.reading.Tracer, r.judging, err = r.evidenceFlags.choose(&config); err != nil {
		return err
	}
	if r.judging != nil {
		r.options.Disguised = func(client int32) bool { return r.jury.Disguised(client) }
	}
	r.options.Tables, r.options.Lateness = r.reading.Tables, r.reading.Lateness
	r.options.Band, r.reading.Band = r.band, r.band
	r.options.Stop = r.cmd.Context().Err
	return r.expand(args)
}

// longestWindow is the window that remembers for longest, as a policy: how logs are read goes by that.
func (r *sweepRun) longestWindow() ([]policy.Policy, error) {
	spec := limit.Spec{Algorithm: "window", Count: 1, Period: slices.Max(r.options.Periods)}
	p, err := policy.New(spec, r.options.By)
	return []policy.Policy{p}, err
}

// sweep reads the logs and draws the curves.
func (r *sweepRun) sweep(ctx context.Context) (*sweep.Result, error) {
	if r.judging != nil {
		r.witness = replay.New(replay.Options{Tables: r.reading.Tables, Lateness: r.reading.Lateness, Evidence: true})
	}
	result, err := r.look(ctx, r.reading, r.options)
	if err != nil {
		return nil, err
	}
	if err := nothingRead(&result.Stats); err != nil {
		return nil, err
	}
	if result.Action, err = meantAction("action", r.action, &r.reading, &result.Stats); err != nil {
		return nil, err
	}
	if r.verbose {
		sayInputs(r.cmd.ErrOrStderr(), &result.Stats)
	}
	return result, r.lookAgain(ctx, result)
}

// lookAgain counts what those token buckets refuse of which people will want to know it, and of which the first look could not
// tell that they would. It takes inputs that can be read twice.
func (r *sweepRun) lookAgain(ctx context.Context, first *sweep.Result) error {
	again := first.Again(r.options)
	if len(again.Rates) == 0 || !r.twice(first.Judged) || readOnce(r.found.Names) != "" {
		return nil
	}
	reading := r.reading
	reading.Tracer = nil                                         // who is disguised is known
	reading.HasUntil, reading.Until = true, first.Stats.LastAt+1 // a log may have grown since
	debug.FreeOSMemory()                                         // much of what the first look took was never touched; used again as it is, all of it would be
	second, err := r.look(ctx, reading, again)
	if err == nil {
		r.changed = !first.Add(second)
	}
	return err
}

// mostTwice is up to how many requests are looked at twice unasked: that takes a moment.
const mostTwice = 500_000

// twice reports whether so many requests are to be looked at a second time.
func (r *sweepRun) twice(requests int64) bool {
	if r.cmd.Flags().Changed("exact") {
		return r.exact
	}
	return requests <= mostTwice
}

// look reads the logs once.
func (r *sweepRun) look(ctx context.Context, reading ingest.Options, options sweep.Options) (*sweep.Result, error) {
	s := sweep.New(options)
	stats, err := r.read(ctx, reading, r.quiet, func(reader *ingest.Reader) error { return s.Run(r.witnessed(reader)) })
	if err != nil {
		return nil, err
	}
	r.hear(stats)
	return s.Result(stats), nil
}

// report prints the curves, and complains if too much could not be read.
func (r *sweepRun) report(result *sweep.Result, database, run string) error {
	out := outputFlags{}
	w := r.cmd.OutOrStdout()
	curves := curves.New(result, report.Options{
		Width: widthOf(w), Color: out.color(w), Version: versionText(), Command: strings.Join(os.Args, " "),
		Timezone: r.timezone, Warnings: r.warnings(result), Database: database, Run: run,
		Jury: r.jury,
	})
	if err := curves.Write(w, r.output); err != nil {
		return err
	}
	return tooManyUnreadable(&result.Stats, r.maxBad)
}

// warnings are what reading found odd, flags that came to nothing, and where curves are not what one may think.
func (r *sweepRun) warnings(result *sweep.Result) []string {
	s := &result.Stats
	texts := slices.Concat(passedByName(r.found.Passed), inputWarnings(s), r.idleFlags(s))
	texts = append(texts, actionWarnings(r.action, result.Action, result.Judged, s)...)
	if s.Warm > 0 && slices.Contains(r.options.Kinds, sweep.Token) {
		texts = append(texts, "token buckets start full at --since, as with shadow replay --cold; windows have been warmed")
	}
	if r.changed {
		texts = append(texts, "the logs changed while they were read: what token buckets refuse is known for --bursts only")
	}
	texts = append(texts, noUsers(&r.reading, s)...)
	texts = append(texts, foldedPaths(&r.reading, []request.Key{r.options.By})...)
	return append(texts, r.thinned(result)...)
}

// thinned tells of curves that are too long to be stored whole.
func (r *sweepRun) thinned(result *sweep.Result) (texts []string) {
	if r.noStore {
		return nil
	}
	return thinCurves(result)
}
