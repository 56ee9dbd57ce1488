package window

import (
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

func TestWeighedRolling(t *testing.T) {
	limittest.RunWeighed(t, limittest.WeighedSuite{Draw: draw, New: New, Weigh: Weigh, Model: modelWeighed})
}

func TestWeighedFixed(t *testing.T) {
	limittest.RunWeighed(t, limittest.WeighedSuite{Draw: drawFixed, New: NewFixed, Weigh: Weigh, Model: modelWeighedFixed})
}

// modelWeighedFixed counts the costs since a window opened, for as long as it lasts.
func modelWeighedFixed(s limit.Spec) limittest.WeighedModel {
	var now, opened limit.Time
	seen, admitted := false, int64(0)
	return func(t limit.Time, cost int64, blocked bool) bool {
		if seen {
			t = max(t, now)
		}
		now, seen = t, true
		ends := floor(opened, s.Period) + s.Period
		if s.Options == "align=first" {
			ends = opened + s.Period
		}
		if admitted > 0 && now >= ends {
			admitted = 0
		}
		refused := cost > 0 && admitted+cost > s.Count
		if !refused && !blocked {
			if admitted == 0 {
				opened = now
			}
			admitted += cost
		}
		return refused
	}
}

// modelWeighed keeps every admitted request forever, with its cost, and adds up those in (t−W, t].
func modelWeighed(s limit.Spec) limittest.WeighedModel {
	type admitted struct {
		at   limit.Time
		cost int64
	}
	var all []admitted
	last, seen := limit.Time(0), false
	return func(t limit.Time, cost int64, blocked bool) bool {
		if seen {
			t = max(t, last)
		}
		last, seen = t, true
		sum := cost
		for _, a := range all {
			if a.at > t-s.Period {
				sum += a.cost
			}
		}
		refused := cost > 0 && sum > s.Count
		if !refused && !blocked {
			all = append(all, admitted{t, cost})
		}
		return refused
	}
}

// Costs of up to all of a large window, and moments up to thousands of years apart, in a ring that is never empty.
func TestWeighedRollingFar(t *testing.T) {
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 3)
		spec := limit.Spec{Algorithm: "window", Count: limit.MaxRing >> r.IntN(28), Period: limit.Time(mostOff>>1-1) >> r.IntN(40)}
		l, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := Weigh(l)
		if !ok {
			t.Fatalf("%s has no costs", spec)
		}
		var state limit.State
		refuses, at := modelWeighed(spec), -limit.Time(r.Int64N(1<<62))
		for i := range 60 {
			if at += limit.Time(r.Int64N(int64(spec.Period)/3 + 2)); r.IntN(4) == 0 {
				at -= limit.Time(r.IntN(2)) // the same moment, or a late one
			}
			cost := r.Int64N(spec.Count>>r.IntN(6) + 1)
			wait := w.WaitFor(&state, at, cost)
			if refused := refuses(at, cost, false); refused != (wait > 0) {
				t.Fatalf("%s, seed %d, request %d costs %d: waits %d, refused by the model: %t", spec, seed, i, cost, wait, refused)
			}
			if wait > 0 && wait < limit.Never && (w.WaitFor(&state, at+wait-1, cost) == 0 || w.WaitFor(&state, at+wait, cost) > 0) {
				t.Fatalf("%s, seed %d, request %d costs %d: is not admitted just after %d", spec, seed, i, cost, wait)
			}
			w.ChargeFor(&state, at, cost, wait > 0)
			b, _ := state.AppendBinary(nil)
			state.Release()
			if state, _, err = limit.DecodeState(b); err != nil {
				t.Fatal(err)
			}
			if n := state.Ring().Len(); n > 29*(i+1) {
				t.Fatalf("%d numbers for %d requests", n, i+1)
			}
		}
	}
}

// What counts refused requests, counts in steps or is another server's has no costs.
func TestNoCosts(t *testing.T) {
	for _, text := range []string{
		"window:6/30s,charge=all", "window:6/30s,step=1s", "caddy:6/30s", "counter:6/30s", "haproxy:6/30s", "envoy:6/m",
	} {
		if _, ok := Weigh(must(t, text)); ok {
			t.Errorf("%s has costs", text)
		}
	}
}
