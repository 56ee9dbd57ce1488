package calibrate

import (
	"math"

	"shadow/limit"
)

// What the log itself says about a limit of a given rate or period. Let the limit have counted just what the server
// admitted, and what it counts else: then each request needs a limit of some size to be admitted. The server admitted
// those that need no more than its limit has, and refused those that need more. So one pass finds the size:
//
//	          need   1   2   3   4   5   6   7   8
//	admitted       210 180  90  70  61   1   0   0
//	refused          0   0   0   0   2  95  80 300
//	                                 └─ 5: contradicted by 3 requests
//
// A wrong rate or period smears the two over each other. So of many rates the best is the one that is contradicted least.

// mostNeeded is the largest size that is found.
const mostNeeded = 1 << 20

// needs counts the requests that need a limit of each size, of those admitted and of those refused.
type needs struct{ admitted, refused []int64 }

func (n *needs) add(need float64, refused bool) {
	i := int(min(max(need, 1), mostNeeded))
	if i >= len(n.admitted) {
		n.admitted = append(n.admitted, make([]int64, i+1-len(n.admitted))...)
		n.refused = append(n.refused, make([]int64, i+1-len(n.refused))...)
	}
	if refused {
		n.refused[i]++
	} else {
		n.admitted[i]++
	}
}

// A size is one that explains the verdicts best, and those up to high do as well.
type size struct{ low, high, wrong int64 }

// best is the size that is contradicted least.
func (n *needs) best() size {
	var above int64 // admitted requests that need more
	for _, count := range n.admitted {
		above += count
	}
	s := size{wrong: math.MaxInt64}
	wrong := above
	for i := 1; i < len(n.admitted); i++ {
		wrong += n.refused[i] - n.admitted[i]
		switch {
		case wrong < s.wrong:
			s = size{int64(i), int64(i), wrong}
		case wrong == s.wrong && s.high == int64(i)-1:
			s.high = int64(i)
		}
	}
	return s
}

// noise is by how long what a bucket holds may seem to differ, as stamps are rounded to a millisecond.
const noise = 2 * limit.Millisecond

// bucketNeeds returns how many requests buckets that drain at a rate must hold. Refused ones cost nothing.
func bucketNeeds(all []timeline, perSecond float64) needs { return drained(all, perSecond, Refused) }

// delayNeeds returns the needs of the requests that a bucket admitted: which of them it kept waiting.
func delayNeeds(all []timeline, perSecond float64) needs { return drained(all, perSecond, Delayed) }

// drained are the needs of buckets, by which requests had a verdict for want of room.
func drained(all []timeline, perSecond float64, lacking Verdict) (n needs) {
	perMicrosecond := perSecond / float64(limit.Second)
	noise := perMicrosecond * float64(noise)
	for i := range all {
		t, level, last := &all[i], 0.0, all[i].at[0]
		for j, at := range t.at {
			level, last = max(0, level-perMicrosecond*float64(at-last)), at
			is := t.verdict[j]
			if is != Refused || lacking == Refused {
				n.add(math.Ceil(level+1-noise), is == lacking)
			}
			if is != Refused {
				level++
			}
		}
	}
	return n
}

// throttleNeeds returns those of vsthrottle, whose tokens come whole and count from the last request that was admitted.
func throttleNeeds(all []timeline, perSecond float64) (n needs) {
	perMicrosecond := perSecond / float64(limit.Second)
	for i := range all {
		t, missing, last := &all[i], 0.0, all[i].at[0]
		for j, at := range t.at {
			left := max(0, missing-math.Floor(perMicrosecond*float64(at-last)+1e-9))
			refused := t.verdict[j] == Refused
			if n.add(left+1, refused); !refused {
				missing, last = left+1, at
			}
		}
	}
	return n
}

// windowNeeds returns the needs of a limiter that never refuses and says how much it has counted.
func windowNeeds(all []timeline, l limit.Limiter) (n needs) {
	level := l.(limit.Leveler).Level
	for i := range all {
		t := &all[i]
		var s limit.State
		for j, at := range t.at {
			refused := t.verdict[j] == Refused
			n.add(math.Ceil(level(&s, at)+1-1e-9), refused)
			l.Charge(&s, at, refused)
		}
		s.Release()
	}
	return n
}
