package html

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/reporttest"
)

// keptEvents is a sink that counts what it gets, by policy.
type keptEvents struct {
	counts map[int32]int64
	err    error
}

func (k *keptEvents) Write(events []replay.Event, sets *replay.Sets) error {
	for _, e := range events {
		for _, r := range sets.All[e.Set] {
			k.counts[r.Policy] += int64(e.Count)
		}
	}
	return k.err
}

// All refusals are counted, wherever in time they are, in bars that begin on the epoch's grid, and with them all
// requests, or those of the same time.
func TestOverTimeLosesNothing(t *testing.T) {
	random := testneeds.Rand(t, 7, 8)
	for _, span := range []limit.Time{1, limit.Hour, 30 * limit.Day, 3000 * limit.Day, math.MaxInt64 / 2} {
		o := NewOverTime(nil, 2)
		var requests replay.Stretches
		var refused, all int64
		for range 20_000 {
			n, at := random.Int64N(5), limit.Time(random.Int64N(int64(span)))-span/2
			o.Add(1, at, n)
			requests.Add(at, n+2)
			refused, all = refused+n, all+n+2
		}
		o.Requests = &requests
		got := o.times(spanned([2]limit.Time{}, "none", "some"), mostBars, room(0))
		if len(got.Policies) != 1 || got.Policies[0].Policy != "some" || sum(got.Policies[0].Refused) != refused || sum(got.Requests)+got.Left != all || got.Left > 0 {
			t.Errorf("over %d: %d of %d refusals, %d and %d of %d requests", span, sum(got.Policies[0].Refused), refused, sum(got.Requests), got.Left, all)
		}
		if len(got.Requests) > mostBars || got.Start%got.Step != 0 || got.Requests[0] == 0 || got.Requests[len(got.Requests)-1] == 0 {
			t.Errorf("over %d: %d bars of %d from %d", span, len(got.Requests), got.Step, got.Start)
		}
	}
}

func sum(numbers []int64) (sum int64) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// The bars of a short log are the minutes of the clock, also before 1970, from the first request to the last.
func TestOverTimeCountsByTheMinute(t *testing.T) {
	o := NewOverTime(nil, 1)
	for _, at := range []limit.Time{-1, 0, 59 * limit.Second, 60 * limit.Second, 3 * limit.Minute} {
		o.Add(0, at, 1)
	}
	var requests replay.Stretches
	requests.AddAll([]limit.Time{-61 * limit.Second, -1, 0, 59 * limit.Second, 60 * limit.Second, 3 * limit.Minute, 1, 4 * limit.Minute})
	o.Requests = &requests
	got := o.times(spanned([2]limit.Time{-61 * limit.Second, 4 * limit.Minute}, "p"), mostBars, room(0))
	want := &Times{
		Start: -2 * limit.Minute, Step: limit.Minute, Length: "1 min", Requests: []int64{1, 1, 3, 1, 0, 1, 1},
		Policies: []Refusals{{"p", []int64{0, 1, 2, 1, 0, 1, 0}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	o.Requests = nil
	if got := o.times(spanned([2]limit.Time{}, "p"), mostBars, room(0)); got.Requests != nil || len(got.Policies[0].Refused) != 5 {
		t.Errorf("without requests: %+v", got)
	}
	if got := NewOverTime(nil, 1).times(spanned([2]limit.Time{0, limit.Hour}, "p"), mostBars, room(0)); got != nil {
		t.Errorf("without refusals: %+v", got)
	}
}

// spanned is a report on some policies and a time.
func spanned(span [2]limit.Time, policies ...string) *report.Model {
	m := &report.Model{}
	for _, name := range policies {
		m.Policies = append(m.Policies, report.Policy{Policy: name})
	}
	if span != [2]limit.Time{} {
		m.Input.Span = report.NewSpan(span[0], span[1])
	}
	return m
}

// A request that lies apart does not make the bars longer: it is left out, and counted. A refusal is not.
func TestOverTimeLeavesStraysOut(t *testing.T) {
	o := NewOverTime(nil, 1)
	o.Add(0, limit.Hour, 7)
	o.Requests = new(replay.Stretches)
	o.Requests.Add(-30_000*limit.Day, 3)
	o.Requests.Add(90_000*limit.Day, 2)
	for i := range limit.Time(600) {
		o.Requests.Add(i*limit.Minute, 50)
	}
	m := spanned([2]limit.Time{0, 599 * limit.Minute}, "p")
	if got := o.times(m, mostBars, room(0)); got.Step != limit.Minute || got.Left != 5 || len(got.Requests) != 600 || got.Policies[0].Refused[60] != 7 {
		t.Errorf("%d bars of %d, %d left out", len(got.Requests), got.Step, got.Left)
	}
	o.Add(0, -30_000*limit.Day, 1)
	if got := o.times(m, mostBars, room(0)); got.Left > 2 || sum(got.Policies[0].Refused) != 8 {
		t.Errorf("%d left out, %d refusals", got.Left, sum(got.Policies[0].Refused))
	}
}

// The table has the figures of the chart, in longer stretches.
func TestTimesTable(t *testing.T) {
	o := NewOverTime(nil, 1)
	o.Requests = new(replay.Stretches)
	begin := reporttest.Noon - reporttest.Noon%limit.Hour
	for i := range limit.Time(900) {
		o.Add(0, begin+i*limit.Minute, 1)
		o.Requests.Add(begin+i*limit.Minute, int64(i))
	}
	got := o.times(spanned([2]limit.Time{}, "p"), rowsOfTimes, room(0)).page()[0]
	if len(got.Rows) != 60 || got.Heads[0].Text != "15 min from (UTC)" || got.Rows[1][1].Text != "330" || got.Rows[0][2].Text != "15" {
		t.Errorf("%d rows, %v, %v", len(got.Rows), got.Heads, got.Rows[:2])
	}
}

// Events are counted by policy and handed on, with the errors of those who take them.
func TestOverTimeHandsOn(t *testing.T) {
	full := errors.New("full")
	sink := &keptEvents{counts: map[int32]int64{}, err: full}
	o := NewOverTime(sink, 2)
	var sets replay.Sets
	one, both := sets.ID([]replay.Refuser{{Policy: 1}}), sets.ID([]replay.Refuser{{Policy: 0}, {Policy: 1}})
	if err := o.Write([]replay.Event{{Set: one, Count: 4}, {Set: both, Count: 3}}, &sets); !errors.Is(err, full) {
		t.Errorf("the error of the sink is %v", err)
	}
	if sink.counts[0] != 3 || sink.counts[1] != 7 {
		t.Errorf("handed on %v", sink.counts)
	}
	if times := o.times(spanned([2]limit.Time{}, "a", "b"), mostBars, room(0)); len(times.Policies) != 2 || times.Policies[1].Policy != "b" || times.Policies[1].Refused[0] != 7 {
		t.Errorf("%+v", times)
	}
}
