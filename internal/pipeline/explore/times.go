package explore

import (
	"context"

	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
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

// times replays a limit, and counts by time.
func (s *Session) times(ctx context.Context, q *Request) (*Times, error) {
	stats := &s.found.Stats
	span, step := stats.LastAt-stats.FirstAt, steps[len(steps)-1]
	for i := len(steps) - 1; i >= 0 && span/steps[i] < mostStretches; i-- {
		step = steps[i]
	}
	for span/step >= mostStretches {
		step *= 2
	}
	start := stats.FirstAt - stats.FirstAt%step
	n := (stats.LastAt-start)/step + 1
	stretch := func(at limit.Time) limit.Time { return min(max(0, (at-start)/step), n-1) }
	t := &Times{Start: int64(start), Step: int64(step), Requests: make([]int64, n), Refused: make([]int64, n)}
	minutes := map[limit.Time]int64{}
	if _, err := s.judge(ctx, q, replay.Options{Bare: true, Observer: observer(func(b *traffic.Batch, row int32) {
		t.Refused[stretch(b.At[row])]++
		minutes[b.At[row]/limit.Minute]++
	})}); err != nil {
		return nil, err
	}
	for minute, refused := range minutes {
		if at := int64(minute * limit.Minute); t.Worst == nil || refused > t.Worst.Refused || refused == t.Worst.Refused && at < t.Worst.At {
			t.Worst = &Worst{at, refused}
		}
	}
	wanted := match.FindActions(s.tables().Actions, q.Action)
	return t, s.each(ctx, func(_ int, b *traffic.Batch) error {
		for row, at := range b.At {
			if q.Action == "" || wanted.Has(b.Action[row]) {
				t.Requests[stretch(at)]++
			}
		}
		return nil
	})
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
