package main

import (
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic/evidence"
)

// watchHarm has the replay observed for what --harm tells. Page views are told by the traces that evidence goes by, too.
func (r *replayRun) watchHarm(c *policy.Config) error {
	if !r.harm && r.harmAction == "" {
		return nil
	}
	if r.reading.Tracer == nil {
		tracer, err := evidence.NewTracer(evidence.TraceRules{Beacon: c.Evidence.Path, Background: c.Evidence.Background, Hosts: c.Evidence.Hosts})
		if err != nil {
			return usage("evidence: %w", err)
		}
		r.reading.Tracer = tracer
	}
	r.harmed = replay.NewHarm(r.reading.Tables, r.policies)
	r.observers = append(r.observers, r.harmed)
	if r.harmAction != "" {
		r.harmed.ActionUsage = replay.NewActionUsage(r.harmAction, r.reading.Tables, r.policies)
		r.observers = append(r.observers, r.harmed.ActionUsage)
	}
	return nil
}

// finishHarm is what was observed, nil if nobody asked.
func (r *replayRun) finishHarm() *replay.Harm {
	if r.harmed != nil {
		r.harmed.Finish()
		if r.harmed.ActionUsage != nil {
			r.harmed.ActionUsage.Finish()
		}
	}
	return r.harmed
}
