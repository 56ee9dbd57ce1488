package suggest

import (
	"maps"
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// A Clock is an Observer that counts requests by the second, to find where to cut a log in two.
type Clock struct {
	seconds  map[limit.Time]int64
	requests int64
}

// Observe implements replay.Observer.
func (c *Clock) Observe(b *traffic.Batch, _ []replay.Verdicts) error {
	if c.seconds == nil {
		c.seconds = map[limit.Time]int64{}
	}
	n := int64(0) // requests of one second, as most follow those of the same
	for i, at := range b.At {
		second := at - ((at%limit.Second)+limit.Second)%limit.Second
		if n++; i+1 == b.Len() || b.At[i+1] < second || b.At[i+1] >= second+limit.Second {
			c.seconds[second] += n
			n = 0
		}
	}
	c.requests += int64(b.Len())
	return nil
}

// Cut is the earliest second from which on at most a share of the requests come; false if that leaves one part empty. It goes by
// requests and not by hours, so that a log with a silent month in it has two parts as well.
func (c *Clock) Cut(rest Percent) (cut limit.Time, ok bool) {
	most, after := rest.Of(c.requests), int64(0)
	seconds := slices.Sorted(maps.Keys(c.seconds))
	for i := len(seconds) - 1; i > 0; i-- {
		if after += c.seconds[seconds[i]]; after > most {
			break
		}
		cut, ok = seconds[i], true
	}
	return cut, ok
}
