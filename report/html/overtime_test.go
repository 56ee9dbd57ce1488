package html

import (
	"errors"
	"math"
	"testing"

	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/testneeds"
)

// keptEvents is a sink that counts what it gets, by policy.
type keptEvents struct {
	counts map[int32]int64
	err    error
}

func (k *keptEvents) Write(events []replay.Event) error {
	for _, e := range events {
		k.counts[e.Policy] += int64(e.Count)
	}
	return k.err
}

// All refusals are counted, wherever in time they are, in stretches that begin on the epoch's grid.
func TestOverTimeLosesNothing(t *testing.T) {
	random := testneeds.Rand(t, 7, 8)
	for _, span := range []limit.Time{1, limit.Hour, 30 * limit.Day, 3000 * limit.Day, math.MaxInt64 / 2} {
		var s stretches
		var want int64
		for range 20_000 {
			n := random.Int64N(5)
			s.add(limit.Time(random.Int64N(int64(span)))-span/2, n)
			want += n
		}
		got := s.times("p")
		var sum int64
		for _, n := range got.Refused {
			sum += n
		}
		if sum != want || len(got.Refused) > mostBars || limit.Time(got.Start)%got.Step != 0 {
			t.Errorf("over %d: %d of %d refusals in %d bars of %d from %d", span, sum, want, len(got.Refused), got.Step, got.Start)
		}
		if got.Refused[0] == 0 && want > 0 && span > 1 && s.refused[floorDiv(limit.Time(got.Start), got.Step)] == 0 {
			t.Errorf("over %d: the first bar is empty", span)
		}
	}
}

// The bars of a short log are the minutes of the clock, also before 1970.
func TestOverTimeCountsByTheMinute(t *testing.T) {
	var s stretches
	for _, at := range []limit.Time{-1, 0, 59 * limit.Second, 60 * limit.Second, 3 * limit.Minute} {
		s.add(at, 1)
	}
	got := s.times("p")
	want := []int64{1, 2, 1, 0, 1}
	if got.Start != format.Moment(-limit.Minute) || len(got.Refused) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, n := range got.Refused {
		if n != want[i] {
			t.Errorf("minute %d: %d, want %d", i, n, want[i])
		}
	}
}

// What is to be kept is handed on, with its errors; the rest is only counted.
func TestOverTimeHandsOn(t *testing.T) {
	full := errors.New("full")
	sink := &keptEvents{counts: map[int32]int64{}, err: full}
	o := NewOverTime(sink, 1, 2)
	if err := o.Write([]replay.Event{{Policy: 1, Count: 7}}); err != nil {
		t.Error(err)
	}
	if err := o.Write([]replay.Event{{Policy: 0, Count: 3}}); !errors.Is(err, full) {
		t.Errorf("the error of the sink is %v", err)
	}
	if sink.counts[0] != 3 || sink.counts[1] != 0 {
		t.Errorf("kept %v", sink.counts)
	}
	if times := o.Times([]report.Policy{{Policy: "a"}, {Policy: "b"}}); len(times) != 2 || times[1].Policy != "b" || times[1].Refused[0] != 7 {
		t.Errorf("%+v", times)
	}
}
