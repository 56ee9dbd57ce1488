package calibrate

import (
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// Limits with bans, and those of libraries, are found on clients that come at every pace.
func TestLimitsOfLibrariesAreFound(t *testing.T) {
	for i, text := range []string{
		"haproxy:25/10s,cooldown=20s", "haproxy:25/10s,cooldown=20s/extend", "fixed:20/2s,align=first,cooldown=10s", "leaky:6/30s",
		"fail2ban:20/10s,bantime=1m", "window:6/30s,cooldown=30s", "window:6/30s,cooldown=10s", "token:10/s,burst=11,initial=1",
	} {
		all := busy(testneeds.Rand(t, 51, uint64(i)))
		j, err := newJudge(text, false)
		if err != nil {
			t.Fatal(err)
		}
		refused := all.decide(j)
		f := all.Search(all.Keys[0], nil, Options{})
		t.Logf("%-45s %d of %d refused, %.3f %%, unseen %.3f %%: %s", text, refused, f.Requests, f.Percent, f.Unseen, f.Best.Limit)
		if 1000*f.Best.Wrong > f.Requests {
			t.Errorf("%s: %s has %d of %d wrong", text, f.Best.Limit, f.Best.Wrong, f.Requests)
		}
	}
}

// A client that is refused from its first request on leaves nothing outside of a ban.
func TestBanOfAllRequests(t *testing.T) {
	all := []timeline{
		{rows: []int32{0, 1}, at: []limit.Time{0, limit.Second}, verdict: []Verdict{Refused, Refused}, refused: 2},
		{rows: []int32{2}, at: []limit.Time{5}, verdict: []Verdict{Passed}},
	}
	for from := range fromCount {
		some, _ := ban{limit.Minute, from}.outside(all)
		for _, one := range some {
			if len(one.at) == 0 {
				t.Errorf("from %d: a client without requests", from)
			}
		}
	}
}
