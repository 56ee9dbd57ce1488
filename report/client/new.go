package client

import (
	"cmp"
	"slices"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// DefaultRefusals is how many refusals an account lists when Options.Top is 0.
const DefaultRefusals = 20

// A Gathered is what an account is made of.
type Gathered struct {
	*replay.Gathering
	Policies []policy.Policy   // of the run
	Lateness limit.Time        // of the run
	Lines    map[int32]LogLine // of requests, by row of the batch
	Moments  int               // of the timeline, 2 at least
}

// New computes what became of a client.
func New(res *replay.Result, g Gathered, o report.Options) *Account {
	m := report.New(res, o)
	a := &Account{
		Version: m.Version, Command: m.Command, Input: m.Input, Warnings: m.Warnings,
		Requests: int64(g.Batch.Len() - g.Warm), Warm: int64(g.Warm), model: m,
	}
	id, name, _ := g.Client()
	a.Client = name
	if a.Requests > 0 {
		a.Class = res.Clients.At(id).Class().String()
		a.Evidence = report.NewJury(res, report.Census(res.Clients), o).Of(id)
		first, last := g.Span()
		a.Span = &report.Span{First: format.Moment(first), Last: format.Moment(last), Seconds: format.InSeconds(last - first)}
	}
	o.Top = cmp.Or(o.Top, DefaultRefusals)
	a.count(res, g.Gathering, max(o.Top, report.DefaultTop))
	a.Timeline = timeline(g.Gathering, g.Moments)
	for i := range g.Policies {
		f := &fated{Gathered: &g, res: res, index: i, top: o.Top}
		a.Policies = append(a.Policies, f.policy(&m.Policies[i]))
	}
	return a
}

// count counts agents, actions and statuses, the most frequent first.
func (a *Account) count(res *replay.Result, g *replay.Gathering, most int) {
	b := &g.Batch
	agents, actions, statuses := map[uint16]int64{}, map[uint16]int64{}, map[uint16]int64{}
	for row := g.Warm; row < b.Len(); row++ {
		agents[b.Agent[row]]++
		actions[b.Action[row]]++
		statuses[b.Status[row]]++
	}
	for id, n := range agents {
		a.Agents = append(a.Agents, AgentCount{res.Tables.Agents.Name(int32(id)), res.Tables.Agents.Class(int32(id)).String(), n})
	}
	for id, n := range actions {
		a.Actions = append(a.Actions, ActionCount{res.Tables.Actions.Name(int32(id)), n})
	}
	for status, n := range statuses {
		a.Statuses = append(a.Statuses, StatusCount{int(status), n})
	}
	slices.SortFunc(a.Agents, func(x, y AgentCount) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Agent, y.Agent))
	})
	slices.SortFunc(a.Actions, func(x, y ActionCount) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Action, y.Action))
	})
	slices.SortFunc(a.Statuses, func(x, y StatusCount) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Status, y.Status))
	})
	a.Agents, a.more.agents = first(a.Agents, most)
	a.Actions, a.more.actions = first(a.Actions, most)
	a.Statuses, a.more.statuses = first(a.Statuses, most)
}

// first are the first rows of a list, never nil, and how many are left out.
func first[T any](list []T, most int) ([]T, int) {
	n := min(len(list), most)
	return append([]T{}, list[:n]...), len(list) - n
}

// timeline counts the counted requests at moments spread evenly over their span, those since the moment before.
func timeline(g *replay.Gathering, moments int) []int64 {
	counts := make([]int64, moments)
	first, last := g.Span()
	for _, t := range g.Batch.At[g.Warm:] {
		column := 0
		if last > first { // rounded up: a request is counted at the moment that follows it
			column = int(min(float64(moments-1), ceil(float64(t-first)/float64(last-first)*float64(moments-1))))
		}
		counts[column]++
	}
	return counts
}

func ceil(v float64) float64 {
	if whole := float64(int64(v)); whole >= v {
		return whole
	}
	return float64(int64(v)) + 1
}

