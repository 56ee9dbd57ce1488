package html

import (
	"maps"
	"slices"

	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
)

// A page shows refusals over time. What a replay keeps of that is the worst minute, and the database keeps events,
// maybe of some policies only; so for a page the events of all policies are counted on their way.
//
// Each policy is counted in stretches of its own length, from a minute up: where there are too many stretches, the
// length grows and what has been counted is joined. A log may hold a stamp of another century, so only stretches with
// refusals are kept.

// An OverTime counts events by time and hands those on that are to be kept.
type OverTime struct {
	to     replay.Sink // nil: nowhere
	keep   int         // policies whose events are to be kept, the first so many
	counts []stretches // by policy
}

// NewOverTime counts for so many policies.
func NewOverTime(to replay.Sink, keep, policies int) *OverTime {
	return &OverTime{to: to, keep: keep, counts: make([]stretches, policies)}
}

// Write counts the events. Events come policy by policy.
func (o *OverTime) Write(events []replay.Event) error {
	kept := slices.IndexFunc(events, func(e replay.Event) bool { return int(e.Policy) >= o.keep })
	if kept < 0 {
		kept = len(events)
	}
	for i := range events {
		o.counts[events[i].Policy].add(events[i].At, int64(events[i].Count))
	}
	if o.to == nil || kept == 0 {
		return nil
	}
	return o.to.Write(events[:kept])
}

// Add counts refusals of a policy.
func (o *OverTime) Add(policy int, at limit.Time, refused int64) { o.counts[policy].add(at, refused) }

// Times are the counts of the policies that refused something.
func (o *OverTime) Times(policies []report.Policy) (times []Times) {
	for i := range policies {
		if c := &o.counts[i]; len(c.refused) > 0 {
			times = append(times, c.times(policies[i].Policy))
		}
	}
	return times
}

const (
	mostStretches = 4096 // kept of a policy
	mostBars      = 1000 // shown of it, with those in which nothing was refused
)

// stretchLengths are how long stretches may be, each a multiple of the one before.
var stretchLengths = []limit.Time{
	limit.Minute, 5 * limit.Minute, 15 * limit.Minute, limit.Hour, 6 * limit.Hour, limit.Day,
	8 * limit.Day, 64 * limit.Day, 512 * limit.Day, 4096 * limit.Day, 32768 * limit.Day, 262144 * limit.Day,
}

// stretches are the refusals of one policy by the stretch of time.
type stretches struct {
	length  int                  // index into stretchLengths
	refused map[limit.Time]int64 // by the number of the stretch since the epoch
}

func (s *stretches) add(at limit.Time, n int64) {
	if s.refused == nil {
		s.refused = map[limit.Time]int64{}
	}
	s.refused[floorDiv(at, stretchLengths[s.length])] += n
	for len(s.refused) > mostStretches && s.length < len(stretchLengths)-1 {
		s.widen()
	}
}

// widen joins stretches to longer ones.
func (s *stretches) widen() {
	joined := make(map[limit.Time]int64, len(s.refused))
	times := stretchLengths[s.length+1] / stretchLengths[s.length]
	for i, n := range s.refused {
		joined[floorDiv(i, times)] += n
	}
	s.length, s.refused = s.length+1, joined
}

// times are all stretches from the first with a refusal to the last, at most mostBars.
func (s *stretches) times(name string) Times {
	first, last := s.ends()
	for last-first >= mostBars && s.length < len(stretchLengths)-1 {
		s.widen()
		first, last = s.ends()
	}
	step := stretchLengths[s.length]
	t := Times{Policy: name, Start: format.Moment(first * step), Step: step, Refused: make([]int64, last-first+1)}
	for i, n := range s.refused {
		t.Refused[i-first] = n
	}
	return t
}

// floorDiv rounds down, also below 0.
func floorDiv(t, by limit.Time) limit.Time {
	n := t / by
	if t%by < 0 {
		n--
	}
	return n
}

func (s *stretches) ends() (first, last limit.Time) {
	numbers := slices.Collect(maps.Keys(s.refused))
	return slices.Min(numbers), slices.Max(numbers)
}
