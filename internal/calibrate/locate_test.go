package calibrate

import (
	"slices"
	"testing"

	"shadow/internal/testneeds"
)

// Requests go to three places. Limits hold at some of them: the search finds where.
func TestLimitsAreLocated(t *testing.T) {
	for what, c := range map[string]struct {
		limits map[int32]string // by place
		shared bool             // whether the places with one share its buckets
	}{
		"everywhere":           {map[int32]string{0: "token:5/10s", 1: "token:5/10s", 2: "token:5/10s"}, true},
		"at one place":         {map[int32]string{1: "token:3/1s,burst=8"}, false},
		"at two, for both":     {map[int32]string{0: "window:4/10s", 2: "window:4/10s"}, true},
		"at two, each another": {map[int32]string{0: "nginx:1r/s,burst=4,nodelay", 2: "fixed:9/30s"}, false},
	} {
		t.Run(what, func(t *testing.T) {
			r := testneeds.Rand(t, 18, 6)
			all := busy(r)
			all.Places = [][]int32{make([]int32, all.Len()), nil} // hosts do not matter
			for range all.At {
				all.Places[1] = append(all.Places[1], r.Int32N(3))
			}
			for place, text := range c.limits {
				j, err := newJudge(text, false)
				if err != nil {
					t.Fatal(err)
				}
				part := func(row int32) bool { return all.Places[1][row] == place }
				if c.shared {
					part = func(row int32) bool { return c.limits[all.Places[1][row]] != "" }
				}
				for _, line := range all.timelines(all.Keys[0], part) {
					for i, v := range j.judge(&line) {
						all.Verdict[line.rows[i]] = v
					}
				}
			}
			found := all.Locate(Options{})
			limits := map[int32]string{}
			for _, l := range found {
				if l.Best == nil || l.Best.Wrong > 0 {
					t.Fatalf("%v: %+v", l.Places, l.Best)
				}
				places := l.Places
				if l.Way < 0 {
					places = []int32{0, 1, 2}
				} else if l.Way != 1 {
					t.Errorf("divided by %d", l.Way)
				}
				for _, place := range places {
					limits[place] = l.Best.Limit
				}
				if shared := len(places) > 1; shared != c.shared {
					t.Errorf("%v share a limit: %t, want %t", places, shared, c.shared)
				}
			}
			for place := range int32(3) {
				if (limits[place] == "") != (c.limits[place] == "") {
					t.Errorf("at %d %q, want %q", place, limits[place], c.limits[place])
				}
			}
			if len(found) > 1 && !slices.IsSortedFunc(found, func(x, y Location) int { return int(x.Places[0] - y.Places[0]) }) {
				t.Error("the places are in no order")
			}
		})
	}
}
