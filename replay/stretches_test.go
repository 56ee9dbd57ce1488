package replay_test

import (
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/replay"
)

// However moments are counted, stretches hold them all, each in the one that it lies in, and there are not too many.
func TestStretches(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		var one, runs replay.Stretches
		counted := map[limit.Time]int64{}
		now := limit.Time(rapid.Int64Range(-1e15, 1e15).Draw(rt, "start"))
		span := rapid.SampledFrom([]limit.Time{second, limit.Minute, limit.Hour, 700 * limit.Day}).Draw(rt, "span")
		for range rapid.IntRange(0, 20).Draw(rt, "runs") {
			var moments []limit.Time
			for range rapid.IntRange(0, 600).Draw(rt, "moments") {
				now += limit.Time(rapid.Int64Range(-1, 9).Draw(rt, "step")) * span / 9
				moments = append(moments, now)
				counted[now]++
				one.Add(now, 1)
			}
			runs.AddAll(moments)
		}
		for _, s := range []*replay.Stretches{&one, &runs} {
			want := map[limit.Time]int64{}
			for at, n := range counted {
				want[replay.FloorTo(at, s.Length())] += n
			}
			got := maps.Collect(s.All())
			if !maps.Equal(got, want) || s.Empty() != (len(counted) == 0) {
				rt.Fatalf("stretches of %s: %v, want %v", limit.FormatPeriod(s.Length()), got, want)
			}
			if len(got) > 4096 {
				rt.Fatalf("%d stretches", len(got))
			}
		}
	})
}

// There are 4096 stretches at most, in order, and they grow by one step when there is one more. Longer ones of others are taken.
func TestStretchesGrow(t *testing.T) {
	var s replay.Stretches
	for i := range limit.Time(4096) {
		s.Add(-i*limit.Minute, 2)
	}
	if s.Length() != limit.Minute {
		t.Errorf("4096 stretches are of %s", limit.FormatPeriod(s.Length()))
	}
	s.Add(limit.Minute, 2)
	last, n := -4100*limit.Minute, int64(0) // the one before the first
	for at, count := range s.All() {
		if at != last+5*limit.Minute {
			t.Errorf("one at %s behind %s", limit.FormatPeriod(at), limit.FormatPeriod(last))
		}
		last, n = at, n+count
	}
	if s.Length() != 5*limit.Minute || n != 2*4097 || last != 0 {
		t.Errorf("%d in stretches of %s to %s", n, limit.FormatPeriod(s.Length()), limit.FormatPeriod(last))
	}
	s.AddStretch(0, limit.Day, 1)
	for at := range s.All() {
		if at >= 0 {
			break // the first is enough
		}
	}
	if s.Length() != limit.Day {
		t.Errorf("with one of a day they are of %s", limit.FormatPeriod(s.Length()))
	}
}

func TestLongerStretch(t *testing.T) {
	for _, c := range []struct {
		length, first, last limit.Time
		most                int64
		want                limit.Time
	}{
		{limit.Minute, 0, limit.Minute - 1, 1, limit.Minute},
		{limit.Minute, 0, limit.Minute, 1, 5 * limit.Minute},
		{limit.Minute, 0, limit.Minute, 2, limit.Minute},
		{limit.Hour, 0, limit.Minute, 9, limit.Hour},
		{limit.Minute + 1, 0, 0, 9, 5 * limit.Minute},
		{limit.Minute, -1 << 62, 1 << 62, 1, 262144 * limit.Day},
	} {
		if got := replay.LongerStretch(c.length, c.first, c.last, c.most); got != c.want {
			t.Errorf("%+v: %s", c, limit.FormatPeriod(got))
		}
	}
}

// Each stage has the laps that it took: with a clock that ticks when it is read, one for the timelines, one for the counts, and
// two for the verdicts; on several cores the others' as well.
func TestTimes(t *testing.T) {
	policies := policiesOf(t, "window:1/10s", request.ByClient)
	for _, bare := range []bool{false, true} {
		b := newBenchOf(t, lateness, policies)
		ticks := time.Duration(0)
		b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Bare: bare, Clock: func() time.Duration {
			ticks++
			return ticks
		}})
		b.judge([]line{{client: "a", action: "/x", agent: "-"}})
		want := replay.StageTimes{Group: 1, Count: 1, Judge: 2}
		if bare {
			want.Count = 0
		}
		if got := b.engine.Times(); got != want {
			t.Errorf("bare %v: %+v, want %+v", bare, got, want)
		}
	}
}
