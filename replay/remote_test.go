package replay_test

import (
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// A moody is a Remote that decides nothing, and says of every other batch that verdicts are degraded.
type moody struct{ batches int }

func (m *moody) Begin(*traffic.Batch) { m.batches++ }

func (m *moody) Judge(int, *traffic.Batch, *traffic.Timelines, func(int) *limit.State) replay.Answer {
	return replay.Answer{Degraded: m.batches%2 == 0}
}

// What is degraded is counted, and its events are marked; what counts nowhere is not counted here either.
func TestDegradedIsCounted(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"window:1/1h"}, request.ByClient)
	check(t, err)
	b := newBenchOf(t, lateness, policies)
	b.engine = replay.New(replay.Options{
		Tables: b.tables, Policies: policies, Lateness: lateness, Sink: b, EventPolicies: 1, Remote: new(moody),
	})
	lines := func(at limit.Time, warm bool, n int) (lines []line) {
		for range n {
			lines = append(lines, line{at: at * limit.Second, client: "a", action: "/", warm: warm})
		}
		return lines
	}
	b.judge(lines(0, true, 1), lines(1, true, 3), lines(2, false, 2), lines(3, false, 4), lines(4, false, 5), lines(5, false, 6))
	got := b.result().Policies[0]
	if want := (replay.Degraded{Requests: 10, Refused: 10}); got.Degraded != want || got.Refused != 17 {
		t.Errorf("%+v of %d refused, want %+v of 17", got.Degraded, got.Refused, want)
	}
	var marked int64
	for _, e := range b.events {
		if e.degraded {
			marked += int64(e.Count)
		}
	}
	if marked != 10 {
		t.Errorf("%d refusals have degraded events, want 10", marked)
	}
}
