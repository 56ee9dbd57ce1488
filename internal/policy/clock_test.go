package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/limit/limittest"
)

// A limit with a clock is the limit that is told the time of the clock's last tick.
func TestClock(t *testing.T) {
	for _, a := range Algorithms {
		if a.Name == "nginx" || a.Name == "traefik" || a.Name == "conn" || strings.HasSuffix(a.Name, "~") {
			continue // it takes no clock
		}
		for _, options := range []string{"", "cooldown=1500ms,", "cooldown=1500ms/extend,"} {
			t.Run(a.Name+":"+options, func(t *testing.T) { limittest.Run(t, clockSuite(a.Name, options)) })
		}
	}
}

func clockSuite(algorithm, options string) limittest.Suite {
	return limittest.Suite{
		Draw: func(r *rand.Rand) limit.Spec {
			period := []limit.Time{limit.Second, limit.Minute}[r.IntN(2)]
			tick := limit.Time(1 + r.Int64N(int64(period)))
			return limit.Spec{
				Algorithm: algorithm, Count: 1 + r.Int64N(8), Period: period,
				Options: options + "clock=" + limit.FormatPeriod(tick),
			}
		},
		New: newLimiter, OwnClock: ownClock[algorithm],
		Model: func(spec limit.Spec) limittest.Model {
			rest, value, _ := CutOption(spec, "clock")
			tick, _ := limit.ParsePeriod(value)
			inner, err := newLimiter(rest)
			if err != nil {
				panic(err)
			}
			var s limit.State
			return func(t limit.Time, blocked bool) bool {
				ticks := t / tick
				if ticks*tick > t {
					ticks--
				}
				refused := inner.Wait(&s, ticks*tick) > 0
				inner.Charge(&s, ticks*tick, refused || blocked)
				return refused
			}
		},
	}
}

func TestClockErrors(t *testing.T) {
	for text, want := range map[string]string{
		"fixed:6/30s,clock=x":     `clock wants a length of time, such as clock=100ms, not "x"`,
		"fixed:6/30s,clock=0s":    "clock wants a length of time",
		"nginx:10r/s,clock=1s":    "neither delay nor approximate",
		"aws~:100/5m,clock=1s":    "neither delay nor approximate",
		"caddy:6/30s,clok=1s":     `did you mean "clock"`,
		"fixed:6/30s,clock=1s,x":  `unknown option "x"`,
		"conn:8,clock=1s":         "under way goes without clock=1s",
		"conn:8,cooldown=1s":      "under way goes without cooldown=1s",
		"traefik:6/30s,clock=1ms": "neither delay nor approximate",
	} {
		if _, err := ParseLimits([]string{text}, request.ByClient); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
}

func TestClockScripts(t *testing.T) { limittest.Script(t, "testdata/clock.txt", newLimiter) }
