package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/html"
	"shadow/store"
	"shadow/sweep"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
)

// A replayRun is one call of `shadow replay`, with everything looked up that its flags name.
type replayRun struct {
	*replayFlags
	inputs
	policies  []policy.Policy
	judging   *evidence.Rules  // nil: no evidence is gathered
	jury      *replay.Assessor // judges it, once all requests are; nil: nobody does
	started   time.Time
	clock     func() time.Time // nil unless --timing
	observers observers        // of verdicts one by one
	harmed    *replay.Harm     // nil unless --harm
	night     *nightly
	shared    *sharing  // nil unless --redis
	overTime  *overTime // nil unless the report is a page

	configured policy.Config
	resumed    *resumption   // nil unless --resume
	curves     *sweep.Result // nil unless --sweep
}

// run verifies the flags, replays, and reports.
func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	r := &replayRun{replayFlags: f, inputs: inputs{cmd: cmd}, started: time.Now()}
	if err := r.prepare(args); err != nil {
		return err
	}
	collectLate()
	stop, err := f.profileFlags.start()
	if err != nil {
		return err
	}
	return errors.Join(r.replay(cmd.Context()), stop())
}

// prepare looks up everything that the flags name.
func (r *replayRun) prepare(args []string) error {
	if err := r.outputFlags.verify(); err != nil {
		return err
	}
	if r.quiet && r.verbose {
		return usage("--quiet and --verbose are opposites: state one")
	}
	var err error
	if r.night, err = r.nightlyFlags.verify(r.quiet, r.evidenceFlags.scopes()...); err != nil {
		return err
	}
	r.night.always = r.output == "json"
	if r.retain > 0 && r.noStore {
		return usage("--retain deletes stored runs, and --no-store keeps none: state one")
	}
	if err := errors.Join(r.verifyResume(args), r.verifySweep()); err != nil {
		return err
	}
	config, err := loadConfig(r.config)
	if err != nil {
		return err
	}
	if r.policies, err = r.policyFlags.choose(&config); err != nil {
		return err
	}
	r.configured = config
	if r.reading, err = r.options(&config, r.policies, r.started); err != nil {
		return err
	}
	notePaths(&r.reading, policyKeys(r.policies))
	if r.reading.Tracer, r.judging, err = r.evidenceFlags.choose(&config); err != nil {
		return err
	}
	if err := r.watchHarm(&config); err != nil {
		return err
	}
	r.reading.Band = r.band
	if r.band && r.redisFlags.inUse() {
		return usage("--band and --redis: state one: Redis does not hold the state of a band")
	}
	if r.shared, err = r.share(); err != nil {
		return err
	}
	if r.timing {
		r.clock = time.Now
	}
	r.reading.Clock = r.clock
	err = r.expand(args)
	r.resumed = r.newResumption()
	return err
}

// replay does the work: into the database, if there is to be one, and to the report.
func (r *replayRun) replay(ctx context.Context) error {
	if r.noStore {
		result, err := r.judge(ctx, nil)
		if err != nil {
			return err
		}
		return r.report(result, "", "")
	}
	var result *replay.Result
	id, err := keepRun(ctx, r.db, store.RunInfo{
		Command: strings.Join(os.Args, " "), Version: versionText(), Started: r.started, Events: r.events,
		Timezone: r.timezone,
	}, func(run *store.Run) (err error) {
		if r.resumed != nil {
			if err := r.resumed.begin(ctx, run, r); err != nil {
				return err
			}
		}
		if result, err = r.judge(ctx, run); err != nil {
			return err
		}
		if r.resumed.idle(&result.Stats) {
			return errNothingNew
		}
		run.Warn(r.warnings(&result.Stats))
		r.resumed.keep(run)
		r.keepCurves(run)
		run.Judge(r.jury)
		return run.Finish(result, time.Now())
	})
	if errors.Is(err, errNothingNew) {
		return r.tellNothingNew(result)
	}
	if err != nil {
		return err
	}
	return errors.Join(r.report(result, r.db, fmt.Sprint(id)), r.prune(ctx))
}

