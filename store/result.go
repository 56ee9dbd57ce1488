package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic/evidence"
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

// A policyFigure is a column of table policies: what a run writes there, and what it adds to a result of several runs.
type policyFigure struct {
	column string
	write  func(p *replay.PolicyTally, s *source) any              // nil is NULL
	read   func(p *replay.PolicyTally, n int64, minute limit.Time) // n is not NULL, minute is worst_minute; nil: nothing
}

// A source is what else a figure may depend on.
type source struct {
	upstream bool // whether the log tells upstream times
	events   bool // whether the policy's events are kept
}

// policyFigures are the columns behind the name of a policy, in the order of schema.sql. Of several runs percentiles are the longest
// ones, as those of all are not known; ranges of clients are the widest, as which clients several runs hit may be the same or others.
var policyFigures = []policyFigure{
	figure("requests", func(p *replay.PolicyTally) *int64 { return &p.Requests }),
	figure("refused", func(p *replay.PolicyTally) *int64 { return &p.Refused }),
	{"clients_hit", func(p *replay.PolicyTally, _ *source) any { return int64(p.Hits.Len()) }, nil},
	{"worst_minute", func(p *replay.PolicyTally, _ *source) any { return timeIf(p.WorstMinuteRefused > 0, p.WorstMinute) }, nil},
	{
		"worst_minute_refused", func(p *replay.PolicyTally, _ *source) any { return p.WorstMinuteRefused },
		func(p *replay.PolicyTally, n int64, minute limit.Time) {
			if n > p.WorstMinuteRefused {
				p.WorstMinute, p.WorstMinuteRefused = minute, n
			}
		},
	},
	figure("bytes_saved", func(p *replay.PolicyTally) *int64 { return &p.BytesSaved }),
	{
		"upstream_saved_us", func(p *replay.PolicyTally, s *source) any {
			if !s.upstream {
				return nil
			}
			return int64(p.UpstreamSaved)
		}, func(p *replay.PolicyTally, n int64, _ limit.Time) { p.UpstreamSaved += limit.Time(n) },
	},
	{"events_kept", func(_ *replay.PolicyTally, s *source) any { return s.events }, nil},
	delayed("delayed", plus, func(d *replay.Delays) *int64 { return &d.Requests }),
	delayed("delay_total_us", plus, func(d *replay.Delays) *int64 { return (*int64)(&d.Total) }),
	delayed("delay_p50_us", most, func(d *replay.Delays) *int64 { return (*int64)(&d.P50) }),
	delayed("delay_p99_us", most, func(d *replay.Delays) *int64 { return (*int64)(&d.P99) }),
	ranged("refused_low", plus, func(r *replay.Range) *int64 { return &r.Refused[0] }),
	ranged("refused_high", plus, func(r *replay.Range) *int64 { return &r.Refused[1] }),
	ranged("clients_hit_low", most, func(r *replay.Range) *int64 { return &r.ClientsHit[0] }),
	ranged("clients_hit_high", plus, func(r *replay.Range) *int64 { return &r.ClientsHit[1] }),
	figure("degraded", func(p *replay.PolicyTally) *int64 { return &p.Degraded.Requests }),
	figure("degraded_refused", func(p *replay.PolicyTally) *int64 { return &p.Degraded.Refused }),
}

// policyRow is a row of table policies.
func policyRow(run int32, i int, name, by, combine string, p *replay.PolicyTally, s *source) []any {
	row := []any{run, int32(i), name, by}
	for _, f := range policyFigures {
		row = append(row, f.write(p, s))
	}
	return append(row, combine)
}

func plus(x, y int64) int64 { return x + y }
func most(x, y int64) int64 { return max(x, y) }

// figure is one that adds up.
func figure(column string, of func(*replay.PolicyTally) *int64) policyFigure {
	return policyFigure{
		column, func(p *replay.PolicyTally, _ *source) any { return *of(p) },
		func(p *replay.PolicyTally, n int64, _ limit.Time) { *of(p) += n },
	}
}

