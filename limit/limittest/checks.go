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

// slowly is the loop of Wait and Charge.
func slowly(l limit.Limiter, s *limit.State, at []limit.Time) (refused []int32) {
	for i, t := range at {
		no := l.Wait(s, t) > 0
		l.Charge(s, t, no)
		if no {
			refused = append(refused, int32(i))
		}
	}
	return refused
}

// judge is the slow twin without its delays.
func (s Suite) judge(spec limit.Spec) Model {
	if s.ModelDelay == nil {
		return s.Model(spec)
	}
	judge := s.ModelDelay(spec)
	return func(t limit.Time, blocked bool) bool {
		refused, _ := judge(t, blocked)
		return refused
	}
}

// model: Refuse agrees with the slow twin.
func (s Suite) model(t trial) string {
	judge := s.judge(t.spec)
	var want []int32
	for i, at := range t.at {
		if judge(at, false) {
			want = append(want, int32(i))
		}
	}
	return differ("Refuse against the model", t.refuse(), want)
}

// blocked: Wait and Charge agree with the slow twin when another limit refuses some of the requests.
func (s Suite) blocked(t trial) string {
	judge := s.judge(t.spec)
	var state limit.State
	for i, at := range t.at {
		blocked := t.rand.IntN(2) == 0
		got := t.limiter.Wait(&state, at) > 0
		t.limiter.Charge(&state, at, got || blocked)
		if want := judge(at, blocked); got != want {
			return fmt.Sprintf("request %d, some of them blocked by another limit: refused %v, want %v", i, got, want)
		}
	}
	return ""
}

// twins: Refuse is the loop of Wait and Charge, in what it returns and in the State that it leaves, and it can go on
// where the loop has stopped.
func (s Suite) twins(t trial) string {
	var quick, slow limit.State
	cut := t.rand.IntN(len(t.at) + 1)
	for _, part := range [][]limit.Time{t.at[:cut], t.at[cut:]} {
		got, want := t.limiter.Refuse(nil, &quick, part), slowly(t.limiter, &slow, part)
		if !slices.Equal(got, want) {
			return differ(fmt.Sprintf("Refuse against Wait and Charge, cut at %d", cut), got, want)
		}
		if !bytes.Equal(encode(&quick), encode(&slow)) {
			return "Refuse leaves another State than Wait and Charge"
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
