package bucket

import (
	"errors"
	"fmt"

	"shadow/limit"
)

// What scripts need to know of the buckets. Each one that is made of another says for itself whether it can be shared:
// the script of the other would not do.

// Sharing implements limit.Sharer: the shares in a token, those that a microsecond brings, those that may be missing
// from a bucket with a token in it, and the microseconds in which the emptiest bucket is full.
func (b *Token) Sharing() (limit.Sharing, error) {
	if b.initial != 0 {
		return limit.Sharing{}, fmt.Errorf("initial=%d makes it remember its keys forever; without it, it can be", b.burst-b.initial/b.token)
	}
	return limit.Sharing{
		Script:  "token",
		Numbers: []int64{b.token, b.inflow, b.room, int64(b.full)},
		Most:    uint64(b.room+b.token) + uint64(b.inflow),
	}, nil
}

// Sharing implements limit.Sharer: as for a Token, and the period, the shares in a bucket, and those that it lacks at
// most.
func (b *Debt) Sharing() (limit.Sharing, error) {
	s, err := b.Token.Sharing()
	s.Script = "debt"
	s.Numbers = append(s.Numbers, int64(b.period), b.capacity, b.deepest)
	s.Most = uint64(b.deepest) + uint64(b.inflow)
	if b.debt == boundless {
		return s, fmt.Errorf("a debt without bound takes more than 53 bits; state one, such as debt=%d", b.burst)
	}
	return s, err
}

// Sharing implements limit.Sharer: the tokens in a bucket, and the period. With a timer before these the tokens that it
// adds, and behind them how many periods fill an empty bucket.
func (b *Step) Sharing() (limit.Sharing, error) {
	switch {
	case b.own:
		return limit.Sharing{}, errors.New("refill=interval makes it remember its keys forever; with refill=step it can be")
	case b.timer:
		return limit.Sharing{
			Script:  "envoy-local",
			Numbers: []int64{b.count, b.burst, int64(b.period), int64(b.fills)},
			Step:    limit.Time(b.period),
			Most:    max(2*b.period, uint64(b.burst)+uint64(b.count)),
		}, nil
	case b.initial != 0:
		return limit.Sharing{}, fmt.Errorf("initial=%d makes it remember its keys forever; without it, it can be", b.burst-b.initial)
	}
	numbers := []int64{b.burst, int64(b.period)}
	return limit.Sharing{Script: "step", Numbers: numbers, Most: max(uint64(b.burst), 2*b.period)}, nil
}

// Sharing implements limit.Sharer.
func (b *Traefik) Sharing() (limit.Sharing, error) {
	return limit.Sharing{
		Script:  "traefik",
		Numbers: []int64{b.token, b.inflow, b.room, int64(b.full), b.capacity, int64(b.age)},
		Step:    limit.Second,
		Most:    uint64(b.room+b.token) + uint64(b.inflow),
	}, nil
}
