package leaky

import (
	"errors"
	"math"

	"shadow/limit"
)

// What scripts need to know of the leaky buckets.

// Sharing implements limit.Sharer: the shares in a drop, those that a microsecond drains, and the most water with
// which a request is admitted. Ticks come together with the epoch's every drop microseconds, however many there are
// in that time.
func (l *Leaky) Sharing() (limit.Sharing, error) {
	return limit.Sharing{
		Script:  "leaky",
		Numbers: []int64{l.drop, l.drain, l.room},
		Step:    limit.Time(l.drop),
		Most:    uint64(l.room) + 2*uint64(l.drop) + uint64(l.drain), // the drain of a drop is at most a full bucket
	}, nil
}

// Sharing implements limit.Sharer: the rate, the burst and the delay as nginx counts them, −1 for a delay beyond all
// bounds; and the milliseconds in which the largest excess has gone. Zones of several bursts are not shared.
func (n *Nginx) Sharing() (limit.Sharing, error) {
	if n.max > n.burst {
		return limit.Sharing{}, errors.New("max= is for one host: in Redis its excess ends at its own burst")
	}
	delay := n.delay
	if delay == neverDelays {
		delay = -1
	}
	most := uint64(math.MaxUint64)
	if n.rate <= math.MaxInt64/(n.reach+1) && n.burst < math.MaxInt64/(2*thousand) {
		most = max(uint64(n.rate*n.reach), uint64(n.burst+thousand)*thousand)
	}
	return limit.Sharing{
		Script:  "nginx",
		Numbers: []int64{n.rate, n.burst, delay, n.reach},
		Step:    limit.Millisecond,
		Unit:    limit.Millisecond,
		Most:    most,
	}, nil
}
