package explore

import (
	"context"

	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// Times tells when a limit refuses requests. Times are microseconds since 1970, UTC.
type Times struct {
	Start    int64   `json:"start"` // of the first stretch
	Step     int64   `json:"step"`  // length of each
	Requests []int64 `json:"requests"`
	Refused  []int64 `json:"refused"`
	Worst    *Worst  `json:"worst_minute"` // nil: nothing is refused

	chart   stretches
	minutes map[limit.Time]int64 // refused, but for those of the minute at hand
	minute  limit.Time
	within  int64 // that minute
}

// A Worst is the minute in which most requests are refused, the first of several.
type Worst struct {
	At      int64 `json:"at"`
	Refused int64 `json:"refused"`
}

// mostStretches is the most stretches that a chart shows.
const mostStretches = 400

// steps are the lengths that stretches may have; longer ones have several days.
var steps = []limit.Time{
	limit.Second, 5 * limit.Second, 10 * limit.Second, 30 * limit.Second, limit.Minute, 5 * limit.Minute, 10 * limit.Minute,
	30 * limit.Minute, limit.Hour, 3 * limit.Hour, 6 * limit.Hour, 24 * limit.Hour,
}

// stretches cut the time of a log for a chart.
type stretches struct{ start, step, n limit.Time }

func (s *Session) stretches() stretches {
	stats := &s.found.Stats
	span, step := stats.LastAt-stats.FirstAt, steps[len(steps)-1]
	for i := len(steps) - 1; i >= 0 && span/steps[i] < mostStretches; i-- {
		step = steps[i]
	}
	for span/step >= mostStretches {
		step *= 2
	}
	start := stats.FirstAt - stats.FirstAt%step
	return stretches{start, step, (stats.LastAt-start)/step + 1}
}

// at returns the stretch that a moment lies in.
func (c stretches) at(at limit.Time) limit.Time { return min(max(0, (at-c.start)/c.step), c.n-1) }

// newTimes returns when the requests of an action came; none is refused yet.
func (s *Session) newTimes(ctx context.Context, action string) (*Times, error) {
	all, err := s.crowd(ctx, scope{action: action})
	if err != nil {
		return nil, err
	}
	chart := s.stretches()
	return &Times{
		Start: int64(chart.start), Step: int64(chart.step), Requests: all.when, Refused: make([]int64, chart.n),
		chart: chart, minutes: map[limit.Time]int64{},
	}, nil
}

// refuse counts a request.
func (t *Times) refuse(at limit.Time) {
	t.Refused[t.chart.at(at)]++
	if minute := at / limit.Minute; minute != t.minute { // most are in that of the one before
		t.minutes[t.minute] += t.within
		t.minute, t.within = minute, 0
	}
	t.within++
}

// close finds the worst minute, once all is counted.
func (t *Times) close() {
	if t == nil {
		return
	}
	t.minutes[t.minute] += t.within
	for minute, refused := range t.minutes {
		at := int64(minute * limit.Minute)
		if refused == 0 {
			continue
		}
		if w := t.Worst; w == nil || refused > w.Refused || refused == w.Refused && at < w.At {
			t.Worst = &Worst{at, refused}
		}
	}
}

// An observer is called for each request that the only policy refuses.
type observer func(b *traffic.Batch, row int32)

// Observe implements replay.Observer.
func (o observer) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	for _, row := range verdicts[0].Refused {
		o(b, row)
	}
	return nil
}
