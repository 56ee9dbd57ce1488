package redis

import "shadow/limit"

// While Redis was gone, a host remembered by itself what it charged, and before that it followed all that Redis decided.
// So where a key has no other host, the host's memory is the truth. Scripts remember the three numbers of a limit.State in
// the same meaning, so it can go there as it is; only times have to count from the call's cell.

// seed is the memory of the call's host as the script reads it, nothing if there is none, and an empty list for a key never
// seen: at, level, extra in two halves, whether the level is a time, whether the key is kept out and until when, and the
// times in the ring.
func (c *Call) seed(cell limit.Time) []byte {
	switch {
	case c.Memory == nil:
		return nil
	case *c.Memory == limit.State{}:
		return newList(0)
	}
	s := c.Memory.Clone()
	defer s.Release()
	l, begin := c.Limit, cell*c.Limit.cell
	until, parked := s.Parked()
	if parked {
		s.Unpark()
	} else {
		until = begin
	}
	if distance(s.At*l.unit, c.At[0]) >= reach/4 || distance(until, c.At[0]) >= reach/4 {
		return newList(0) // centuries from here: a key that begins again
	}
	level, extra, high := s.Level, s.Extra, int64(0)
	if l.level {
		level, extra, high = level-int64(begin), extra&(1<<32-1), extra>>32
	}
	ring := s.Ring()
	list := newList(7 + ring.Len())
	for _, n := range []int64{int64(s.At - begin/l.unit), level, extra, high, bit(l.level), bit(parked), int64(until - begin)} {
		list = appendInt(list, n)
	}
	for i := range ring.Len() {
		list = appendInt(list, int64(ring.Nth(i)-begin))
	}
	return list
}
