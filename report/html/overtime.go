package html

import (
	"slices"

	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/table"
)

// A page shows refusals over time, and all requests behind them. Of refusals a replay keeps the worst minute, and the
// database keeps events, maybe of some policies only; so for a page the events of all policies are counted on their
// way. All bars of a page are of the same stretches of time.

// Times are requests and refusals over time: how many in each of some stretches of the same length.
type Times struct {
	Start    limit.Time `json:"start"` // of the first stretch
	Step     limit.Time `json:"step"`  // length of each
	Length   string     `json:"length"`
	Requests []int64    `json:"requests"` // in each; nil: not known
	Left     int64      `json:"-"`        // requests before and after
	Policies []Refusals `json:"policies"` // of those that refused something; at least one
}

// Refusals holds the refusals of one policy.
type Refusals struct {
	Policy  string  `json:"policy"`
	Refused []int64 `json:"refused"` // in each stretch
}

// An OverTime counts events by time and hands them on.
type OverTime struct {
	to     replay.Sink        // nil: nowhere
	counts []replay.Stretches // by policy
}

// NewOverTime counts for so many policies.
func NewOverTime(to replay.Sink, policies int) *OverTime {
	return &OverTime{to: to, counts: make([]replay.Stretches, policies)}
}

// Write counts the events.
func (o *OverTime) Write(events []replay.Event, sets *replay.Sets) error {
	for i := range events {
		for _, r := range sets.All[events[i].Set] {
			o.counts[r.Policy].Add(events[i].At, int64(events[i].Count))
		}
	}
	if o.to == nil {
		return nil
	}
	return o.to.Write(events, sets)
}

// Add counts refusals of a policy.
func (o *OverTime) Add(policy int, at limit.Time, refused int64) { o.counts[policy].Add(at, refused) }

// mostBars is the most stretches that are shown, with those in which nothing was refused.
const mostBars = 1000

// Times are the counts of the policies that refused something, and of all requests where these are known; nil if no
// policy refused anything.
//
// The bars are those of the whole log. Where a few requests of another time would make them longer, these are left out:
// at most 1 in 2,000 at either end, none in the time from the first refusal to the last.
func (o *OverTime) Times(policies []report.Policy, requests *replay.Stretches) *Times {
	var span extent
	for i := range policies {
		span.cover(&o.counts[i])
	}
	if span.none() {
		return nil
	}
	if requests != nil && requests.Empty() {
		requests = nil
	}
	if requests != nil {
		whole, middle := span, span
		whole.cover(requests)
		middle.coverMiddle(requests)
		if span = middle; whole.step() == middle.step() {
			span = whole
		}
	}
	step := span.step()
	first := replay.FloorTo(span.first, step)
	t := &Times{Start: first, Step: step}
	bars := int((span.last-first)/step) + 1
	count := func(s *replay.Stretches) (n []int64, left int64) {
		n = make([]int64, bars)
		for at, k := range s.All() {
			if i := (replay.FloorTo(at, step) - first) / step; 0 <= i && int(i) < bars {
				n[i] += k
			} else {
				left += k
			}
		}
		return n, left
	}
	if requests != nil {
		t.Requests, t.Left = count(requests)
	}
	for i := range policies {
		if !o.counts[i].Empty() {
			refused, _ := count(&o.counts[i])
			t.Policies = append(t.Policies, Refusals{policies[i].Policy, refused})
		}
	}
	return t
}

// An extent is from the first to the last of some stretches.
type extent struct {
	length      limit.Time // of the longest; 0: there are none
	first, last limit.Time // where stretches begin
}

func (e *extent) none() bool { return e.length == 0 }

// step returns the least length of bars.
func (e *extent) step() limit.Time { return replay.LongerStretch(e.length, e.first, e.last, mostBars) }

func (e *extent) see(at, length limit.Time) {
	if e.none() {
		e.first, e.last = at, at
	}
	e.first, e.last, e.length = min(e.first, at), max(e.last, at), max(e.length, length)
}

func (e *extent) cover(s *replay.Stretches) {
	for at := range s.All() {
		e.see(at, s.Length())
	}
}

// coverMiddle leaves out 1 in 2,000 at either end.
func (e *extent) coverMiddle(s *replay.Stretches) {
	var all, before int64
	for _, n := range s.All() {
		all += n
	}
	for at, n := range s.All() {
		if before+n > all/2000 && before < all-all/2000 {
			e.see(at, s.Length())
		}
		before += n
	}
}

// joined puts stretches together until there are at most so many, of the policies that there is room for.
func (t *Times) joined(most int, room room) *Times {
	j := *t
	j.Policies = slices.Clone(t.Policies[:min(len(t.Policies), room.details())])
	for i := range j.Policies {
		j.Policies[i].Policy = name(j.Policies[i].Policy)
	}
	for j.bars() > max(most, 1) {
		j.Step *= 2
		j.Requests = pairs(j.Requests)
		for i := range j.Policies {
			j.Policies[i].Refused = pairs(j.Policies[i].Refused)
		}
	}
	j.Length = format.Brief(j.Step)
	return &j
}

func (t *Times) bars() int { return len(t.Policies[0].Refused) }

func pairs(n []int64) (sums []int64) {
	for i := range n {
		if i%2 == 0 {
			sums = append(sums, 0)
		}
		sums[i/2] += n[i]
	}
	return sums
}

// rowsOfTimes is the most rows of the table behind the chart.
const rowsOfTimes = 100

// table has the figures of the chart, in longer stretches where there are many.
func (t *Times) table(room room) []*table.Page {
	j := t.joined(min(rowsOfTimes, room.listed(900)), room)
	var all table.Of[int]
	all.Title = "Requests and refusals over time"
	all.Head(table.Words(j.Length+" from (UTC)"), func(i *int) table.Cell {
		at := format.Moment(j.Start + limit.Time(*i)*j.Step)
		return table.Shown(at.Format("2006-01-02 15:04"), at.String())
	})
	add := func(head string, counts []int64) {
		all.Head(table.Number(head), func(i *int) table.Cell { return table.Count(counts[*i]) })
	}
	if j.Requests != nil {
		add("requests", j.Requests)
	}
	for _, p := range j.Policies {
		add("refused by "+p.Policy, p.Refused)
	}
	rows := make([]int, j.bars())
	for i := range rows {
		rows[i] = i
	}
	return all.Fill(rows).Pages(len(rows), "", 0)
}
