// Package client reports on one client: what it sent and what became of it comes in; text, JSON or a page
// goes out.
package client

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// An Account is what shadow explain tells of one client: what it sent, and what became of it under each policy.
// docs/explain.md defines every figure. Its JSON keeps its keys as that of a report does.
type Account struct {
	report.Head
	Client   string           `json:"client"`
	Class    string           `json:"class"`
	Requests int64            `json:"requests"` // counted
	Warm     int64            `json:"warm"`
	Span     *report.Span     `json:"span"` // from its first counted request to its last; nil without any
	Agents   []AgentCount     `json:"agents"`
	Actions  []ActionCount    `json:"actions"`
	Statuses []StatusCount    `json:"statuses"`
	Timeline []int64          `json:"timeline"` // requests since the moment before, at moments spread evenly over the span
	Identity *report.Identity `json:"identity"` // nil without counted requests
	Policies []Policy         `json:"policies"`
	Network  *report.Network  `json:"network,omitempty"` // nil: not known
	Crawler  string           `json:"crawler,omitempty"` // of a crawler: verified, forged or unknown; "": not asked for

	more struct{ agents, actions, statuses int } // left out
}

// An AgentCount is an agent of the client, and how many requests it sent.
type AgentCount struct {
	Agent    string `json:"agent"`
	Class    string `json:"class"`
	Requests int64  `json:"requests"`
}

// An ActionCount is an action that the client asked for.
type ActionCount struct {
	Action   string `json:"action"`
	Requests int64  `json:"requests"`
}

// A StatusCount is a status that the client was answered with.
type StatusCount struct {
	Status   int   `json:"status"`
	Requests int64 `json:"requests"`
}

// A Policy is what became of the client under one policy.
type Policy struct {
	Policy         string    `json:"policy"`
	By             string    `json:"by"`
	Semantics      string    `json:"semantics"`
	Refused        int64     `json:"refused"`
	Range          *Range    `json:"range"` // nil when the policy is judged exactly
	RefusedPercent float64   `json:"refused_percent"`
	Delayed        int64     `json:"delayed"`
	Lockout        *Lockout  `json:"longest_lockout"` // nil when nothing was refused
	Limits         []Limit   `json:"limits"`
	Refusals       []Refusal `json:"refusals"`
	MoreRefusals   int64     `json:"more_refusals"` // that are not listed

	of *report.Policy
}

// A Range is between what and what lie an approximation's refusals of the client.
type Range struct {
	Refused [2]int64 `json:"refused"` // at least, at most
}

// A Lockout is a stretch of time in which all of the client's requests were refused.
type Lockout struct {
	First    format.Moment `json:"first_refused"`
	Last     format.Moment `json:"last_refused"`
	Seconds  float64       `json:"seconds"`
	Requests int64         `json:"requests"`
}

// A Limit is one limit of a policy.
type Limit struct {
	Limit  string `json:"limit"`
	By     string `json:"by"`
	Shared bool   `json:"shared"` // with other clients, so that what follows cannot be told
	Number string `json:"number"` // the one to raise: "burst" or "count"
	Is     int64  `json:"is"`
	// with which it would have refused none of the client's requests; nil: shared, or none would
	Needs  *int64    `json:"needs"`
	Levels []float64 `json:"levels"` // how full, at the moments of the timeline; nil: shared, or it does not tell

	atOnce float64
	period string // "": it has none
}

// A Refusal is a request that the policy refuses.
type Refusal struct {
	Time   format.Moment `json:"time"`
	Action string        `json:"action"`
	Status int           `json:"status"`
	Agent  string        `json:"agent"`
	By     []string      `json:"refused_by"`   // the limits that had no room; of shared ones, those that may be it
	Wait   *float64      `json:"wait_seconds"` // until it would have been admitted; nil: a shared limit refused it, or it costs too much
	Needs  []Need        `json:"needs"`
	Line   *LogLine      `json:"line"` // nil unless asked for

	row   int32
	never bool // whether it costs more than there is ever room for
}

// A Need is what a limit would have had to be to refuse nothing of the client up to a refusal.
type Need struct {
	Limit  string `json:"limit"`
	Number string `json:"number"`
	To     *int64 `json:"to"` // nil: no number would do

	period string
}

// A LogLine says where a request stands in the inputs.
type LogLine struct {
	File string `json:"file"`
	Line int64  `json:"line"` // from 1
	Text string `json:"text"`
}

