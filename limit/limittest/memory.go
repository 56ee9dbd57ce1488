package limittest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"shadow/limit"
)

// The checks of what a State holds and for how long.

func encode(s *limit.State) []byte {
	b, err := s.AppendBinary(nil)
	if err != nil {
		panic(err) // AppendBinary never returns one
	}
	return b
}

// after is the part of the timeline that begins again at the moment now.
func (t trial) after(now limit.Time) []limit.Time {
	later := slices.Clone(t.at)
	for i := range later {
		later[i] += now - t.at[0]
	}
	return later
}

// horizon: a key that has been idle for Horizon may be forgotten.
func (s Suite) horizon(t trial) string {
	h := t.limiter.Horizon()
	if h == limit.Never {
		return ""
	}
	var kept limit.State
	t.limiter.Refuse(nil, &kept, t.at)
	later := t.after(slices.Max(t.at) + h + limit.Time(t.rand.IntN(2)))
	return differ("after the horizon", t.limiter.Refuse(nil, &kept, later), t.limiter.Refuse(nil, new(limit.State), later))
}

// copies: a clone and a State that was encoded and decoded go on as the original does, and the original does not
// change them.
func (s Suite) copies(t trial) string {
	cut := t.rand.IntN(len(t.at))
	var state limit.State
	t.limiter.Refuse(nil, &state, t.at[:cut])
	text := encode(&state)
	clone := state.Clone()
	decoded, rest, err := limit.DecodeState(append(text, "rest"...))
	if err != nil || string(rest) != "rest" {
		return fmt.Sprintf("decode: %v, left %q", err, rest)
	}
	want := t.limiter.Refuse(nil, &state, t.at[cut:])
	if !bytes.Equal(encode(&clone), text) || !bytes.Equal(encode(&decoded), text) {
		return "the original changes its clone, or decoding does not undo encoding"
	}
	if d := differ("clone", t.limiter.Refuse(nil, &clone, t.at[cut:]), want); d != "" {
		return d
	}
	return differ("decoded", t.limiter.Refuse(nil, &decoded, t.at[cut:]), want)
}

// allocations: a warm limiter allocates nothing, even when keys are forgotten and come back.
func (s Suite) allocations(t trial) string {
	if RaceEnabled {
		return "" // the race detector makes free lists forget at random
	}
	var state, slow limit.State
	dst, late := make([]int32, 0, len(t.at)), make([]limit.Delayed, 0, len(t.at))
	delayer, delays := t.limiter.(limit.Delayer)
	span := slices.Max(t.at) - slices.Min(t.at) + t.spec.Period
	n := testing.AllocsPerRun(50, func() {
		dst = t.limiter.Refuse(dst[:0], &state, t.at)
		for _, at := range t.at {
			t.limiter.Charge(&slow, at, t.limiter.Wait(&slow, at) > 0)
		}
		if delays {
			dst, late = delayer.RefuseAndDelay(dst[:0], late[:0], &state, t.at)
		}
		for i := range t.at {
			t.at[i] += span
		}
		state.Release()
	})
	if n > 0 {
		return fmt.Sprintf("%v allocations for %d requests", n, len(t.at))
	}
	return ""
}
