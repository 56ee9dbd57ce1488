package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"shadow/internal/findings"
	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
)

// writeResult fills all tables but events.
func (r *Run) writeResult(res *replay.Result, finished time.Time) error {
	if err := r.checkResult(res); err != nil {
		return err
	}
	for _, write := range []func(*duck.Writer, *replay.Result){
		r.writeRead, r.writePolicies, r.writeNames, r.writeTallies, r.writeCurves, r.writeIdentities,
	} {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		w := r.duck.Writer()
		write(w, res)
		if err := w.Done(); err != nil {
			return err
		}
	}
	w, s := r.duck.Writer(), &res.Stats
	requests, clients := s.Judged(), int64(0)
	for id := range int32(res.Clients.Len()) {
		if res.Clients.At(id).Requests() > 0 {
			clients++
		}
	}
	w.Add("runs", r.info.Command, r.info.Version, fromClock(r.info.Started), fromClock(finished),
		s.Lines, s.Bytes, s.Parsed, s.Unreadable, s.Excluded, s.Warm, requests, s.Late, s.Refusals,
		timeIf(requests > 0, s.FirstAt), timeIf(requests > 0, s.LastAt), int64(s.Resolution), s.HasAgents, s.HasUpstream,
		known(r.info.Timezone, ""), s.Carried, s.Held, timeIf(s.Held > 0, s.HeldFrom), nil, s.NotHTTP.Lines(), s.JudgesNotHTTP, s.Moved, s.Days, clients)
	return w.Done()
}

// checkResult holds the events against the result: the store promises that they add up.
func (r *Run) checkResult(res *replay.Result) error {
	l := r.load
	if int(l.maxClient) >= res.Tables.Clients.Len() || int(l.maxAction) >= res.Tables.Actions.Len() {
		return fmt.Errorf("events speak of client %d and action %d, the result has %d and %d",
			l.maxClient, l.maxAction, res.Tables.Clients.Len(), res.Tables.Actions.Len())
	}
	refused := l.byPolicy()
	if len(refused) > len(res.Policies) {
		return fmt.Errorf("events speak of policy %d, the result has %d policies", len(refused)-1, len(res.Policies))
	}
	for i := range res.Policies {
		if !r.keeps(i) {
			break
		}
		var events int64
		if i < len(refused) {
			events = refused[i]
		}
		if p := &res.Policies[i]; events != p.Refused {
			return fmt.Errorf("policy %s refused %d requests, its events sum up to %d", p.Policy.Name, p.Refused, events)
		}
	}
	return nil
}

// keeps reports whether the events of policy i are kept.
func (r *Run) keeps(i int) bool { return i < int(r.info.Events) }

// writeRead writes what was read.
func (r *Run) writeRead(w *duck.Writer, res *replay.Result) {
	for i := range res.Stats.Inputs {
		in := &res.Stats.Inputs[i]
		w.Add("inputs", int32(i), in.Name, in.Format, in.FormatText, known(in.Compression, ""), known(in.Size, -1),
			known(in.Head, 0), known(in.Tail, 0), in.Lines, in.Parsed, in.Unreadable,
			timeIf(in.Parsed > 0, in.FirstAt), timeIf(in.Parsed > 0, in.LastAt), known(in.Problem, ""))
	}
	for i := range res.Stats.Faults {
		f := &res.Stats.Faults[i]
		w.Add("unreadable_lines", int32(i), f.Input, known(f.Line, 0), int32(f.Fault.Column), f.Fault.Reason, f.Text)
	}
	for _, s := range res.Stats.NotHTTP {
		w.Add("not_http", s.Status, s.Lines)
	}
	if res.OverTime != nil {
		for at, requests := range res.OverTime.All() {
			w.Add("request_times", at, int64(res.OverTime.Length()), requests)
		}
	}
	said := map[string]string{} // the codes of findings, by warnings that say the same
	for i := range r.Findings {
		f := &r.Findings[i]
		w.Add("findings", int32(i), f.Code, f.Severity.String(), known(float64(f.Share), float64(findings.NoShare)), f.Evidence,
			f.Remedy)
		for _, text := range f.Covers {
			said[text] = f.Code
		}
	}
	for i, text := range r.Warnings {
		w.Add("warnings", int32(i), text, known(said[text], ""))
	}
}

func (r *Run) writePolicies(w *duck.Writer, res *replay.Result) {
	addSets(w, 0, r.load.sets.All)
	for i := range res.Policies {
		t := &res.Policies[i]
		p := &t.Policy
		w.Add("policies", policyRow(i, p.Name, p.By(), p.Combine.String(), t, &source{res.Stats.HasUpstream, r.keeps(i)})...)
		for j, l := range p.Parts {
			w.Add("parts", int32(i), int32(j), l.By.String(), l.Spec.Algorithm, l.Spec.Count, int64(l.Spec.Period), l.Spec.Options,
				l.Spec.String(), known(l.MatchText, ""), known(l.CountText, ""))
		}
	}
}

