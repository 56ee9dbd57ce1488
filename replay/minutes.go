package replay

import "shadow/limit"

// Minutes counts by the minute, in pages of an hour, so that a quiet year costs little. The zero value is empty.
type minutes struct {
	hours map[limit.Time]*hour
	now   limit.Time // the hour of page
	page  *hour
}

// An hour holds the counts of 60 minutes.
type hour [60]uint32

// add counts one refusal.
func (m *minutes) add(at limit.Time) {
	now := floorTo(at, limit.Hour)
	if m.page == nil || now != m.now {
		m.turn(now)
	}
	m.page[(at-now)/limit.Minute]++
}

// turn opens the page of an hour.
func (m *minutes) turn(now limit.Time) {
	if m.hours == nil {
		m.hours = map[limit.Time]*hour{}
	}
	m.now, m.page = now, m.hours[now]
	if m.page == nil {
		m.page = new(hour)
		m.hours[now] = m.page
	}
}

// worst is the earliest of the minutes with the highest count.
func (m *minutes) worst() (start limit.Time, n int64) {
	for now, page := range m.hours {
		for i, k := range page {
			at := now + limit.Time(i)*limit.Minute
			if int64(k) > n || int64(k) == n && n > 0 && at < start {
				start, n = at, int64(k)
			}
		}
	}
	return start, n
}

// floorTo is the last multiple of step at or before t.
func floorTo(t, step limit.Time) limit.Time {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}
