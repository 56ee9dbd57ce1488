package limittest

import (
	"bytes"
	"fmt"
	"slices"

	"shadow/limit"
)

// The checks of the suite. Each returns what is wrong with a trial, or "".

// differ shows two rows of verdicts, if they differ.
func differ(what string, got, want []int32) string {
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("%s: refused %v, want %v", what, got, want)
}

// refuse is Refuse on a new key.
func (t trial) refuse() []int32 { return t.limiter.Refuse(nil, new(limit.State), t.at) }

// slowly is the loop of Wait, Charge and, if there are delays, Delay.
func slowly(dst []int32, late []limit.Delayed, l limit.Limiter, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	d, delays := l.(limit.Delayer)
	for i, t := range at {
		no, by := l.Wait(s, t) > 0, limit.Time(0)
		if no {
			dst = append(dst, int32(i))
		} else if delays {
			by = d.Delay(s, t)
		}
		if by != 0 {
			late = append(late, limit.Delayed{Index: int32(i), By: by})
		}
		l.Charge(s, t, no)
	}
	return dst, late
}

// judge is the slow twin, which delays nothing if it is a Model.
func (s Suite) judge(spec limit.Spec) DelayModel {
	if s.ModelDelay != nil {
		return s.ModelDelay(spec)
	}
	judge := s.Model(spec)
	return func(t limit.Time, blocked bool) (bool, limit.Time) { return judge(t, blocked), 0 }
}

// model: Refuse agrees with the slow twin.
func (s Suite) model(t trial) string {
	judge := s.judge(t.spec)
	var want []int32
	for i, at := range t.at {
		if refused, _ := judge(at, false); refused {
			want = append(want, int32(i))
		}
	}
	return differ("Refuse against the model", t.refuse(), want)
}

// blocked: Wait, Delay and Charge agree with the slow twin, also when another limit refuses some of the requests.
func (s Suite) blocked(t trial) string {
	judge, blocks := s.judge(t.spec), t.rand.IntN(4) > 0
	d, delays := t.limiter.(limit.Delayer)
	if s.ModelDelay != nil && !delays {
		return "there is a model with delays, and the limiter is no limit.Delayer"
	}
	var state limit.State
	for i, at := range t.at {
		blocked := blocks && t.rand.IntN(2) == 0
		refused, late := t.limiter.Wait(&state, at) > 0, limit.Time(0)
		if delays && !refused {
			before := encode(&state)
			late = d.Delay(&state, at)
			if !bytes.Equal(before, encode(&state)) {
				return fmt.Sprintf("request %d: Delay changes the State", i)
			}
		}
		t.limiter.Charge(&state, at, refused || blocked)
		wantRefused, wantLate := judge(at, blocked)
		if refused != wantRefused || s.ModelDelay != nil && !refused && late != wantLate {
			return fmt.Sprintf("request %d, blocked by another limit %v: refused %v, delayed by %d µs; want %v, %d µs",
				i, blocked, refused, late, wantRefused, wantLate)
		}
	}
	return ""
}

// twins: Refuse and RefuseAndDelay are the loop, in what they return and in the State that they leave, and they can go
// on where the loop has stopped. What was in the slices stays there.
func (s Suite) twins(t trial) string {
	var loop, quick, delayed limit.State
	d, delays := t.limiter.(limit.Delayer)
	refused, late := []int32{-7}, []limit.Delayed{{Index: -7}}
	want, wantLate := slices.Clone(refused), slices.Clone(late)
	cut := t.rand.IntN(len(t.at) + 1)
	for _, part := range [][]limit.Time{t.at[:cut], t.at[cut:]} {
		before := len(want)
		want, wantLate = slowly(want, wantLate, t.limiter, &loop, part)
		wrong := differ("Refuse against the loop", t.limiter.Refuse(nil, &quick, part), want[before:])
		if delays && wrong == "" {
			refused, late = d.RefuseAndDelay(refused, late, &delayed, part)
			wrong = differ("RefuseAndDelay against the loop", refused, want)
		}
		switch {
		case wrong != "":
			return fmt.Sprintf("cut at %d: %s", cut, wrong)
		case delays && !slices.Equal(late, wantLate):
			return fmt.Sprintf("cut at %d: RefuseAndDelay against the loop: delayed %v, want %v", cut, late, wantLate)
		case !bytes.Equal(encode(&quick), encode(&loop)) || delays && !bytes.Equal(encode(&delayed), encode(&loop)):
			return "Refuse or RefuseAndDelay leaves another State than the loop"
		}
	}
	return ""
}

// cuts: a timeline cut into pieces has the same verdicts, and what was in dst stays there.
func (s Suite) cuts(t trial) string {
	var state limit.State
	got := []int32{}
	for done := 0; done < len(t.at); {
		n := t.rand.IntN(min(8, len(t.at)-done) + 1)
		before := len(got)
		got = t.limiter.Refuse(got, &state, t.at[done:done+n])
		for i := before; i < len(got); i++ {
			got[i] += int32(done)
		}
		done += n
	}
	return differ("cut into pieces", got, t.refuse())
}

// wait: a refused request would be admitted after Wait and not a microsecond before, and asking changes nothing. A new
// key begins with its first request, so that one is charged before time goes on.
func (s Suite) wait(t trial) string {
	var state limit.State
	for i, at := range t.at {
		before := encode(&state)
		w := t.limiter.Wait(&state, at)
		if w > 0 && w < limit.Never {
			asked := state.Clone()
			if asked == (limit.State{}) {
				t.limiter.Charge(&asked, at, true)
			}
			early := limit.Time(t.rand.Int64N(int64(w)))
			for _, later := range []limit.Time{early, w - 1, w} {
				if left := t.limiter.Wait(&asked, at+later); left != w-later {
					return fmt.Sprintf("request %d waits %d µs, and %d µs later another %d", i, w, later, left)
				}
			}
		}
		if w < 0 || !bytes.Equal(before, encode(&state)) {
			return fmt.Sprintf("request %d: Wait is negative (%d) or changes the State", i, w)
		}
		t.limiter.Charge(&state, at, w > 0)
	}
	return ""
}

// back: a time before the last one counts as the last one.
func (s Suite) back(t trial) string {
	if s.OwnClock {
		return ""
	}
	forward := slices.Clone(t.at)
	for i := 1; i < len(forward); i++ {
		forward[i] = max(forward[i], forward[i-1])
	}
	return differ("time steps back", t.refuse(), t.limiter.Refuse(nil, new(limit.State), forward))
}
