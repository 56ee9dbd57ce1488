package html

import (
	"cmp"
	"math"

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
	Requests *replay.Stretches  // all of them; nil: not known
	to       replay.Sink        // nil: nowhere
	counts   []replay.Stretches // by policy
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

// times returns at most so many bars of the first policies that refused something, and of all requests where these are
// known; nil if no policy refused anything. They go over all refusals, and over the log without what lies apart.
func (o *OverTime) times(m *report.Model, bars int, room room) *Times {
	var shown replay.Stretches
	requests := cmp.Or(o.Requests, new(replay.Stretches))
	if span := m.Input.Span; span != nil {
		shown.AddStretch(limit.Time(span.First), requests.Length(), 1)
		shown.Add(limit.Time(span.Last), 1)
	}
	for i := range o.counts {
		for at := range o.counts[i].All() {
			shown.AddStretch(at, o.counts[i].Length(), 1)
		}
	}
	first, last := limit.Time(math.MaxInt64), limit.Time(0)
	for at := range shown.All() {
		first, last = min(first, at), at
	}
	step := replay.LongerStretch(shown.Length(), first, last, int64(bars))
	t := &Times{Start: replay.FloorTo(first, step), Step: step, Length: format.Brief(step)}
	count := func(s *replay.Stretches) (n []int64, left int64) {
		n = make([]int64, (last-t.Start)/step+1)
		for at, k := range s.All() {
			if i := (replay.FloorTo(at, step) - t.Start) / step; 0 <= i && int(i) < len(n) {
				n[i] += k
			} else {
				left += k
			}
		}
		return n, left
	}
	for i := range m.Policies {
		if !o.counts[i].Empty() && len(t.Policies) < room.listed(mostDetailed) {
			refused, _ := count(&o.counts[i])
			t.Policies = append(t.Policies, Refusals{name(m.Policies[i].Policy), refused})
		}
	}
	if t.Policies == nil {
		return nil
	}
	if !requests.Empty() {
		t.Requests, t.Left = count(requests)
	}
	return t
}

const (
	mostBars    = 1000 // of the chart, with those in which nothing was refused
	rowsOfTimes = 100  // of the table behind it
)

// page returns the figures of the chart as a table.
func (t *Times) page() []*table.Page {
	var all table.Of[int]
	all.Title = "Requests and refusals over time"
	all.Head(table.Words(t.Length+" from (UTC)"), func(i *int) table.Cell {
		at := format.Moment(t.Start + limit.Time(*i)*t.Step)
		return table.Shown(at.Format("2006-01-02 15:04"), at.String())
	})
	add := func(head string, counts []int64) {
		all.Head(table.Number(head), func(i *int) table.Cell { return table.Count(counts[*i]) })
	}
	if t.Requests != nil {
		add("requests", t.Requests)
	}
	for _, p := range t.Policies {
		add("refused by "+p.Policy, p.Refused)
	}
	var rows []int
	for i := range t.Policies[0].Refused {
		rows = append(rows, i)
	}
	return all.Fill(rows).Pages(len(rows), "", 0)
}
