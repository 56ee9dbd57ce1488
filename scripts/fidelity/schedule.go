package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"shadow/limit"
)

// The schedule is the same whenever it is made: 200,000 requests of some 250 clients within half an hour that crosses
// midnight, with the microsecond. Clients keep to boundaries on purpose: exact intervals, a microsecond or millisecond
// more or less, bursts that come again just before, at and after the end of a window, floods, ties and long pauses.

const (
	requests = 200_000
	span     = 30 * limit.Minute

	// start is 23:45 of 1 January 2000. Go's clock for tests begins on that day.
	start = 946_684_800*limit.Second + 23*limit.Hour + 45*limit.Minute
)

// A request of the schedule.
type request struct {
	at     limit.Time
	client int
}

// windows are the lengths at whose ends clients come again.
var windows = []limit.Time{
	limit.Second, 2 * limit.Second, 10 * limit.Second, 30 * limit.Second, limit.Minute,
}

// nudges lists distances from a boundary.
var nudges = []limit.Time{0, 0, -1, 1, -limit.Millisecond, limit.Millisecond, 999, -999, 500 * limit.Millisecond}

// intervals of pollers.
var intervals = []limit.Time{
	100 * limit.Millisecond, 142_857, 200 * limit.Millisecond, 333_333, 500 * limit.Millisecond, limit.Second,
	limit.Second, 2 * limit.Second, 5 * limit.Second, 10 * limit.Second,
}

// schedule makes it, in the order of time.
func schedule() []request {
	r := rand.New(rand.NewPCG(20, 26))
	var all []request
	for client := 0; len(all) < requests+requests/20; client++ {
		for _, at := range timeline(r, kinds[client%len(kinds)]) {
			all = append(all, request{at, client})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return all[:requests]
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// begin is when a client begins: on a second or anywhere.
func begin(r *rand.Rand) limit.Time {
	at := start + limit.Time(r.Int64N(int64(span/3)))
	if r.IntN(2) == 0 {
		at -= at % limit.Second
	}
	return at
}

// A client sends its requests at times of its own.
type client struct {
	*rand.Rand
	now limit.Time
	at  []limit.Time
}

// send notes a request, if it lies within the schedule.
func (c *client) send() {
	if c.now >= start && c.now < start+span {
		c.at = append(c.at, c.now)
	}
}

// kinds lists what clients do, over and over again.
var kinds = []func(*client){
	(*client).poll, (*client).poll, (*client).pollRoughly, (*client).burst, (*client).burst, (*client).sendByChance,
	(*client).flood, (*client).sendBesideClocks,
}

// timeline returns the times of one client, in order.
func timeline(r *rand.Rand, do func(*client)) []limit.Time {
	c := &client{Rand: r, now: begin(r)}
	for end := start + span; c.now < end && len(c.at) < 1200; {
		do(c)
	}
	slices.Sort(c.at)
	return c.at
}

// poll sends in exact intervals. From time to time another one is drawn.
func (c *client) poll() {
	every := pick(c.Rand, intervals)
	for range 50 + c.IntN(300) {
		c.send()
		c.now += every
	}
}

// pollRoughly sends in intervals that are about exact.
func (c *client) pollRoughly() {
	every := pick(c.Rand, intervals)
	for range 50 + c.IntN(200) {
		c.send()
		c.now += every + pick(c.Rand, nudges[:6])
	}
}

// burst sends at once, and comes again at the end of a window.
func (c *client) burst() {
	first, window := c.now, pick(c.Rand, windows)
	for range 1 + c.IntN(40) {
		c.send()
		if c.IntN(3) == 0 {
			c.now += limit.Time(c.IntN(3000))
		}
	}
	c.now = max(c.now, first+window+pick(c.Rand, nudges))
}

// sendByChance draws each interval.
func (c *client) sendByChance() {
	mean := float64(pick(c.Rand, windows)) / float64(1+c.IntN(20))
	for range 100 {
		c.send()
		c.now += limit.Time(c.ExpFloat64() * mean)
	}
}

// flood sends a flood, and pauses.
func (c *client) flood() {
	for range 100 + c.IntN(300) {
		c.send()
		c.now += limit.Time(c.IntN(40)) * limit.Millisecond / 2
	}
	c.now += limit.Time(c.Int64N(int64(3 * limit.Minute)))
}

// sendBesideClocks sends beside the end of a window that clocks begin.
func (c *client) sendBesideClocks() {
	window := pick(c.Rand, windows)
	c.now += window - c.now%window + pick(c.Rand, nudges)
	for range 1 + c.IntN(10) {
		c.send()
		c.now += limit.Time(c.IntN(2))
	}
}

// write prints the schedule: the microsecond since 1970, a blank, and the number of the client.
func write(w io.Writer, all []request) error {
	b := bufio.NewWriter(w)
	for _, q := range all {
		fmt.Fprintln(b, int64(q.at), q.client)
	}
	return b.Flush()
}