// A fated works out what became of the client under one policy.
type fated struct {
	*Gathered
	res   *replay.Result
	index int // of the policy
	top   int // refusals listed
}

func (f *fated) policy(told *report.Policy) Policy {
	fate := f.Fates[f.index]
	var refused []int32
	p := Policy{Policy: told.Policy, By: told.By, Semantics: told.Semantics, Refusals: []Refusal{}, told: told}
	for row := f.Warm; row < f.Batch.Len(); row++ {
		if fate.Refused[row] {
			refused = append(refused, int32(row))
		}
		if fate.Delayed[row] > 0 {
			p.Delayed++
		}
	}
	p.Refused = int64(len(refused))
	if r := f.res.Policies[f.index].Range; r != nil {
		id, _, _ := f.Client()
		p.Range = &Range{Refused: r.Of(id)}
	}
	p.RefusedPercent = format.PercentOf(p.Refused, int64(f.Batch.Len()-f.Warm))
	p.Lockout = lockout(f.Gathering, fate.Refused)
	trail := f.Follow(f.Policies, f.index, f.Lateness, f.Moments)
	shown := refused[:min(len(refused), f.top)]
	p.MoreRefusals = int64(len(refused) - len(shown))
	for _, row := range shown {
		p.Refusals = append(p.Refusals, f.refusal(row, trail))
	}
	for i := range f.Policies[f.index].Parts {
		p.Limits = append(p.Limits, f.limit(i, trail, p.Refusals))
	}
	return p
}

// limit tells of one limit, and what each of the refusals needs of it.
func (f *fated) limit(i int, trail *replay.Trail, refusals []Refusal) Limit {
	part := f.Policies[f.index].Parts[i]
	name, is := part.Number()
	l := Limit{
		Limit: part.Spec.String(), By: part.By.String(), Shared: part.By.Shared(), Number: name, Is: is,
		Levels: trail.Limits[i].Levels, period: limit.FormatPeriod(part.Spec.Period),
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
		needing := f.Needing(part, last+1, f.Lateness)
		for j := range refusals {
			r := &refusals[j]
			to, found := needing.UpTo(r.row, least)
			switch {
			case !found:
				r.Needs = append(r.Needs, Need{Limit: l.Limit, Number: name, period: l.period})
			case to > is:
				r.Needs = append(r.Needs, Need{Limit: l.Limit, Number: name, To: &to, period: l.period})
				least = to
			}
		}
	}
	if to, found := f.Needing(part, n, f.Lateness).UpTo(int32(n-1), least); found {
		l.Needs = &to
	}
	return l
}

// refusal tells of one refused request.
func (f *fated) refusal(row int32, trail *replay.Trail) Refusal {
	b, tables := &f.Batch, f.res.Tables
	r := Refusal{
		Time: format.Moment(b.At[row]), Action: tables.Actions.Name(int32(b.Action[row])), Status: int(b.Status[row]),
		Agent: report.AgentName(tables.Agents, int32(b.Agent[row])), By: []string{}, Needs: []Need{}, row: row,
	}
	if line, ok := f.Lines[row]; ok {
		r.Line = &line
	}
	parts := f.Policies[f.index].Parts
	var longest limit.Time
	for i := range parts {
		if wait := trail.Limits[i].Wait; wait != nil && wait[row] > 0 {
			longest = max(longest, wait[row])
			r.By = append(r.By, parts[i].Spec.String())
		}
	}
	if len(r.By) > 0 {
		seconds := format.InSeconds(longest)
		r.Wait = &seconds
		return r
	}
	for i := range parts {
		if trail.Limits[i].Wait == nil {
			r.By = append(r.By, parts[i].Spec.String())
		}
	}
	return r
}

// lockout is the longest stretch in which all requests were refused, the first of several; nil if none was.
func lockout(g *replay.Gathering, refused []bool) *Lockout {
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
		if longest == nil || now.Seconds > longest.Seconds || now.Seconds == longest.Seconds && now.Requests > longest.Requests {
			copied := *now
			longest = &copied
		}
	}
	return longest
}
