package tui

import (
	"slices"
	"time"

	"shadow/internal/tail"
)

// The history is what came in and was refused, in columns of two seconds by the clock of the machine: the sparklines.
// Each column counts how long it was watched. So a rate is right before the column is over, and after a pause.

const (
	columnTime = 2 * time.Second
	kept       = 150 // columns: five minutes
	nowColumns = 5   // that count as now
)

// A History is filled snapshot by snapshot.
type History struct {
	before *tail.Snapshot   // the latest that was taken
	begun  time.Time        // when the first was
	latest int64            // the number of the latest column
	ring   [kept + 1]column // the latest is not over
}

// A column is what happened within columnTime.
type column struct {
	number   int64 // which column it is; another one: nothing is known
	watched  time.Duration
	requests int64
	refused  []int64 // by policy
}

// Take adds what happened between the snapshot before and this one.
func (h *History) Take(g *tail.Snapshot) {
	before := h.before
	h.before = g
	if before == nil {
		h.begun = g.At
		return
	}
	h.latest = max(h.latest, int64(g.At.Sub(h.begun)/columnTime))
	c := &h.ring[h.latest%int64(len(h.ring))]
	if c.number != h.latest || c.refused == nil {
		*c = column{number: h.latest, refused: make([]int64, len(g.Policies))}
	}
	c.watched += g.At.Sub(before.At)
	c.requests += g.Requests - before.Requests
	for i := range g.Policies {
		c.refused[i] += g.Policies[i].Refused - before.Policies[i].Refused
	}
}

// column is one of the past, 0 being the latest; nil if nothing is known of it.
func (h *History) column(back int) *column {
	number := h.latest - int64(back)
	if number < 0 || back > kept {
		return nil
	}
	if c := &h.ring[number%int64(len(h.ring))]; c.number == number && c.watched > 0 {
		return c
	}
	return nil
}

// unknown is the value of a column of which nothing is known.
const unknown = -1

// values returns the values of the last n columns that are over, oldest first: in the beginning of a column a request
// more or less makes a great difference.
func (h *History) values(n int, value func(*column) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = unknown
		if c := h.column(n - i); c != nil {
			values[i] = value(c)
		}
	}
	return values
}

// peakOf is the greatest value, 0 if there is none above.
func peakOf(values []float64) float64 { return slices.Max(append([]float64{0}, values...)) }

// now adds up what happened in the latest columns.
func (h *History) now() (sum column) {
	for back := range nowColumns {
		c := h.column(back)
		if c == nil {
			continue
		}
		if sum.refused == nil {
			sum.refused = make([]int64, len(c.refused))
		}
		sum.watched += c.watched
		sum.requests += c.requests
		for i, n := range c.refused {
			sum.refused[i] += n
		}
	}
	return sum
}

// rate is in requests per second.
func (c *column) rate() float64 {
	if c.watched <= 0 {
		return 0
	}
	return float64(c.requests) / c.watched.Seconds()
}

// share is the part of the requests that a policy would have refused, unknown where there were none.
func (c *column) share(policy int) float64 {
	if c.requests == 0 || policy >= len(c.refused) {
		return unknown
	}
	return float64(c.refused[policy]) / float64(c.requests)
}
