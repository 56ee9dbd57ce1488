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
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
)

// The requests of a Replay may be judged by several processes, each of which has all requests of some clients, or of some
// keys. What they find adds up:
//
//	Share ─▶ Take, batch by batch ─▶ Carry ─▶ bytes ─┐
//	Share ─▶ Take, batch by batch ─▶ Carry ─▶ bytes ─┴─▶ Carry ─▶ Share of all ─▶ Result, Store

// A Share is what one of them has found, or all of them together.
type Share struct {
	Engine *replay.Engine // nil, like the others: it is not asked
	Look   *findings.Look
	Sweep  *sweep.Sweep
}

// Share returns a share that has found nothing. The Pipeline must have been built. It has requests by client, or by what
// policies count by, or by both at once.
func (r *Replay) Share(ctx context.Context, byClient, byKey bool) *Share {
	s := new(Share)
	o := replay.Options{Tables: r.Read.Tables, Lateness: r.Read.Lateness, Minutes: true, Stop: ctx.Err}
	if byClient {
		r.byFlag = len(r.Limits) > 0
		s.Look = r.newLook()
		r.look, o.Sorted = s.Look, s.Look.Timelines
	}
	if byKey {
		o.Policies, s.Sweep = r.Policies, r.newSweep()
	}
	s.Engine = replay.New(o)
	return s
}

// Take takes in a batch.
func (s *Share) Take(b *traffic.Batch) error {
	if s.Look != nil {
		s.Look.Take(b)
	}
	if s.Sweep != nil {
		s.Sweep.Take(b)
	}
	return s.Engine.Judge(b)
}

// Carry carries what was found by a Share that was made alike.
func (s *Share) Carry(c traffic.Carrier, byClient, byKey bool) {
	if byClient {
		s.Engine.CarryRequests(c)
		s.Look.Carry(c)
	}
	if byKey {
		s.Engine.CarryVerdicts(c)
		if s.Sweep != nil {
			s.Sweep.Carry(c)
		}
	}
}

// Result is what all shares together have found in logs with these stats, of which copies were not read.
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

// Store keeps a Result as a run, and returns its number. notes are added to its warnings.
func (r *Replay) Store(ctx context.Context, result *replay.Result, notes ...string) (number string, err error) {
	_, number, err = r.keep(ctx, r.Keeping, 0, func(run *store.Run) error {
		if r.idle != "" {
			return errors.New(r.idle)
		}
		run.Warnings, run.Findings = slices.Concat(notes, r.warnings(&result.Stats)), r.told
		run.Curves, run.Who = r.curves, result.Who
		return run.Finish(result, time.Now())
	})
	return number, err
}
