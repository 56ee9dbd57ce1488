package ingest

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
)

// A night stops at a whole minute, so that none is in two nights, and a clock that is ahead in a log does not move it beyond the
// clock of this machine.
func TestNightStops(t *testing.T) {
	second := limit.Second
	for _, c := range []struct {
		name              string
		marks             []limit.Time
		now, before, want limit.Time
	}{
		{"inside a minute", []limit.Time{noon + 200*second}, traffic.MaxTime, traffic.MinTime, noon + 180*second},
		{"at a minute", []limit.Time{noon + 190*second}, traffic.MaxTime, traffic.MinTime, noon + 180*second},
		{"a microsecond before one", []limit.Time{noon + 190*second - 1}, traffic.MaxTime, traffic.MinTime, noon + 120*second},
		{"before 1970", []limit.Time{-45 * second}, traffic.MaxTime, traffic.MinTime, -60 * second},
		{"the log that is ahead of others", []limit.Time{noon, noon + 200*second}, traffic.MaxTime, traffic.MinTime, noon + 180*second},
		{"a clock that is ahead", []limit.Time{noon + limit.Day}, noon + 75*second, traffic.MinTime, noon + 60*second},
		{"what was judged before", []limit.Time{noon}, traffic.MaxTime, noon + 7*second, noon + 7*second},
	} {
		r := &Reader{options: Options{Lateness: 10 * second, Resume: &Resume{Now: c.now}}, pending: pending{watermark: c.before}}
		for _, mark := range c.marks {
			r.logs = append(r.logs, &progress{reached: mark})
		}
		if got := r.stop(); got != c.want {
			t.Errorf("%s: stops at noon%+d µs, want noon%+d µs", c.name, got-noon, c.want-noon)
		}
	}
}
