package replay

import (
	"iter"
	"maps"
	"slices"

	"shadow/limit"
)

// Stretches count by time, in stretches of the same length from a minute up. Where there are too many, the length grows
// and what has been counted is joined. A log may hold a timestamp of another century, so only stretches in which
// something is counted are kept. The zero value has counted nothing.
type Stretches struct {
	length int                  // index into stretchLengths
	counts map[limit.Time]int64 // by the number of the stretch since the epoch
}

// mostStretches is the most stretches that are kept.
const mostStretches = 4096

// stretchLengths holds the lengths that stretches may have, each a multiple of the one before.
var stretchLengths = []limit.Time{
	limit.Minute, 5 * limit.Minute, 15 * limit.Minute, limit.Hour, 6 * limit.Hour, limit.Day,
	8 * limit.Day, 64 * limit.Day, 512 * limit.Day, 4096 * limit.Day, 32768 * limit.Day, 262144 * limit.Day,
}

// Add counts n at a moment.
func (s *Stretches) Add(at limit.Time, n int64) { s.AddStretch(at, 0, n) }

// AddStretch counts n in a stretch that others have counted in: it begins at start, and may be longer than those here.
func (s *Stretches) AddStretch(start, length limit.Time, n int64) {
	if s.counts == nil {
		s.counts = map[limit.Time]int64{}
	}
	for s.Length() < length && s.widen() {
	}
	s.counts[floorDiv(start, s.Length())] += n
	for len(s.counts) > mostStretches && s.widen() {
	}
}

// AddAll counts moments. Those that follow each other are mostly of one stretch.
func (s *Stretches) AddAll(moments []limit.Time) {
	var begin, end limit.Time // of the stretch at hand
	n := int64(0)
	for _, at := range moments {
		if at < begin || end <= at {
			if n > 0 {
				s.Add(begin, n)
			}
			begin, n = FloorTo(at, s.Length()), 0
			end = begin + s.Length()
		}
		n++
	}
	if n > 0 {
		s.Add(begin, n)
	}
}

// Empty reports whether nothing has been counted.
func (s *Stretches) Empty() bool { return len(s.counts) == 0 }

// Length returns how long each stretch is.
func (s *Stretches) Length() limit.Time { return stretchLengths[s.length] }

// All returns where stretches begin, in order, and what was counted in them.
func (s *Stretches) All() iter.Seq2[limit.Time, int64] {
	return func(yield func(limit.Time, int64) bool) {
		for _, i := range slices.Sorted(maps.Keys(s.counts)) {
			if !yield(i*s.Length(), s.counts[i]) {
				return
			}
		}
	}
}

// widen joins stretches to longer ones, if there are any.
func (s *Stretches) widen() bool {
	if s.length == len(stretchLengths)-1 {
		return false
	}
	joined := make(map[limit.Time]int64, len(s.counts))
	times := stretchLengths[s.length+1] / stretchLengths[s.length]
	for i, n := range s.counts {
		joined[floorDiv(i, times)] += n
	}
	s.length, s.counts = s.length+1, joined
	return true
}

// LongerStretch returns the least length of stretches that is at least as long and puts a span into at most so many.
func LongerStretch(length, first, last limit.Time, most int64) limit.Time {
	for _, l := range stretchLengths {
		if l >= length && int64(floorDiv(last, l)-floorDiv(first, l)) < most {
			return l
		}
	}
	return stretchLengths[len(stretchLengths)-1]
}

// floorDiv rounds down, also below 0.
func floorDiv(t, by limit.Time) limit.Time { return FloorTo(t, by) / by }