// DefaultRefusals is the number of refusals that an account lists when Options.Top is 0.
const DefaultRefusals = 20

// A Source is what an account is made of.
type Source struct {
	*replay.ClientLog
	Policies []policy.Policy   // of the run
	Lateness limit.Time        // of the run
	Lines    map[int32]LogLine // of requests, by row of the batch
	Moments  int               // of the timeline, 2 at least
}

// New computes what became of a client.
func New(res *replay.Result, g Source, o report.Options) *Account {
	m := report.New(res, o)
	a := &Account{
		Head: m.Head, Requests: int64(g.Batch.Len() - g.Warm), Warm: int64(g.Warm),
	}
	id, name, _ := g.Client()
	a.Client = res.Tables.ShownClient(id)
	if a.Requests > 0 {
		a.Class = res.Clients.At(id).Class().String()
		a.Identity = report.IdentityOf(res, id)
		a.Span = report.NewSpan(g.Span())
	}
	o.Top = cmp.Or(o.Top, DefaultRefusals)
	a.count(res.Tables, g.ClientLog, max(o.Top, report.DefaultTop))
	if len(a.Agents) > 0 {
		a.Network, a.Crawler = report.TellNetwork(name, a.Class, a.Agents[0].Agent, &o.Known)
	}
	a.Timeline = timeline(g.ClientLog, g.Moments)
	for i := range g.Policies {
		f := &outcome{Source: &g, res: res, index: i, top: o.Top}
		a.Policies = append(a.Policies, f.policy(&m.Policies[i]))
	}
	return a
}

// count counts agents, actions and statuses, the most frequent first.
func (a *Account) count(tables *traffic.Tables, g *replay.ClientLog, most int) {
	a.Agents, a.more.agents = top(g.Batch.Agent[g.Warm:], tables.Agents.Name, most, func(id int32, n int64) AgentCount {
		return AgentCount{tables.ShownAgent(id), tables.Agents.Class(id).String(), n}
	})
	a.Actions, a.more.actions = top(g.Batch.Action[g.Warm:], tables.Actions.Name, most, func(id int32, n int64) ActionCount {
		return ActionCount{tables.ShownAction(id), n}
	})
	sorted := func(status int32) string { return fmt.Sprintf("%05d", status) }
	a.Statuses, a.more.statuses = top(g.Batch.Status[g.Warm:], sorted, most, func(status int32, n int64) StatusCount {
		return StatusCount{int(status), n}
	})
}

// top returns the most frequent values of a column, those that are equally frequent by name, and how many are left out.
func top[T any](column []uint16, name func(int32) string, most int, count func(int32, int64) T) (tops []T, more int) {
	counts, ids := make([]int64, math.MaxUint16+1), []int32(nil)
	for _, id := range column {
		if counts[id]++; counts[id] == 1 {
			ids = append(ids, int32(id))
		}
	}
	slices.SortFunc(ids, func(x, y int32) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(name(x), name(y)))
	})
	tops = []T{}
	tops = mapped.Add(tops, ids[:min(len(ids), most)], func(id int32) T { return count(id, counts[id]) })
	return tops, len(ids) - len(tops)
}

// timeline counts the counted requests at moments spread evenly over their span, those since the moment before.
func timeline(g *replay.ClientLog, moments int) []int64 {
	counts := make([]int64, moments)
	first, last := g.Span()
	for _, t := range g.Batch.At[g.Warm:] {
		column := 0
		if last > first { // rounded up: a request is counted at the moment that follows it
			column = int(min(float64(moments-1), math.Ceil(float64(t-first)/float64(last-first)*float64(moments-1))))
		}
		counts[column]++
	}
	return counts
}

// An outcome works out what became of the client under one policy.
type outcome struct {
	*Source
	res   *replay.Result
	index int // of the policy
	top   int // refusals listed
}

