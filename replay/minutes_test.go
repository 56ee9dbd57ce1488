package replay

import (
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// However many hours go by, the worst minute is that of a count of all of them, and few pages are open.
func TestMinutesOfACentury(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		var m minutes
		all := map[limit.Time]int64{}
		var want peak
		at := limit.Time(rapid.Int64Range(-1e18, 1e18).Draw(t, "start"))
		// More pages than may be open at once, and a random few of many refusals.
		for range 2*maxHours + 10 {
			at += limit.Hour
			m.add(at, 1)
			all[FloorTo(at, limit.Minute)]++
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			at += limit.Time(rapid.Int64Range(0, int64(3*limit.Hour)).Draw(t, "step"))
			for range rapid.IntRange(1, 3).Draw(t, "refused") {
				m.add(at, 1)
				all[FloorTo(at, limit.Minute)]++
			}
			m.close(at)
			if len(m.hours) > 50 {
				t.Fatalf("%d pages are open", len(m.hours))
			}
		}
		for start, n := range all {
			if n > want.n || n == want.n && start < want.start {
				want = peak{start, n}
			}
		}
		if got := m.worst(); got != want {
			t.Fatalf("the worst minute is %v, want %v", got, want)
		}
	})
}

// A refusal so late that its hour has been closed is not lost.
func TestMinutesCountLateRefusalsAgain(t *testing.T) {
	var m minutes
	for i := range limit.Time(maxHours + 1) {
		m.add(i*limit.Hour, 1)
	}
	const last = maxHours * limit.Hour
	m.close(last + limit.Hour)
	m.add(last, 1)
	m.add(last, 1)
	if got, want := m.worst(), (peak{last, 2}); got != want {
		t.Errorf("the worst minute is %v, want %v", got, want)
	}
}
