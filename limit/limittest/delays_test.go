package limittest

import (
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// A queue admits three requests of a key, ever, and keeps the later ones of them waiting for half a second each.
type queue struct{ wrong string }

func (q queue) Wait(s *limit.State, _ limit.Time) limit.Time { return max(0, limit.Time(s.Level-2)) }

func (q queue) Delay(s *limit.State, _ limit.Time) limit.Time {
	if q.wrong == "Delay" {
		s.Extra++
	}
	return limit.Time(s.Level) * limit.Second / 2
}

func (q queue) LongestDelay() limit.Time { return 3 * limit.Second / 2 }

func (q queue) Charge(s *limit.State, _ limit.Time, refused bool) {
	if !refused {
		s.Level++
	}
}

func (q queue) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	before := len(dst)
	dst, late = slowly(dst, late, q, s, at)
	if q.wrong == "verdicts" {
		dst = dst[:before]
	}
	if q.wrong == "delays" && len(late) > 0 {
		late[len(late)-1].By++
	}
	if q.wrong == "State" {
		s.Extra++
	}
	return dst, late
}

func (q queue) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if q.wrong == "Refuse" {
		return dst
	}
	dst, _ = slowly(dst, nil, q, s, at)
	return dst
}

func (queue) Horizon() limit.Time { return limit.Never }

// modelQueue is the slow twin, and one that is too fast from the third request on if so wanted.
func modelQueue(wrong string) func(limit.Spec) DelayModel {
	return func(limit.Spec) DelayModel {
		admitted := limit.Time(0)
		return func(_ limit.Time, blocked bool) (bool, limit.Time) {
			refused, late := admitted == 3, admitted*limit.Second/2
			if !refused && !blocked {
				admitted++
			}
			if wrong == "model" {
				late = min(late, 500_000)
			}
			return refused, late
		}
	}
}

// The suite finds every way in which delays can be wrong.
func TestSuiteFindsDelays(t *testing.T) {
	for _, test := range []struct{ wrong, want string }{
		{"", ""},
		{"model", "delayed by 1000000 µs; want false, 500000"},
		{"Delay", "Delay changes the State"},
		{"verdicts", "refused [-7], want [-7 "},
		{"delays", "RefuseAndDelay against the loop: delayed"},
		{"Refuse", "Refuse against the loop"},
		{"State", "leaves another State"},
	} {
		s := Suite{ModelDelay: modelQueue(test.wrong)}
		try := trial{limiter: queue{test.wrong}, at: make([]limit.Time, 12), rand: testneeds.Rand(t, 1, 2)}
		if got := s.blocked(try) + s.twins(try); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%q: %q, want it to say %q", test.wrong, got, test.want)
		}
	}
	if got := (Suite{ModelDelay: modelQueue("")}).blocked(trial{limiter: once{}, rand: testneeds.Rand(t, 1, 2)}); got == "" {
		t.Error("a limiter without delays passes for a limit.Delayer")
	}
}

func TestPlayDelays(t *testing.T) {
	build := func(limit.Spec) (limit.Limiter, error) { return queue{}, nil }
	got, err := play("limit queue:3/s\nat 0 0 0 9\nwant\nlate", build)
	if want := "limit queue:3/s\nat    0 0   0 9\nwant  . d   d x\nlate  0 0.5 1 0"; err != nil || got != want {
		t.Errorf("got\n%s\n(%v), want\n%s", got, err, want)
	}
}
