package calc

import (
	"slices"
	"testing"

	"shadow/limit"
)

// quota is a made-up limiter: it admits so many forever, delays every second of them, and tells how many it admitted.
type quota struct{ limit.Limiter }

const quotaSize = 4

func (quota) Wait(s *limit.State, _ limit.Time) limit.Time {
	if s.Level < quotaSize {
		return 0
	}
	return limit.Never
}

func (quota) Charge(s *limit.State, _ limit.Time, refused bool) {
	if !refused {
		s.Level++
	}
}

func (quota) Delay(s *limit.State, _ limit.Time) limit.Time { return limit.Time(s.Level % 2) }

func (quota) LongestDelay() limit.Time { return 1 }

func (quota) RefuseAndDelay(dst []int32, late []limit.Delayed, _ *limit.State, _ []limit.Time) ([]int32, []limit.Delayed) {
	return dst, late
}

func (quota) Level(s *limit.State, _ limit.Time) float64 { return float64(s.Level) }

func (quota) Semantics() string { return "a quota" }

func (quota) Shape() limit.Shape {
	return limit.Shape{Count: 1, Period: limit.Second, AtOnce: quotaSize}
}

func TestSimulate(t *testing.T) {
	times := slices.Values([]limit.Time{0, 1, 10, 11, 12, 30})
	got := Simulate(quota{}, limit.State{}, 100, 40, times, 5)
	if got.Requests != 6 || got.Admitted != 4 || got.Delayed != 2 || got.Refused != 2 || got.Last != 4 {
		t.Errorf("%+v", got)
	}
	if want := []float64{1, 3, 4, 4, 4}; !slices.Equal(got.Levels, want) {
		t.Errorf("levels %v, want %v", got.Levels, want)
	}
}

// A pulse is a made-up limiter whose level is 9 in the microsecond after a request, and 1 otherwise.
type pulse struct{ limit.Limiter }

func (pulse) Wait(*limit.State, limit.Time) limit.Time    { return 0 }
func (pulse) Charge(s *limit.State, t limit.Time, _ bool) { s.At = t }
func (pulse) Level(s *limit.State, t limit.Time) (level float64) {
	if t == s.At {
		return 9
	}
	return 1
}

// However short a peak is, its column shows it.
func TestSimulateKeepsPeaks(t *testing.T) {
	got := Simulate(pulse{}, limit.State{}, 0, 40, slices.Values([]limit.Time{3, 20, 21}), 5)
	if want := []float64{9, 9, 9, 9, 1}; !slices.Equal(got.Levels, want) {
		t.Errorf("levels %v, want %v", got.Levels, want)
	}
}

// A mute is a limiter that does not tell its level.
type mute struct{ limit.Limiter }

func TestSimulateWithoutLevels(t *testing.T) {
	got := Simulate(mute{quota{}}, limit.State{}, 0, 40, slices.Values([]limit.Time{3, 20, 21, 22, 23}), 5)
	if got.Levels != nil || got.Refused != 1 || got.Delayed != 0 {
		t.Errorf("%+v", got)
	}
}