// addSets adds sets of policies, whose numbers begin with first.
func addSets(w *duck.Writer, first int32, sets [][]replay.Refuser) {
	for i, of := range sets {
		for _, p := range of {
			w.Add("policy_sets", first+int32(i), p.Policy, p.Degraded)
		}
	}
}

// writeNames writes who and what there was: clients, agents and actions.
func (r *Run) writeNames(w *duck.Writer, res *replay.Result) {
	for id := range int32(res.Clients.Len()) {
		c := res.Clients.At(id)
		if requests := c.Requests(); requests > 0 { // others are in lines that count nowhere: excluded, or before --since
			n := &c.ByClass
			w.Add("clients", id, res.Tables.Clients.Name(id), c.Class().String(), c.LastAgent, requests,
				n[request.Browser], n[request.Crawler], n[request.Tool], n[request.Monitor], n[request.Unknown])
		}
	}
	agents := res.Tables.Agents
	for id := range int32(agents.Len()) {
		w.Add("agents", id, agents.Name(id), agents.Class(id).String())
	}
	for i, requests := range res.Actions {
		if requests > 0 {
			w.Add("actions", int32(i), res.Tables.Actions.Name(int32(i)), requests)
		}
	}
}

func (r *Run) writeTallies(w *duck.Writer, res *replay.Result) {
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			w.Add("client_tallies", int32(i), h.Client, h.Refused, h.First, h.Last)
		}
		for action, refused := range res.Policies[i].ByAction {
			if refused > 0 {
				w.Add("action_tallies", int32(i), int32(action), refused)
			}
		}
	}
}

// timeIf is t, or NULL.
func timeIf(ok bool, t limit.Time) any {
	if !ok {
		return nil
	}
	return t
}

// known is v, or NULL when it is the value that stands for unknown.
func known[T comparable](v, unknown T) any {
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
	upstream bool // whether the log has upstream times
	events   bool // whether the policy's events are kept
}

// policyFigures are the columns behind the name of a policy, in the order of schema.sql. Of several runs percentiles
// are the longest ones, as those of all are not known; ranges of clients are the widest, as which clients several
// runs hit may be the same or others.
var policyFigures = [...]policyFigure{
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

// policyRow is a row of table policies, behind the run.
func policyRow(i int, name, by, combine string, p *replay.PolicyTally, s *source) []any {
	row := []any{int32(i), name, by}
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

// figureColumns are the columns of policyFigures for a query; what nothing reads is NULL.
func figureColumns() string {
	var columns []string
	for _, f := range policyFigures {
		if f.read == nil {
			f.column = "NULL::BIGINT"
		}
		columns = append(columns, f.column)
	}
	return strings.Join(columns, ", ")
}

// writeIdentities keeps who all clients are, and the reasons of those that a policy hit: reports list no others.
func (r *Run) writeIdentities(w *duck.Writer, res *replay.Result) {
	if r.Who == nil {
		return
	}
	hit := make([]bool, res.Clients.Len())
	for i := range res.Policies {
		for h := range res.Policies[i].Hits.All() {
			hit[h.Client] = true
		}
	}
	for id := range int32(res.Clients.Len()) {
		switch {
		case res.Clients.At(id).Requests() == 0: // see writeNames
		case hit[id]:
			w.Add("client_identities", id, r.Who.Of(id).One(), strings.Join(r.Who.Reasons(id), "\n"))
		default:
			w.Add("client_identities", id, r.Who.Of(id).One(), nil)
		}
	}
}

// readIdentities reads who the clients are, if any run has it. Of a client that several runs judged, the identity is
// that of the run in which it had most requests; one that none of them judged is undecided.
func (l *loading) readIdentities() error {
	res, judged := l.to.Result, map[int32]bool{}
	known := make(who.Identities, res.Clients.Len())
	reasons := make([][]string, len(known))
	for id := range known {
		known[id] = who.Undecided
	}
	type row struct {
		Run, Client       int32
		Identity, Reasons string
	}
	err := duck.Each(l.duck, `SELECT run, client, identity, coalesce(reasons, '')
		FROM client_identities JOIN clients USING (run, client) WHERE run IN `+l.runs+` ORDER BY requests, run`, func(c *row) error {
		id, err := l.clients.at(c.Run, c.Client)
		if err != nil {
			return err
		}
		judged[c.Run] = true
		is, ok := who.Parse(c.Identity)
		if !ok {
			return fmt.Errorf("client_identities: unknown identity %q", c.Identity)
		}
		known[id], reasons[id] = is, nil
		if c.Reasons != "" {
			reasons[id] = strings.Split(c.Reasons, "\n")
		}
		return nil
	})
	if err != nil || len(judged) == 0 {
		return err
	}
	res.Who = &who.Register{Identities: known, Reasons: func(client int32) []string { return reasons[client] }}
	if len(judged) < len(l.order) {
		l.warn("of %d of %d runs it is not known who the clients are: clients of those alone are undecided",
			len(l.order)-len(judged), len(l.order))
	}
	return nil
}
