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
		for _, at := range timeline(r, client%8) {
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

// timeline is one client.
func timeline(r *rand.Rand, kind int) (at []limit.Time) {
	now := begin(r)
	add := func() {
		if now >= start && now < start+span {
			at = append(at, now)
		}
	}
	for end := start + span; now < end && len(at) < 1200; {
		switch kind {
		case 0, 1: // exact intervals, from time to time another one
			every := pick(r, intervals)
			for range 50 + r.IntN(300) {
				add()
				now += every
			}
		case 2: // about exact
			every := pick(r, intervals)
			for range 50 + r.IntN(200) {
				add()
				now += every + pick(r, nudges[:6])
			}
		case 3, 4: // bursts that come again at the end of a window
			first, window := now, pick(r, windows)
			for range 1 + r.IntN(40) {
				add()
				if r.IntN(3) == 0 {
					now += limit.Time(r.IntN(3000))
				}
			}
			now = max(now, first+window+pick(r, nudges))
		case 5: // by chance
			mean := float64(pick(r, windows)) / float64(1+r.IntN(20))
			for range 100 {
				add()
				now += limit.Time(r.ExpFloat64() * mean)
			}
		case 6: // floods, and pauses
			for range 100 + r.IntN(300) {
				add()
				now += limit.Time(r.IntN(40)) * limit.Millisecond / 2
			}
			now += limit.Time(r.Int64N(int64(3 * limit.Minute)))
		case 7: // beside the lines of clocks
			window := pick(r, windows)
			now += window - now%window + pick(r, nudges)
			for range 1 + r.IntN(10) {
				add()
				now += limit.Time(r.IntN(2))
			}
		}
	}
	slices.Sort(at)
	return at
}

// write prints the schedule: the microsecond since 1970, a blank, and the number of the client.
func write(w io.Writer, all []request) error {
	b := bufio.NewWriter(w)
	for _, q := range all {
		fmt.Fprintln(b, int64(q.at), q.client)
	}
	return b.Flush()
}