func (f *outcome) policy(of *report.Policy) Policy {
	verdicts := f.Outcomes[f.index]
	var refused []int32
	p := Policy{Policy: of.Policy, By: of.By, Semantics: of.Semantics, Refusals: []Refusal{}, of: of}
	for row := f.Warm; row < f.Batch.Len(); row++ {
		if verdicts.Refused[row] {
			refused = append(refused, int32(row))
		}
		if verdicts.Delayed[row] > 0 {
			p.Delayed++
		}
	}
	p.Refused = int64(len(refused))
	if r := f.res.Policies[f.index].Range; r != nil {
		id, _, _ := f.Client()
		p.Range = &Range{Refused: r.Of(id)}
	}
	p.RefusedPercent = format.PercentOf(p.Refused, int64(f.Batch.Len()-f.Warm))
	p.Lockout = lockout(f.ClientLog, verdicts.Refused)
	timeline := f.Follow(f.Policies, f.index, f.Lateness, f.Moments)
	shown := refused[:min(len(refused), f.top)]
	p.MoreRefusals = int64(len(refused) - len(shown))
	p.Refusals = mapped.Add(p.Refusals, shown, func(row int32) Refusal { return f.refusal(row, timeline) })
	for i := range f.Policies[f.index].Parts {
		p.Limits = append(p.Limits, f.limit(i, timeline, p.Refusals))
	}
	return p
}

// limit tells of one limit, and what each of the refusals needs of it.
func (f *outcome) limit(i int, timeline *replay.ClientTimeline, refusals []Refusal) Limit {
	part := f.Policies[f.index].Parts[i]
	name, is := part.Number()
	l := Limit{
		Limit: part.Spec.String(), By: part.By.String(), Shared: part.By.Shared(), Number: name, Is: is,
		Levels: timeline.Limits[i].Levels,
	}
	if part.Spec.Period != 0 {
		l.period = limit.FormatPeriod(part.Spec.Period)
	}
	if d, ok := part.Limiter.(limit.Describer); ok {
		l.atOnce = float64(d.Shape().AtOnce)
	}
	n := f.Batch.Len()
	if l.Shared || n == 0 {
		return l
	}
	least := is
	if len(refusals) > 0 {
		last := int(refusals[len(refusals)-1].row)
		needing := f.MinLimit(part, last+1, f.Lateness)
		for j := range refusals {
			r := &refusals[j]
			to, found := needing.UpTo(r.row, least)
			need := Need{Limit: l.Limit, Number: name, period: l.period}
			if found {
				need.To, least = &to, max(least, to)
			}
			if !found || to > is {
				r.Needs = append(r.Needs, need)
			}
		}
	}
	if to, found := f.MinLimit(part, n, f.Lateness).UpTo(int32(n-1), least); found {
		l.Needs = &to
	}
	return l
}

// refusal tells of one refused request.
func (f *outcome) refusal(row int32, timeline *replay.ClientTimeline) Refusal {
	b, tables := &f.Batch, f.res.Tables
	r := Refusal{
		Time: format.Moment(b.At[row]), Action: tables.ShownAction(int32(b.Action[row])), Status: int(b.Status[row]),
		Agent: tables.ShownAgent(int32(b.Agent[row])), By: []string{}, Needs: []Need{}, row: row,
	}
	if line, ok := f.Lines[row]; ok {
		r.Line = &line
	}
	parts := f.Policies[f.index].Parts
	var longest limit.Time
	for i := range parts {
		if wait := timeline.Limits[i].Wait; wait != nil && wait[row] > 0 {
			longest = max(longest, wait[row])
			r.By = append(r.By, parts[i].Spec.String())
		}
	}
	if r.never = longest == limit.Never; r.never {
		return r
	}
	if len(r.By) > 0 {
		seconds := format.InSeconds(longest)
		r.Wait = &seconds
		return r
	}
	for i := range parts {
		if timeline.Limits[i].Wait == nil {
			r.By = append(r.By, parts[i].Spec.String())
		}
	}
	return r
}

// lockout is the longest stretch in which all requests were refused, the first of several; nil if none was.
func lockout(g *replay.ClientLog, refused []bool) *Lockout {
	var longest, now *Lockout
	for row := g.Warm; row < g.Batch.Len(); row++ {
		at := format.Moment(g.Batch.At[row])
		switch {
		case !refused[row]:
			now = nil
			continue
		case now == nil:
			now = &Lockout{First: at, Last: at}
		}
		now.Last, now.Requests = max(now.Last, at), now.Requests+1
		now.Seconds = format.InSeconds(limit.Time(now.Last - now.First))
		if longest == nil || now.Seconds > longest.Seconds || now.Seconds == longest.Seconds &&
			now.Requests > longest.Requests {
			copied := *now
			longest = &copied
		}
	}
	return longest
}
