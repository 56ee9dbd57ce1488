package redis

import (
	"fmt"

	"shadow/limit"
)

// What a host remembers by itself follows every verdict, but it lacks what other hosts have sent. So where others have been,
// Redis tells what it knew of the key before the call, and the host goes on from that: it can then say how long a client has to
// wait, and when Redis is gone it begins with what all have sent until then. This is the way back of seed.go.

// receiveTold reads what Redis knew of the key.
func (c *Call) receiveTold(list any) error {
	items, err := numbersOf(list)
	if err != nil || len(items) == 0 {
		return err
	}
	numbers := make([]int64, len(items))
	for i := range items {
		numbers[i], _ = items[i].(int64)
	}
	switch {
	case numbers[0] == 0:
		c.Told = new(limit.State)
	case numbers[0] == 2:
		c.Missed = true
	case len(numbers) < 7:
		return fmt.Errorf("share: a state of %d numbers", len(numbers))
	default:
		c.Told = c.state(numbers[1:])
	}
	return nil
}

// state is the State of at, level, extra in two halves, whether and until when the key is kept out, and the times in the ring.
func (c *Call) state(numbers []int64) *limit.State {
	cell, _ := c.Limit.split(c.At[0])
	begin := cell * c.Limit.cell
	s := &limit.State{At: limit.Time(numbers[0]) + begin/c.Limit.unit, Level: numbers[1], Extra: numbers[2] | numbers[3]<<32}
	if c.Limit.level {
		s.Level += int64(begin)
	}
	for _, n := range numbers[6:] {
		s.Push(limit.Time(n)+begin, limit.Never)
	}
	if numbers[4] == 1 {
		until := limit.Time(numbers[5]) + begin
		if n := s.Ring().Len(); n > 0 {
			until = max(until, s.Ring().Nth(n-1))
		}
		s.Park(until)
	}
	return s
}
