package calibrate

import (
	"testing"

	"shadow/internal/testneeds"
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
		refused := 0
		for _, line := range all.timelines(all.Keys[0], nil) {
			for i, v := range j.judge(&line) {
				if all.Verdict[line.rows[i]] = v; v == Refused {
					refused++
				}
			}
		}
		f := all.Search(all.Keys[0], nil, Options{})
		t.Logf("%-45s %d of %d refused, %.3f %%, unseen %.3f %%: %s", text, refused, f.Requests, f.Percent, f.Unseen, f.Best.Limit)
		if 1000*f.Best.Wrong > f.Requests {
			t.Errorf("%s: %s has %d of %d wrong", text, f.Best.Limit, f.Best.Wrong, f.Requests)
		}
	}
}
