package redis

import (
	"fmt"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// Snapshots of a key's state go both ways, as lists of numbers. Scripts remember the three numbers of a limit.State
// in the same meaning, so only times have to count from the call's cell.
//
// To Redis: while it was gone, a host remembered by itself what it charged, and before that it followed all that Redis
// decided. So where a key has no other host, the host's memory is the truth.
//
// From Redis: what a host remembers lacks what other hosts have sent. So where others have been, Redis returns what
// it knew of the key before the call, and the host goes on from that. It can then compute how long a client has to
// wait, and when Redis is gone it begins with what all have sent until then.

// packedMemory is the memory of the call's host for the script: nothing if there is none, and an empty list for a key
// never seen; at, level, extra in two halves, whether the level is a time, whether the key is kept out and until
// when, and the times in the ring.
func (c *Call) packedMemory(begin limit.Time) []byte {
	if c.Memory == nil {
		return nil
	}
	s := c.Memory.Clone()
	defer s.Release()
	l := c.Limit
	until, parked := s.Parked()
	if parked {
		s.Unpark()
	} else {
		until = begin
	}
	far := func(t limit.Time) bool { return distance(t, c.At[0]) >= reach/4 } // centuries from here: the key begins again
	if *c.Memory == (limit.State{}) || far(s.At*l.unit) || far(until) {
		return packed()
	}
	level, extra, high := s.Level, s.Extra, int64(0)
	if l.level {
		level, extra, high = level-int64(begin), extra&(1<<32-1), extra>>32
	}
	list := []int64{
		int64(s.At - begin/l.unit), level, extra, high, limit.Bit(l.level), limit.Bit(parked), int64(until - begin),
	}
	for i := range s.Ring().Len() {
		list = append(list, int64(s.Ring().Nth(i)-begin))
	}
	return packed(list...)
}

// receiveSnapshot reads what Redis knew of the key: nothing if this host knows as much, 0 for a key never seen, 2 if
// an earlier snapshot may be lost; or 1, at, level, extra in two halves, whether and until when the key is kept out,
// and the times in the ring.
func (c *Call) receiveSnapshot(list []int64) error {
	switch {
	case len(list) == 0:
		return nil
	case list[0] == 0:
		c.Snapshot = new(limit.State)
		return nil
	case list[0] == 2:
		c.Resync = true
		return nil
	case len(list) < 7:
		return fmt.Errorf("redis: a state of %d numbers", len(list))
	}
	_, begin := c.Limit.split(c.At[0])
	s := &limit.State{At: limit.Time(list[1]) + begin/c.Limit.unit, Level: list[2], Extra: list[3] | list[4]<<32}
	if c.Limit.level {
		s.Level += int64(begin)
	}
	for _, n := range list[7:] {
		s.Push(limit.Time(n)+begin, limit.Never)
	}
	if list[5] == 1 {
		until := limit.Time(list[6]) + begin
		if n := s.Ring().Len(); n > 0 {
			until = max(until, s.Ring().Nth(n-1))
		}
		s.Park(until)
	}
	c.Snapshot = s
	return nil
}

// Where Redis has missed something, a host's memory goes there with its next call for the key. That
// can be much, so each key counts by itself: the memory of a key that was answered does not go there again because of
// others.
//
//	a server was found to be another one    Redis may have lost every key: it gets the memory of each again
//	a timeline was decided here             Redis lacks these requests of its key
//	the tables are others                   nothing, unless one of the above is so recent that it still matters

// acked is of which keys Redis has acknowledged all that this host remembers.
type acked struct {
	epoch   int32                    // how many times a server was found to be another one, and 1
	keys    intern.PagedSlice[int32] // the epoch in which a key was acknowledged; 0: it was not asked for yet; pending
	assumed int32                    // that of keys that were not asked for yet
}

// pending is of a key of which Redis lacks something.
const pending = -1

// has reports whether Redis has acknowledged all of a key.
func (a *acked) has(key int32) bool {
	at := *a.keys.At(key)
	if at == 0 {
		at = a.assumed
	}
	return at == a.epoch
}

// set notes whether it has.
func (a *acked) set(key int32, all bool) {
	*a.keys.At(key) = pending
	if all {
		*a.keys.At(key) = a.epoch
	}
}

// renumber forgets all keys. settled says that Redis has missed nothing of any that would still matter.
func (a *acked) renumber(settled bool) {
	a.keys, a.assumed = intern.PagedSlice[int32]{}, 0
	if settled {
		a.assumed = a.epoch
	}
}