// delayed is about delays, NULL where the policy has none.
func delayed(column string, sum func(x, y int64) int64, of func(*replay.Delays) *int64) policyFigure {
	return optional(column, sum, func(p *replay.PolicyTally) **replay.Delays { return &p.Delays }, of)
}

// ranged is about an approximation, NULL where the policy is exact.
func ranged(column string, sum func(x, y int64) int64, of func(*replay.Range) *int64) policyFigure {
	return optional(column, sum, func(p *replay.PolicyTally) **replay.Range { return &p.Range }, of)
}

func optional[T any](column string, sum func(x, y int64) int64, part func(*replay.PolicyTally) **T, of func(*T) *int64) policyFigure {
	return policyFigure{
		column: column,
		write: func(p *replay.PolicyTally, _ *source) any {
			if *part(p) == nil {
				return nil
			}
			return *of(*part(p))
		},
		read: func(p *replay.PolicyTally, n int64, _ limit.Time) {
			if *part(p) == nil {
				*part(p) = new(T)
			}
			*of(*part(p)) = sum(*of(*part(p)), n)
		},
	}
}

// readFigures are those that are read.
var readFigures = slices.DeleteFunc(slices.Clone(policyFigures), func(f policyFigure) bool { return f.read == nil })

// readColumns are their columns, for a query.
func readColumns() string {
	names := make([]string, len(readFigures))
	for i, f := range readFigures {
		names[i] = f.column
	}
	return strings.Join(names, ", ")
}

// Evidence is kept as what it came to: the verdict on each client, and the reasons for those that a policy hit, since
// these are the ones that reports list. What the client did, which the verdict was found from, is not.

// Judge keeps what an assessor makes of the clients with the run; nil keeps nothing. It must be called before Finish.
func (r *Run) Judge(a *replay.Assessor) { r.assessor = a }

func (r *Run) writeEvidence(res *replay.Result) error {
	if r.assessor == nil {
		return nil
	}
	hit := make([]bool, res.Clients.Len())
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			hit[h.Client] = true
		}
	}
	t := r.store.duck.table("client_evidence")
	for id := range int32(res.Clients.Len()) {
		switch {
		case res.Clients.At(id).Requests() == 0: // see writeClients
		case hit[id]:
			f := r.assessor.Explain(id)
			t.add(r.id, id, f.Verdict.String(), f.Shared, strings.Join(f.Reasons, "\n"))
		default:
			f := r.assessor.Find(id)
			t.add(r.id, id, f.Verdict.String(), f.Shared, nil)
		}
	}
	return t.done()
}

// readFindings reads what was found of clients, if any run has it. Of a client that several runs judged, the verdict is that
// of the run in which it had most requests; one that none of them judged is undecided.
func (l *loading) readFindings() error {
	res, judged := l.to.Result, map[int32]bool{}
	var found replay.Paged[replay.ClientVerdict]
	found.Grow(res.Clients.Len())
	for id := range int32(found.Len()) {
		found.At(id).Verdict = evidence.Undecided
	}
	err := l.each(`SELECT run, client, shared, verdict, reasons FROM client_evidence JOIN clients USING (run, client)
		WHERE run IN `+l.runs+` ORDER BY requests, run`, func(b *block, row int) error {
		run := values[int32](b, 0)[row]
		id, err := l.clients.at(run, values[int32](b, 1)[row])
		if err != nil {
			return err
		}
		judged[run] = true
		f := replay.ClientVerdict{Verdict: evidence.ParseVerdict(b.text(3, row)), Shared: values[bool](b, 2)[row]}
		if reasons := b.text(4, row); reasons != "" {
			f.Reasons = strings.Split(reasons, "\n")
		}
		*found.At(id) = f
		return nil
	})
	if err != nil || len(judged) == 0 {
		return err
	}
	res.ClientVerdicts = &found
	if len(judged) < len(l.order) {
		l.warn("%d of %d runs have no evidence: clients of those alone are undecided", len(l.order)-len(judged), len(l.order))
	}
	return nil
}
