package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"shadow/limit"
)

// Two limits on the same requests: 5r/s burst=5 and 60r/m burst=30. Both count what both admit, so each bucket's needs are
// known without the other. Of a rate the size is the least that all admitted requests leave room for, and the refusals that
// it explains are those that need more. The best pair is the one that explains most together:
//
//	refused              1 1 1 1 1 1 1 1
//	5/s holds 6          1 1 . . 1 . . 1
//	60/m holds 31        . . 1 1 1 1 . .      7 of 8
//
// An admitted request may need more where stamps are rounded, so few of them do not count.

// A half is one of two buckets.
type half struct {
	rate
	explains []uint64 // a bit for each refused request
}

const (
	rounded   = 500 // one in so many admitted requests may need more than a bucket of the pair holds
	pairsKept = 12
)

// pairs judges the pairs of buckets that explain most refusals.
func (s *search) pairs() {
	var halves []half
	for _, r := range simpleRates(0.5/seconds(s.span), 1000) {
		if !r.nginx {
			if h := s.half(r); h.explains != nil {
				halves = append(halves, h)
			}
		}
	}
	type pair struct{ x, y, explains int }
	var best []pair
	for x := range halves {
		for y := range halves[:x] {
			n := 0
			for i, word := range halves[x].explains {
				n += bits.OnesCount64(word | halves[y].explains[i])
			}
			if len(best) == pairsKept && n <= best[len(best)-1].explains {
				continue
			}
			best = append(best, pair{x, y, n})
			slices.SortStableFunc(best, func(p, q pair) int { return cmp.Compare(q.explains, p.explains) })
			best = best[:min(pairsKept, len(best))]
		}
	}
	for _, p := range best {
		s.tryPair(halves[p.x].rate, halves[p.y].rate)
	}
}

// half is a bucket of a rate, with the size that the admitted requests tell.
func (s *search) half(r rate) half {
	needs := make([][]float64, 2) // of the admitted and the refused
	perMicrosecond := r.perSecond / float64(limit.Second)
	for i := range s.few {
		t, level, last := &s.few[i], 0.0, s.few[i].at[0]
		for j, at := range t.at {
			level, last = max(0, level-perMicrosecond*float64(at-last)), at
			need := math.Ceil(level + 1 - perMicrosecond*float64(noise))
			if t.verdict[j] == Refused {
				needs[1] = append(needs[1], need)
				continue
			}
			needs[0] = append(needs[0], need)
			level++
		}
	}
	if len(needs[0]) == 0 {
		return half{}
	}
	slices.Sort(needs[0])
	hold := needs[0][len(needs[0])-1-len(needs[0])/rounded]
	h := half{rate: r, explains: make([]uint64, (len(needs[1])+63)/64)}
	h.size = size{low: int64(hold), high: int64(hold)}
	explains := false
	for i, need := range needs[1] {
		if need > hold {
			h.explains[i/64] |= 1 << (i % 64)
			explains = true
		}
	}
	if !explains {
		return half{}
	}
	return h
}

// tryPair judges two buckets, and those of sizes beside theirs while that is better.
func (s *search) tryPair(x, y rate) {
	judge := func(holdX, holdY int64) int64 {
		text := s.bucket(x, holdX) + "+" + s.bucket(y, holdY)
		s.try(text)
		if wrong, known := s.wrong[text]; known {
			return wrong
		}
		return math.MaxInt64
	}
	holdX, holdY := x.low, y.low
	best := judge(holdX, holdY)
	for better := true; better; {
		better = false
		for _, step := range [][2]int64{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if holdX+step[0] < 1 || holdY+step[1] < 1 {
				continue
			}
			if wrong := judge(holdX+step[0], holdY+step[1]); wrong < best {
				best, better = wrong, true
				holdX, holdY = holdX+step[0], holdY+step[1]
			}
		}
	}
}

// bucket is a bucket as the server calls it, if it is known which it is, and without delays.
func (s *search) bucket(r rate, hold int64) string {
	per := limit.FormatPeriod(r.per)
	switch {
	case s.Prefer != "nginx" || r.per != limit.Second && r.per != limit.Minute:
		return fmt.Sprintf("token:%d/%s,burst=%d", r.n, per, hold)
	case hold == 1:
		return fmt.Sprintf("nginx:%dr/%s", r.n, per[len(per)-1:])
	}
	return fmt.Sprintf("nginx:%dr/%s,burst=%d,nodelay", r.n, per[len(per)-1:], hold-1)
}