// judge reads the logs and judges their requests. sink may be nil.
func (r *replayRun) judge(ctx context.Context, sink replay.Sink) (_ *replay.Result, err error) {
	if err := r.shared.reach(ctx); err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, r.shared.close()) }()
	engine := r.newEngine(ctx, sink)
	curves, err := r.newSweep(ctx)
	if err != nil {
		return nil, err
	}
	var times ingest.StageTimes
	stats, err := r.read(ctx, r.reading, r.quiet, func(reader *ingest.Reader) error {
		if err := r.resumed.restore(engine); err != nil {
			return err
		}
		if err := engine.Run(curveMaker{reader, curves}); err != nil {
			return err
		}
		times = reader.Times()
		return r.resumed.leave(r, reader, engine)
	})
	if err != nil {
		return nil, blame(err, r.policies)
	}
	if err := nothingRead(&stats); err != nil && r.resumed == nil {
		return nil, err
	}
	if _, err := meantAction("harm-action", r.harmAction, &r.reading, &stats); err != nil {
		return nil, err
	}
	r.shared.tell(r)
	result := engine.Result(stats)
	r.jury = replay.NewAssessor(result, r.judging)
	if curves != nil {
		r.curves = curves.Result(stats)
	}
	if r.verbose {
		sayInputs(r.cmd.ErrOrStderr(), &stats)
	}
	if r.timing {
		writeTiming(r.cmd.ErrOrStderr(), &stats, times, engine.Times(), time.Since(r.started))
	}
	return result, nil
}

// newEngine is what judges. sink may be nil.
func (r *replayRun) newEngine(ctx context.Context, sink replay.Sink) *replay.Engine {
	kept := r.events.Of(len(r.policies))
	if r.output == "html" {
		r.overTime = newOverTime(sink, kept, len(r.policies))
		sink, kept = r.overTime, len(r.policies)
	}
	return replay.New(replay.Options{
		Tables: r.reading.Tables, Policies: r.policies, Lateness: r.reading.Lateness,
		Evidence: r.judging != nil, Sink: sink, EventPolicies: kept, Observer: r.observers.observer(),
		Band: r.band, Remote: r.shared.remote(),
		Stop: ctx.Err, Clock: r.clock,
	})
}

// sayInputs tells what was chosen for each input.
func sayInputs(w io.Writer, s *ingest.Stats) {
	for _, in := range s.Inputs {
		fmt.Fprintf(w, "%s: %s, %d lines: %s\n", in.Name, cmp.Or(in.Format, "empty"), in.Lines, in.FormatText)
	}
}

// report prints the result, and complains if too much could not be read.
func (r *replayRun) report(result *replay.Result, database, run string) error {
	model := report.New(result, report.Options{
		Top: r.rows(r.cmd), Sort: r.sort, Width: widthOf(r.cmd.OutOrStdout()), Color: r.color(r.cmd.OutOrStdout()),
		Version: versionText(), Command: strings.Join(os.Args, " "), Timezone: r.timezone,
		Warnings: r.warnings(&result.Stats), Database: database, Run: run, Evidence: r.judging, Harm: r.finishHarm(),
		Anonymize: r.night.anonymizer,
	})
	write := func() error { return r.write(model) }
	return r.night.finish(r.cmd, model, write, tooManyUnreadable(&result.Stats, r.maxBad))
}

// write prints the report.
func (r *replayRun) write(model *report.Model) error {
	w := r.cmd.OutOrStdout()
	if r.overTime != nil {
		page := &html.Page{Model: model, Times: r.overTime.times(model.Policies)}
		r.addCurves(page)
		return page.Write(w)
	}
	return model.Write(w, r.output)
}

// tooManyUnreadable is the error of more unreadable lines than there may be.
func tooManyUnreadable(s *ingest.Stats, most percent) error {
	if share := 100 * float64(s.Unreadable) / float64(max(s.Lines, 1)); share > float64(most) {
		return errUnreadable{share, float64(most)}
	}
	return nil
}
