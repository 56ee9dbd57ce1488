package suggest

import (
	"maps"
	"slices"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// How much does one page take? A browser asks for the page, and at once for all that it is made of. A limit that has no
// room for these breaks pages however kind its rate is.
//
// A load begins with a GET for something else than a file of a page, answered with a status from 200 to 399 if the log
// tells it: what a script of a page asks for may begin one, too, since a load cannot wait for what comes later. To it
// belongs what the client asks for within loadTime, up to the next beginning; a further one within sameLoad (a redirect,
// a frame) is part of it.

const (
	loadTime = 10 * limit.Second
	sameLoad = limit.Second

	visitEnds = 30 * limit.Minute // who comes back later begins another visit
)

// Loads counts the requests that the page loads of some clients took, by nearest rank.
type Loads struct {
	Count         int64      // page loads
	P50, P95, P99 int64      // requests
	Gap           limit.Time // half of the gaps between loads of one visit are not longer
}

// A LoadCounter takes in batches, which must have Clues, and counts page loads.
type LoadCounter struct {
	Tables *traffic.Tables
	Labels who.Identities
	Who    who.Set // whose loads
	Action string  // count requests of this action only; "" for all

	group   traffic.Group
	clients intern.PagedSlice[load]
	sizes   map[int64]int64 // page loads by how many requests they took
	gaps    map[int64]int64 // between the beginnings of page loads, in seconds
}

// A load is one that may go on. Without requests it may still be one: of an action that the page itself is not of.
type load struct {
	began    limit.Time
	open     bool
	requests int64
}

// Take takes in the requests of a batch.
func (c *LoadCounter) Take(b *traffic.Batch) {
	if c.sizes == nil {
		c.sizes, c.gaps = map[int64]int64{}, map[int64]int64{}
	}
	n := c.Tables.Clients.Len()
	c.group.Sort(b, b.Client, n)
	c.clients.Grow(n)
	action := match.FindActions(c.Tables.Actions, c.Action)
	wanted := func(row int32) bool { return c.Action == "" || action.Has(b.Action[row]) }
	c.group.Each(func(client, row int32, at limit.Time) {
		if c.Who.Has(c.Labels.Of(client)) {
			c.add(c.clients.At(client), at, isPage(b, row), wanted(row))
		}
	})
}

// add takes in a request.
func (c *LoadCounter) add(l *load, at limit.Time, page, wanted bool) {
	if page && (!l.open || at-l.began > sameLoad) || l.open && at-l.began > loadTime {
		c.close(l)
		if gap := at - l.began; page && l.began != 0 && gap <= visitEnds {
			c.gaps[int64(gap/limit.Second)]++
		}
		if page {
			l.began = at
		}
		l.open, l.requests = page, 0
	}
	if l.open && wanted {
		l.requests++
	}
}

func (c *LoadCounter) close(l *load) {
	if l.requests > 0 {
		c.sizes[l.requests]++
	}
}

func isPage(b *traffic.Batch, row int32) bool {
	status := b.Status[row]
	return b.Clues[row].Traits.Has(traffic.Stepped|traffic.Asked) && (status == 0 || 200 <= status && status < 400)
}

// Result closes all loads.
func (c *LoadCounter) Result() (r Loads) {
	for id := range int32(c.clients.Len()) {
		c.close(c.clients.At(id))
		*c.clients.At(id) = load{}
	}
	for _, n := range c.sizes {
		r.Count += n
	}
	r.P50, r.P95, r.P99 = rank(c.sizes, 50), rank(c.sizes, 95), rank(c.sizes, 99)
	r.Gap = limit.Time(rank(c.gaps, 50)) * limit.Second
	return r
}

// rank returns the nearest rank of a share, in percent, of values with their counts.
func rank(counts map[int64]int64, percent int64) int64 {
	var all, passed int64
	for _, n := range counts {
		all += n
	}
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		if passed += counts[value]; passed*100 >= all*percent {
			return value
		}
	}
	return 0
}
