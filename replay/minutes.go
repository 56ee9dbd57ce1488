package replay

import (
	"iter"
	"maps"
	"slices"

	"shadow/limit"
)

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

// Details holds the minutes and delays from which figures of a policy are found that do not add up themselves: the
// worst minute of a run is none of the worst minutes of its parts. Where several Engines judge requests of one run,
// their Details add up. The zero value is empty.
type Details struct {
	minutes minutes
	delays  delays
}

// Details returns the Details of policy i. They must not be used while the Engine is. Of a log that is longer than two
// years, Options.Minutes has all minutes kept.
func (e *Engine) Details(i int) *Details {
	c := e.candidates[i]
	return &Details{c.minutes, c.delays}
}

// Minutes returns the minutes in which requests were refused, and how many, in order.
func (d *Details) Minutes() iter.Seq2[limit.Time, int64] {
	return func(yield func(limit.Time, int64) bool) {
		for _, now := range slices.Sorted(maps.Keys(d.minutes.hours)) {
			for i, n := range d.minutes.hours[now] {
				if n > 0 && !yield(now+limit.Time(i)*limit.Minute, int64(n)) {
					return
				}
			}
		}
	}
}

// AddMinute counts n requests that were refused in a minute.
func (d *Details) AddMinute(at limit.Time, n int64) { d.minutes.add(at, uint32(n)) }

// WorstMinute returns the earliest of the minutes with the highest count.
func (d *Details) WorstMinute() (at limit.Time, refused int64) {
	p := d.minutes.worst()
	return p.start, p.n
}
