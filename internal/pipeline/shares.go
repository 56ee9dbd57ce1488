package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"shadow/internal/findings"
	"shadow/internal/logfile"
	"shadow/internal/store"
	"shadow/internal/sweep"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

// A Share is what one of several processes finds that judge the requests of a Replay, or what all of them have found
// together: each part of it is carried from process to process, and adds up. What is nil is not asked.
type Share struct {
	Engine *replay.Engine
	Look   *findings.Look
	Sweep  *sweep.Sweep
}

// Share returns a share that has found nothing, of a Pipeline that was built. Its requests are those of some clients, or
// of some keys that policies count by, or of both at once.
func (r *Replay) Share(ctx context.Context, byClient, byKey bool) *Share {
	s := new(Share)
	o := replay.Options{Tables: r.Read.Tables, Lateness: r.Read.StepBack(), Minutes: true, Stop: ctx.Err}
	if byClient {
		r.byFlag = len(r.Limits) > 0
		r.look = r.newLook()
		s.Look, o.Sorted = r.look, r.look.Timelines
	}
	if byKey {
		o.Policies, s.Sweep = r.Policies, r.newSweep()
	}
	s.Engine = replay.New(o)
	return s
}

// Result returns the result of all shares together, for logs with these stats. Copies were not read.
func (r *Replay) Result(all *Share, stats ingest.Stats, copies logfile.Copies) *replay.Result {
	stats.Copies = copies
	r.lookedAt(&stats)
	result := all.Engine.Result(stats)
	result.Who = r.who()
	if all.Sweep != nil {
		r.curves = all.Sweep.Result(stats)
	}
	return result
}

// Store keeps a Result as a run, and returns its number. note is among its warnings.
func (r *Replay) Store(ctx context.Context, result *replay.Result, note string) (number string, err error) {
	_, number, err = r.keep(ctx, r.Keeping, 0, func(run *store.Run) error {
		if r.idle != "" {
			return errors.New(r.idle)
		}
		run.Warnings, run.Findings = slices.Concat([]string{note}, r.warnings(&result.Stats)), r.told
		run.Curves, run.Who = r.curves, result.Who
		return run.Finish(result, time.Now())
	})
	return number, err
}
