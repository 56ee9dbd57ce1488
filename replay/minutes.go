package replay

import "shadow/limit"

// Minutes counts by the minute, in pages of an hour, so that a quiet year costs little. Of hours that are over only the
// worst minute is kept, once there are many, so that a century costs no more. The zero value is empty.
type minutes struct {
	hours map[limit.Time]*hour
	now   limit.Time // the hour of page
	page  *hour
	past  peak // of the hours that have been closed
}

// maxHours is the most pages that may be open, about 5 MB, before the old ones are closed.
const maxHours = 16_000

// A peak is the earliest of the minutes with the highest count.
type peak struct {
	start limit.Time
	n     int64
}

// An hour holds the counts of 60 minutes.
type hour [60]uint32

// add counts n refusals in one minute.
func (m *minutes) add(at limit.Time, n uint32) {
	now := FloorTo(at, limit.Hour)
	if m.page == nil || now != m.now {
		m.turn(now)
	}
	m.page[(at-now)/limit.Minute] += n
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

// close closes the pages of hours that were over before t, if there are many. Requests in order lie at t or later; what
// came so late that its hour is closed counts again, so only of such requests the worst minute may miss some.
func (m *minutes) close(t limit.Time) {
	if len(m.hours) <= maxHours {
		return
	}
	for now, page := range m.hours {
		if now <= t-limit.Hour {
			m.past.see(now, page)
			delete(m.hours, now)
		}
	}
	m.page = nil
}

// worst returns the earliest of the minutes with the highest count.
func (m *minutes) worst() peak {
	p := m.past
	for now, page := range m.hours {
		p.see(now, page)
	}
	return p
}

// see makes p the peak of itself and an hour.
func (p *peak) see(now limit.Time, page *hour) {
	for i, k := range page {
		at := now + limit.Time(i)*limit.Minute
		if int64(k) > p.n || int64(k) == p.n && p.n > 0 && at < p.start {
			p.start, p.n = at, int64(k)
		}
	}
}

// FloorTo returns the last multiple of step at or before t.
func FloorTo(t, step limit.Time) limit.Time {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}
