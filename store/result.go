package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic/ingest"
)

// writeResult fills all tables but events. The rows of each stand in the order of its columns in schema.sql.
func (r *Run) writeResult(res *replay.Result, finished time.Time) error {
	if err := r.checkResult(res); err != nil {
		return err
	}
	steps := []func(*replay.Result) error{
		r.writeInputs, r.writeUnreadable, r.writeWarnings, r.writePolicies, r.writeParts, r.writeClients, r.writeAgents, r.writeActions,
		r.writeClientTallies, r.writeActionTallies, r.writeCurves, r.writeEvidence,
	}
	for _, step := range steps {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		if err := step(res); err != nil {
			return err
		}
	}
	if err := r.writeState(); err != nil {
		return err
	}
	return r.writeRun(res, finished)
}

// checkResult holds the events against the result: the store promises that they add up.
func (r *Run) checkResult(res *replay.Result) error {
	l := r.load
	if int(l.maxClient) >= res.Tables.Clients.Len() || int(l.maxAction) >= res.Tables.Actions.Len() {
		return fmt.Errorf("events speak of client %d and action %d, the result has %d and %d",
			l.maxClient, l.maxAction, res.Tables.Clients.Len(), res.Tables.Actions.Len())
	}
	if len(l.refused) > len(res.Policies) {
		return fmt.Errorf("events speak of policy %d, the result has %d policies", len(l.refused)-1, len(res.Policies))
	}
	for i := range res.Policies {
		if !r.keeps(i) {
			break
		}
		var events int64
		if i < len(l.refused) {
			events = l.refused[i]
		}
		if p := &res.Policies[i]; events != p.Refused {
			return fmt.Errorf("policy %s refused %d requests, its events sum up to %d", p.Policy.Name, p.Refused, events)
		}
	}
	return nil
}

// keeps reports whether the events of policy i are kept.
func (r *Run) keeps(i int) bool { return i < int(r.info.Events) }

func (r *Run) writeRun(res *replay.Result, finished time.Time) error {
	t, s := r.store.duck.table("runs"), &res.Stats
	requests := s.Judged()
	t.add(r.id, r.info.Command, r.info.Version, fromClock(r.info.Started), fromClock(finished),
		s.Lines, s.Bytes, s.Parsed, s.Unreadable, s.Excluded, s.Warm, requests, s.Late, s.Refusals,
		timeIf(requests > 0, s.FirstAt), timeIf(requests > 0, s.LastAt), int64(s.Resolution), s.HasAgents, s.HasUpstream,
		textIf(r.info.Timezone), s.Carried, s.Held, timeIf(s.Held > 0, s.HeldFrom), nil, s.NotHTTP.Lines(), s.JudgesNotHTTP, s.Moved)
	return errors.Join(t.done(), r.writeNotHTTP(s.NotHTTP))
}

func (r *Run) writeNotHTTP(lines ingest.ByStatus) error {
	t := r.store.duck.table("not_http")
	for _, s := range lines {
		t.add(r.id, s.Status, s.Lines)
	}
	return t.done()
}

func (r *Run) writeInputs(res *replay.Result) error {
	t := r.store.duck.table("inputs")
	for i := range res.Stats.Inputs {
		in := &res.Stats.Inputs[i]
		t.add(r.id, int32(i), in.Name, in.Format, in.FormatText, textIf(in.Compression), known(in.Size, -1),
			known(in.Head, 0), known(in.Tail, 0), in.Lines, in.Parsed, in.Unreadable,
			timeIf(in.Parsed > 0, in.FirstAt), timeIf(in.Parsed > 0, in.LastAt), textIf(in.Problem))
	}
	return t.done()
}

func (r *Run) writeUnreadable(res *replay.Result) error {
	t := r.store.duck.table("unreadable_lines")
	for i := range res.Stats.Faults {
		f := &res.Stats.Faults[i]
		t.add(r.id, f.Input, known(f.Line, 0), int32(f.Fault.Column), f.Fault.Reason, f.Text)
	}
	return t.done()
}

func (r *Run) writeWarnings(*replay.Result) error {
	t := r.store.duck.table("warnings")
	for i, text := range r.warnings {
		t.add(r.id, int32(i), text)
	}
	return t.done()
}

func (r *Run) writePolicies(res *replay.Result) error {
	t := r.store.duck.table("policies")
	for i := range res.Policies {
		p := &res.Policies[i]
		s := &source{res.Stats.HasUpstream, r.keeps(i)}
		t.add(policyRow(r.id, i, p.Policy.Name, p.Policy.By(), p.Policy.Combine.String(), p, s)...)
	}
	return t.done()
}

func (r *Run) writeParts(res *replay.Result) error {
	t := r.store.duck.table("parts")
	for i := range res.Policies {
		for j, p := range res.Policies[i].Policy.Parts {
			t.add(r.id, int32(i), int32(j), p.By.String(), p.Spec.Algorithm, p.Spec.Count, int64(p.Spec.Period), p.Spec.Options,
				p.Spec.String(), textIf(p.MatchText), textIf(p.CountText))
		}
	}
	return t.done()
}

func (r *Run) writeClients(res *replay.Result) error {
	t := r.store.duck.table("clients")
	for i := range res.Clients.Len() {
		c := res.Clients.At(int32(i))
		requests := c.Requests()
		if requests == 0 {
			continue // seen in lines that count nowhere: excluded, or before --since
		}
		n := &c.ByClass
		t.add(r.id, int32(i), res.Tables.Clients.Name(int32(i)), c.Class().String(), c.LastAgent, requests,
			n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
	}
	return t.done()
}

func (r *Run) writeAgents(res *replay.Result) error {
	t, agents := r.store.duck.table("agents"), res.Tables.Agents
	for id := range int32(agents.Len()) {
		t.add(r.id, id, agents.Name(id), agents.Class(id).String())
	}
	return t.done()
}

func (r *Run) writeActions(res *replay.Result) error {
	t := r.store.duck.table("actions")
	for i, requests := range res.Actions {
		if requests > 0 {
			t.add(r.id, int32(i), res.Tables.Actions.Name(int32(i)), requests)
		}
	}
	return t.done()
}

func (r *Run) writeClientTallies(res *replay.Result) error {
	t := r.store.duck.table("client_tallies")
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			t.add(r.id, int32(i), h.Client, h.Refused, h.First, h.Last)
		}
	}
	return t.done()
}

func (r *Run) writeActionTallies(res *replay.Result) error {
	t := r.store.duck.table("action_tallies")
	for i := range res.Policies {
		for action, refused := range res.Policies[i].ByAction {
			if refused > 0 {
				t.add(r.id, int32(i), int32(action), refused)
			}
		}
	}
	return t.done()
}

// timeIf is t, or NULL.
func timeIf(ok bool, t limit.Time) any {
	if !ok {
		return nil
	}
	return t
}

// textIf is s, or NULL when it is empty.
func textIf(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// known is v, or NULL when it is the value that stands for unknown.
func known[T int64 | uint64](v, unknown T) any {
	if v == unknown {
		return nil
	}
	return v
}
