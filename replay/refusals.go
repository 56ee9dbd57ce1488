package replay

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Refusals counts the rows of a batch that policies refuse. Which rows a policy refuses comes out timeline by timeline,
// all over the batch. To look up action, bytes and minute of each right then would be a random load each, for each
// policy. So a policy only sets its bit at the row, and what the rows say is tallied in their order, once for eight
// policies:
//
//	row      0   1   2   3   4 …
//	mask     0   5   0   7   1 …     bit i: policy i refuses the row
//	tallies  by mask first: requests by minute, bytes, requests by action; then each mask counts for the policies in it
type refusals struct {
	candidates []*candidate // by bit
	masks      []uint8      // by row, and zeros up to a multiple of eight
	events     *eventWriter // nil: events are not wanted

	// What follows is zero between batches but for masks of 0, which are never read.
	byAction        []actionMasks
	bytes, upstream [1 << maskBits]int64
	byMinute        [1 << maskBits]uint32
	seen            []uint8    // the masks that occur in the minute at hand
	minute          limit.Time // its start
}

const (
	maskBits  = 8                   // policies that have their bits side by side
	halfMasks = 1 << (maskBits / 2) // masks of half as many
)

// actionMasks counts the requests of one action: by the lower half of their masks, and by the upper one. By whole masks
// it would take a kilobyte.
type actionMasks [2][halfMasks]uint32

// take has the next bits stand for policies, no more than there are bits, which are about to judge a batch. It must be
// called once with each for each batch.
func (r *refusals) take(b *traffic.Batch, candidates ...*candidate) {
	if len(r.candidates)+len(candidates) > maskBits {
		r.tally(b)
	}
	if len(r.candidates) == 0 {
		const word = 8
		r.masks = grow(r.masks[:0], (b.Len()+word-1)/word*word) // all zero
	}
	for _, c := range candidates {
		c.masks, c.bit = r.masks, 1<<len(r.candidates)
		r.candidates = append(r.candidates, c)
	}
}

// tally counts what the policies with a bit refuse of a batch, and gives their bits back.
func (r *refusals) tally(b *traffic.Batch) {
	if len(r.candidates) == 0 {
		return
	}
	for _, c := range r.candidates {
		r.byAction = grow(r.byAction, len(c.byAction))
	}
	masks := r.masks[:b.Len()]
	r.events.take(r.candidates, masks)
	r.tallyRows(b, masks)
	r.endMinute()
	r.endActions(b, masks)
	if b.Upstream != nil {
		for row, mask := range masks {
			r.upstream[mask] = sum(r.upstream[mask], b.Upstream[row])
		}
	}
	for mask := range 1 << len(r.candidates) {
		for i := range bitsOf(uint8(mask)) {
			c := r.candidates[i]
			c.did.BytesSaved, c.upstream = sum(c.did.BytesSaved, r.bytes[mask]), sum(c.upstream, r.upstream[mask])
		}
		r.bytes[mask], r.upstream[mask] = 0, 0
	}
	r.candidates = r.candidates[:0]
}

// tallyRows counts by mask. Where little is refused, it passes most rows by, eight at a time.
func (r *refusals) tallyRows(b *traffic.Batch, masks []uint8) {
	at, action, size := b.At[:len(masks)], b.Action[:len(masks)], b.Bytes[:len(masks)]
	for start := 0; start < len(masks); start += 8 {
		if binary.LittleEndian.Uint64(r.masks[start:]) == 0 {
			continue
		}
		for row := start; row < min(start+8, len(masks)); row++ {
			mask := masks[row]
			if uint64(at[row]-r.minute) >= uint64(limit.Minute) {
				r.endMinute()
				r.minute = FloorTo(at[row], limit.Minute)
			}
			if r.byMinute[mask] == 0 {
				r.seen = append(r.seen, mask)
			}
			r.byMinute[mask]++
			counts := &r.byAction[action[row]]
			counts[0][mask%halfMasks]++
			counts[1][mask/halfMasks]++
			r.bytes[mask] = sum(r.bytes[mask], size[row])
		}
	}
}

// endMinute adds the counts of the minute at hand to those of the policies.
func (r *refusals) endMinute() {
	for _, mask := range r.seen {
		for i := range bitsOf(mask) {
			r.candidates[i].minutes.add(r.minute, r.byMinute[mask])
		}
		r.byMinute[mask] = 0
	}
	r.seen = r.seen[:0]
}

// endActions adds the counts of actions to those of the policies. It looks at all actions, or at those of the rows if
// these are fewer.
func (r *refusals) endActions(b *traffic.Batch, masks []uint8) {
	if len(r.byAction) <= len(masks) {
		for action := range r.byAction {
			r.endAction(action)
		}
		return
	}
	for row, mask := range masks {
		if mask != 0 {
			r.endAction(int(b.Action[row]))
		}
	}
}

func (r *refusals) endAction(action int) {
	for half, counts := range &r.byAction[action] {
		for mask, n := range counts {
			if n == 0 {
				continue
			}
			for i := range bitsOf(uint8(mask)) {
				r.candidates[half*maskBits/2+i].byAction[action] += int64(n)
			}
		}
	}
	r.byAction[action] = actionMasks{}
}

// bitsOf yields the bits that are set in a mask.
func bitsOf(mask uint8) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(bits.TrailingZeros8(mask)) {
				return
			}
		}
	}
}
