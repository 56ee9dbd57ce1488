package limittest

import (
	"bytes"
	"fmt"
	"slices"

	"shadow/limit"
)

// The checks of what only a limit.Delayer does: a request may be admitted and kept waiting.

// delays: Delay agrees with the slow twin, also when another limit refuses some of the requests, and RefuseAndDelay is the
// loop of Wait, Delay and Charge.
func (s Suite) delays(t trial) string {
	d, ok := t.limiter.(limit.Delayer)
	if !ok {
		if s.ModelDelay != nil {
			return "there is a model with delays, and the limiter is no limit.Delayer"
		}
		return ""
	}
	if s.ModelDelay != nil {
		if wrong := delayModel(t, d, s.ModelDelay(t.spec)); wrong != "" {
			return wrong
		}
	}
	return delayTwins(t, d)
}

// delayModel compares Delay with the slow twin.
func delayModel(t trial, d limit.Delayer, judge DelayModel) string {
	var state limit.State
	blocks := t.rand.IntN(2) == 0
	for i, at := range t.at {
		blocked := blocks && t.rand.IntN(2) == 0
		refused, late := d.Wait(&state, at) > 0, limit.Time(0)
		before := encode(&state)
		if !refused {
			late = d.Delay(&state, at)
		}
		if !bytes.Equal(before, encode(&state)) {
			return fmt.Sprintf("request %d: Delay changes the State", i)
		}
		d.Charge(&state, at, refused || blocked)
		wantRefused, wantLate := judge(at, blocked)
		if refused != wantRefused || !refused && late != wantLate {
			return fmt.Sprintf("request %d: refused %v, delayed by %d µs; want %v, %d µs", i, refused, late, wantRefused, wantLate)
		}
	}
	return ""
}

// delayTwins compares RefuseAndDelay with the loop, and with Refuse. What was in the slices stays there.
func delayTwins(t trial, d limit.Delayer) string {
	var quick, slow, without limit.State
	cut := t.rand.IntN(len(t.at) + 1)
	refused, late := []int32{-7}, []limit.Delayed{{Index: -7}}
	wantRefused, wantLate := []int32{-7}, []limit.Delayed{{Index: -7}}
	for _, part := range [][]limit.Time{t.at[:cut], t.at[cut:]} {
		refused, late = d.RefuseAndDelay(refused, late, &quick, part)
		wantRefused, wantLate = slowlyDelayed(wantRefused, wantLate, d, &slow, part)
		if wrong := differ(fmt.Sprintf("RefuseAndDelay against the loop, cut at %d", cut), refused, wantRefused); wrong != "" {
			return wrong
		}
		if !slices.Equal(late, wantLate) {
			return fmt.Sprintf("RefuseAndDelay against the loop, cut at %d: delayed %v, want %v", cut, late, wantLate)
		}
		d.Refuse(nil, &without, part)
		if state := encode(&quick); !bytes.Equal(state, encode(&slow)) || !bytes.Equal(state, encode(&without)) {
			return "RefuseAndDelay leaves another State than the loop or Refuse"
		}
	}
	return ""
}

// slowlyDelayed is the loop of Wait, Delay and Charge.
func slowlyDelayed(dst []int32, late []limit.Delayed, d limit.Delayer, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	for i, t := range at {
		no := d.Wait(s, t) > 0
		if no {
			dst = append(dst, int32(i))
		} else if by := d.Delay(s, t); by != 0 {
			late = append(late, limit.Delayed{Index: int32(i), By: by})
		}
		d.Charge(s, t, no)
	}
	return dst, late
}
