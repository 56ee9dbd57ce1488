package replay

import (
	"math"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// What would a limit have had to be for a client? Which single request a larger bucket would admit says little: what
// token buckets admit is not nested (of 0 0 13 22 23, 1/10s refuses the second and the fourth, and with a burst of 2 it
// refuses the fifth alone). Whether it refuses anything at all is another matter. As long as a limit refuses nothing, a
// larger number changes nothing, so what is enough for the requests up to some moment stays enough as it grows: there is
// a smallest one. For a token bucket it is the peak of the backlog that the requests would have without any limit.
//
// A policy of several limits refuses nothing up to some moment just when none of them would alone.

// A MinLimit finds the smallest numbers with which one limit never refuses a client.
type MinLimit struct {
	part     policy.Part
	pieces   []piece // of the requests, each longer than those before it
	tables   *traffic.Tables
	lateness limit.Time
	cost     int64           // of all requests together, or more than any number can be
	first    map[int64]int32 // by number: the first row refused
}

// MinLimit returns a MinLimit for a limit that must not be shared, and the first n requests.
func (g *ClientLog) MinLimit(p policy.Part, n int, lateness limit.Time) *MinLimit {
	batch := g.batch(n)
	need := &MinLimit{part: p, tables: g.Tables, lateness: lateness, first: map[int64]int32{}}
	costs := match.NewCosts(p.Costs, g.Tables)
	for row := range n {
		cost, marks := int64(1), uint64(0)
		if batch.Marks != nil {
			marks = batch.Marks[row]
		}
		if p.Costs != nil {
			cost = costs.At(batch, int32(row), marks)
		}
		need.cost = sum(need.cost, cost)
	}
	need.cost = min(need.cost, math.MaxInt64/8)
	for first := 0; first < n; {
		rows := batch.Rows(first, min(n, 2*first+shortest))
		sorted := traffic.Timelines{By: p.By}
		sorted.Take(rows, g.Tables)
		need.pieces = append(need.pieces, piece{rows, &sorted, int32(first)})
		first += rows.Len()
	}
	return need
}

// A piece is some of the requests, sorted once for all numbers. Most numbers refuse one of the first already.
type piece struct {
	*traffic.Batch
	sorted *traffic.Timelines
	first  int32 // its first row, among all
}

// shortest is the length of the first piece.
const shortest = 16

// nothingRefused is the first row refused when none is.
const nothingRefused = math.MaxInt32

// UpTo returns the smallest number, not less than at least, with which no request up to and including row is refused;
// false if there is none. Enough is always one that leaves room for every request; where that one refuses something, as
// a bucket that starts nearly empty does, none helps.
func (n *MinLimit) UpTo(row int32, least int64) (int64, bool) {
	enough := func(number int64) bool { return n.firstRefused(number) > row }
	if enough(least) {
		return least, true
	}
	low, step := least, int64(1) // low is not enough
	for !enough(low + step) {
		if step > 4*n.cost+4 {
			return 0, false
		}
		low, step = low+step, 2*step
	}
	for high := low + step; ; {
		middle := low + (high-low)/2
		switch {
		case middle == low:
			return high, true
		case enough(middle):
			high = middle
		default:
			low = middle
		}
	}
}

// firstRefused returns the first row that the limit refuses with some number. One that it cannot have refuses all.
func (n *MinLimit) firstRefused(number int64) int32 {
	if row, known := n.first[number]; known {
		return row
	}
	row := int32(0)
	if part, err := n.part.WithNumber(number); err == nil {
		row = n.alone(part)
	}
	n.first[number] = row
	return row
}

// alone returns the first row that a limit refuses.
func (n *MinLimit) alone(part policy.Part) int32 {
	refused := firstRefusal{row: nothingRefused}
	var sorted *traffic.Timelines
	e := New(Options{
		Tables: n.tables, Policies: []policy.Policy{{Parts: []policy.Part{part}}}, Lateness: n.lateness, Observer: &refused,
		Bare: true, Sorted: func(request.Key) *traffic.Timelines { return sorted },
	})
	for _, p := range n.pieces {
		sorted = p.sorted
		_ = e.Judge(p.Batch) // neither has anything to complain about
		if refused.row != nothingRefused {
			return p.first + refused.row
		}
	}
	return nothingRefused
}

// A firstRefusal is an Observer that finds the first row refused.
type firstRefusal struct{ row int32 }

func (f *firstRefusal) Observe(_ *traffic.Batch, verdicts []Verdicts) error {
	for _, row := range verdicts[0].Refused {
		f.row = min(f.row, row)
	}
	return nil
}
