package main

import (
	"slices"
	"testing"

	"shadow/limit"
)

// A twin stands in for code that cannot be had: what is published of it, written down as slowly and plainly as can be.
// It shares nothing with the limiter that it is held against. Where not enough is published there are several, one for
// each thing that it may do.
type twin struct {
	row
	judges []func(at []limit.Time) []bool
}

var twins = []twin{
	{
		row{
			"envoy-timer-10-1s", "Envoy 1.30, local rate limit", "a twin, by its source",
			"tokens_per_fill: 10, fill_interval: 1s, max_tokens: 20", "envoy-local:10/s,burst=20", "",
		},
		one(timer(10, limit.Second, 20)),
	},
	{
		row{
			"kong-advanced-60-1m", "Kong, rate-limiting-advanced", "a twin, by its documentation",
			"limit: 60, window_size: 60, window_type: sliding", "kong:60/m,window=sliding", "",
		},
		one(sliding(60, limit.Minute, 0, 0, true)),
	},
	{
		row{
			"cloudflare-20-10s", "Cloudflare, rate limiting rules", "32 twins, by its documentation",
			"requests_per_period: 20, period: 10", "cloudflare~:20/10s", "",
		},
		cloudflare(20, 10*limit.Second),
	},
	{
		row{
			"aws-30-1m", "AWS WAF, rate-based rules", "18 twins, by its documentation",
			"Limit: 30, EvaluationWindowSec: 60", "aws~:30/1m", "",
		},
		aws(30, limit.Minute),
	},
}

func one(judge func([]limit.Time) []bool) []func([]limit.Time) []bool {
	return []func([]limit.Time) []bool{judge}
}

// timer is Envoy's onFillTimer: it adds tokens whenever it fires, here on the seconds of the clock.
func timer(fill int, every limit.Time, most int) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		tokens, next := most, start
		for _, t := range at {
			for ; next <= t; next += every {
				tokens = min(most, tokens+fill)
			}
			admitted = append(admitted, tokens > 0)
			tokens = max(0, tokens-1)
		}
		return admitted
	}
}

// between counts the times, in ascending order, from one moment on and before another.
func between(times []limit.Time, from, before limit.Time) int {
	i, _ := slices.BinarySearch(times, from)
	j, _ := slices.BinarySearch(times, before)
	return max(0, j-i)
}

// sliding adds up the requests of this window and the share of the window before that lies in the last one's length.
// Windows begin at a phase, and the counters miss what came in the time that they are late.
func sliding(most int64, window, phase, late limit.Time, all bool) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		var counted []limit.Time
		for _, t := range at {
			begin := t - (t-phase)%window
			known := t - late
			if late == 0 {
				known++ // those of this moment that came before
			}
			before := int64(between(counted, begin-window, min(begin, known)))
			now := int64(between(counted, begin, known))
			rest := int64(begin + window - t)
			ok := before*rest+(now+1)*int64(window) <= most*int64(window)
			admitted = append(admitted, ok)
			if ok || all {
				counted = append(counted, t)
			}
		}
		return admitted
	}
}

// cloudflare returns a judge for each case that its documentation leaves open: when periods begin, whether refused
// requests count, and how many seconds counters are late.
func cloudflare(most int64, period limit.Time) (all []func([]limit.Time) []bool) {
	for quarter := range limit.Time(4) {
		for late := range limit.Time(4) {
			for _, refused := range []bool{false, true} {
				all = append(all, sliding(most, period, quarter*period/4, late*limit.Second, refused))
			}
		}
	}
	return all
}

// checked refuses while the check in force has found more than there may be.
func checked(most int, window, every, phase, delay limit.Time) func([]limit.Time) []bool {
	return func(at []limit.Time) (admitted []bool) {
		for _, t := range at {
			check := t - delay
			check -= (check - phase) % every
			admitted = append(admitted, between(at, check-window, check) <= most)
		}
		return admitted
	}
}

// aws returns a judge for each case that its documents leave open: when and how often it checks, and when a finding is
// in force.
func aws(most int, window limit.Time) (all []func([]limit.Time) []bool) {
	for _, every := range []limit.Time{10, 20, 30} {
		for _, phase := range []limit.Time{0, 5} {
			for _, delay := range []limit.Time{0, 10, 20} {
				all = append(all, checked(most, window, every*limit.Second, phase*limit.Second, delay*limit.Second))
			}
		}
	}
	return all
}

// percent says how far the limit agrees with its twin; with several, with the one that it agrees with least, and most.
func (w twin) percent(t *testing.T, all []request) string {
	t.Helper()
	var least, most agreement
	for i, judge := range w.judges {
		admitted := make([]bool, len(all))
		for _, of := range byClient(all) {
			for j, is := range judge(times(all, of)) {
				admitted[of[j]] = is
			}
		}
		a, err := compare(all, w.limit, admitted)
		if err != nil {
			t.Fatal(err)
		}
		if a.refused < 25_000 || a.refused > 190_000 {
			t.Errorf("%s: %d of %d refused proves little", w.name, a.refused, a.requests)
		}
		if i == 0 || a.equal < least.equal {
			least = a
		}
		if i == 0 || a.equal > most.equal {
			most = a
		}
	}
	if len(w.judges) == 1 {
		return least.percent()
	}
	return least.percent() + " to " + most.percent()
}

// Limits whose real code cannot be run are held against their twins.
func TestTwins(t *testing.T) {
	all := schedule()
	for _, w := range twins {
		t.Run(w.name, func(t *testing.T) {
			t.Logf("%s: %s %%", w.limit, w.percent(t, all))
		})
	}
}
