package replay_test

import (
	"testing"

	"shadow/internal/request"
	"shadow/limit"
)

const (
	second   = limit.Second
	lateness = 20 * limit.Minute
)

// at returns lines of one client, each at its own time.
func at(client string, times ...limit.Time) (lines []line) {
	for _, t := range times {
		lines = append(lines, line{at: t, client: client, action: "/", agent: "curl/8"})
	}
	return lines
}

// late returns lines that were all let in at one place, long after their time.
func late(place limit.Time, lines []line) []line {
	for i := range lines {
		lines[i].place = place
	}
	return lines
}

// After a clock was set back, or where older logs were appended, limits hold as they did before.
func TestStepBackResetsOnce(t *testing.T) {
	for name, test := range map[string]struct {
		batches [][]line
		want    string
	}{
		"a day back": {
			[][]line{
				at("c", limit.Day, limit.Day+second, limit.Day+2*second),
				late(limit.Day+lateness, at("c", 3*second, 4*second, 5*second, 6*second)),
			},
			"c@86402s c@5s c@6s",
		},
		"a day back, cut": {
			[][]line{
				at("c", limit.Day, limit.Day+second, limit.Day+2*second),
				late(limit.Day+lateness, at("c", 3*second)),
				late(limit.Day+lateness, at("c", 4*second)),
				late(limit.Day+lateness, at("c", 5*second, 6*second)),
			},
			"c@86402s c@5s c@6s",
		},
		"no more than the lateness": {
			[][]line{
				at("c", lateness, lateness+second, lateness+2*second),
				late(2*lateness+2*second, at("c", 2*second, 3*second)),
			},
			"c@1202s c@2s c@3s",
		},
		"twice": {
			[][]line{
				at("c", limit.Day, limit.Day+second),
				late(limit.Day+lateness, at("c", limit.Day/2, limit.Day/2, limit.Day/2, 0, 0, 0)),
			},
			"c@12h c@0s",
		},
		"before 1970": {
			[][]line{
				at("c", -30*second, -29*second, -28*second),
				late(lateness, at("c", -lateness-40*second, -lateness-39*second, -lateness-38*second)),
			},
			"c@-28s c@-1238s",
		},
		"others are left alone": {
			[][]line{
				append(at("c", limit.Day, limit.Day), at("d", limit.Day+second, limit.Day+second)...),
				late(limit.Day+lateness, append(at("c", 0, 0), at("d", limit.Day, limit.Day)...)),
			},
			"d@24h d@24h",
		},
	} {
		b := newBench(t, lateness, request.ByClient, "window:2/30s")
		b.judge(test.batches...)
		if got := b.verdicts(); got != test.want {
			t.Errorf("%s: refused %q, want %q", name, got, test.want)
		}
	}
}
