package window

import (
	"testing"

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
