package traffic

import "slices"

// Rows are sorted by insertion, since a request is rarely far from its place. Those that are far out of order are mostly so
// in long stretches: the blocks of several inputs, each in order for itself. So where insertion proves to be a bad idea,
// the ascending runs that are there already are merged, two and two, until one is left (natural merge sort; Knuth, The
// Art of Computer Programming 3, 5.2.4).

// A rowSorter keeps its room between calls.
type rowSorter struct {
	room []int32
	ends []int // where the runs end
}

// sort sorts the rows of one timeline.
func (s *rowSorter) sort(b *Batch, rows []int32) {
	if b.insertRows(rows) {
		return
	}
	s.ends = s.ends[:0]
	for i := 1; i < len(rows); i++ {
		if b.Compare(rows[i-1], rows[i]) > 0 {
			s.ends = append(s.ends, i)
		}
	}
	s.ends = append(s.ends, len(rows))
	s.room = slices.Grow(s.room[:0], len(rows))[:len(rows)]
	from, to := rows, s.room
	for len(s.ends) > 1 {
		s.mergePairs(b, from, to)
		from, to = to, from
	}
	if len(rows) > 0 && &from[0] != &rows[0] {
		copy(rows, from)
	}
}

// insertRows sorts rows by insertion, or gives up after some effort and returns false.
func (b *Batch) insertRows(rows []int32) bool {
	budget, seq := 8*len(rows), b.Sequence()
	for i := 1; i < len(rows); i++ {
		row, j := rows[i], i
		for ; j > 0 && seq[rows[j-1]] >= seq[row] && b.Compare(rows[j-1], row) > 0; j-- {
			rows[j] = rows[j-1]
		}
		rows[j] = row
		if budget -= i - j; budget < 0 {
			return false
		}
	}
	return true
}

// mergePairs merges the first run with the second, the third with the fourth and so on.
func (s *rowSorter) mergePairs(b *Batch, from, to []int32) {
	start, pairs := 0, 0
	for i := 0; i < len(s.ends); i += 2 {
		middle := s.ends[i]
		end := middle
		if i+1 < len(s.ends) {
			end = s.ends[i+1]
		}
		b.merge(to[start:end], from[start:middle], from[middle:end])
		s.ends[pairs] = end
		pairs++
		start = end
	}
	s.ends = s.ends[:pairs]
}

// merge merges two sorted runs into dst, which is as long as both.
func (b *Batch) merge(dst, x, y []int32) {
	for len(x) > 0 && len(y) > 0 {
		if b.Compare(x[0], y[0]) <= 0 {
			dst[0], x = x[0], x[1:]
		} else {
			dst[0], y = y[0], y[1:]
		}
		dst = dst[1:]
	}
	copy(dst, x)
	copy(dst[len(x):], y)
}
