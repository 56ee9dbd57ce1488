package suggest

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A log has up to three parts, in the order of time. A limit is chosen on the first two: it keeps the promise on both.
// The third has no say in the choice, so it can validate the one answer.

// The parts.
const (
	First = iota
	Second
	Rest
	PartCount
)

// A Part is a part of the log.
type Part struct {
	First, Last limit.Time // of its requests; both 0 without any
	Clients     who.Groups
	Requests    who.Groups
	Placements  [][]Curve // the curves of the log as it is, and then of other ways in which its requests may have lain
}

// curve is the curves of shape i, one for each placement.
func (p *Part) curve(i int) (same []*Curve) {
	for _, curves := range p.Placements {
		same = append(same, &curves[i])
	}
	return same
}

// A cuts divides batches into those of the parts of a log, as if the log were read from each cut on and what lies before
// it warmed the limits. So a request of before a cut that came too late for that, at the cut or behind it, is in no part.
type cuts struct {
	at    [PartCount]limit.Time // when each part begins; of the first that is not asked
	there [PartCount]bool
	parts [PartCount]traffic.Batch // of a batch that lies on both sides of a cut, reused
}

// part is the part in which a moment lies.
func (c *cuts) part(at limit.Time) int {
	for i := PartCount - 1; i > First; i-- {
		if c.there[i] && at >= c.at[i] {
			return i
		}
	}
	return First
}

// divide hands what lies in each part to do.
func (c *cuts) divide(b *traffic.Batch, do func(part int, b *traffic.Batch) error) error {
	whole := *b
	whole.Warm = false
	seqs := b.Sequence()
	if b.Len() == 0 {
		return do(First, &whole)
	}
	if from := c.part(slices.Min(b.At)); from == c.part(slices.Max(seqs)) {
		return do(from, &whole)
	}
	like := traffic.Columns{
		Source: b.Source != nil, Host: b.Host != nil, User: b.User != nil, Path: b.Path != nil,
		Upstream: b.Upstream != nil, Took: b.Took != nil, Marks: b.Marks != nil, Clues: b.Clues != nil,
		Origins: b.Origin != nil,
	}
	side := func(row int) int { // PartCount: none
		if p := c.part(b.At[row]); p == c.part(seqs[row]) {
			return p
		}
		return PartCount
	}
	for part := range c.parts {
		to := &c.parts[part]
		to.Refit(0, like)
		to.Reset()
		for i := 0; i < b.Len(); {
			j := i + 1
			for j < b.Len() && side(j) == side(i) {
				j++
			}
			if side(i) == part {
				to.Take(b, i, j)
			}
			i = j
		}
		to.Stamps = b.Stamps
	}
	for part := range c.parts {
		if c.parts[part].Len() == 0 {
			continue
		}
		if err := do(part, &c.parts[part]); err != nil {
			return err
		}
	}
	return nil
}
