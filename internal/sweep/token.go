package sweep

import (
	"math"
	"math/bits"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The token bucket of one rate, for every burst at once.
//
// Buckets of different bursts are not nested: of 1/10s, requests at 0 0 13 22 23, a burst of 1 refuses the second and the
// fourth, a burst of 2 only the last. But until a bucket refuses for the first time it lacks just what a bucket without a
// bottom lacks, the backlog: one token more for each request, and less as it refills. So the highest backlog of a key is
// the smallest burst that never refuses it.
//
// How many requests are refused is known for chosen bursts only. Their buckets have a level of their own only while it
// differs from the backlog: from the first refusal on, until both are full again.
//
// All is counted in shares, as in package bucket: a request takes token of them, a microsecond brings inflow.

// A log in whole seconds has many requests of one key at one moment. They are judged at once: a bucket admits as many as
// still fit into it.

// A tokenRate is the buckets of one rate, for every key.
type tokenRate struct {
	token  uint64 // shares in a token
	inflow uint64 // shares that a microsecond brings
	most   uint64 // shares in the largest bucket that there can be
	shared bool   // whether clients share keys

	extra uint64 // shares that a bucket holds beyond its burst: of low bounds

	bursts     []uint64                    // shares in the buckets of the chosen bursts and the extra ones, ascending
	own        []uint64                    // levels of the buckets of a key that are apart, while it is judged
	over       []uint32                    // refused requests of a segment by burst, unless clients share keys
	backlogs   intern.PagedSlice[uint64]   // by key: what its bottomless bucket lacks, in shares
	needs      intern.PagedSlice[uint32]   // by client: the smallest burst that holds the highest backlog of its keys
	aparts     intern.PagedSlice[keyApart] // by key; empty unless bursts are chosen, as refusals
	refusals   intern.PagedSlice[uint32]   // by client: the block in counts, 1 more; 0: the chosen bursts refused none
	levels     arena[uint64]
	counts     arena[uint32]    // refused requests, by burst
	class      uint8            // of blocks with a number for each burst
	levelClass uint8            // of blocks in levels
	full       map[uint64]int64 // by client and burst: how often its count has gone once around
	top        uint64           // the highest backlog of all keys, in shares
}

// A moment is requests of one key that came together.
type moment struct {
	gap      uint64 // microseconds since those before
	requests uint64
}

// A keyApart is the buckets of a key whose levels differ from its backlog.
type keyApart struct {
	block uint32 // in levels, if n > 0
	n     uint32 // buckets that lack less than the bottomless one, those of the smallest bursts
}

// newTokenRate makes the buckets of count tokens per period. Bursts that are too large for exact counting must have been
// left out.
func newTokenRate(r Rate, bursts []int64, shared bool) *tokenRate {
	g := limit.GCD(r.Count, int64(r.Per))
	t := &tokenRate{token: uint64(int64(r.Per) / g), inflow: uint64(r.Count / g), shared: shared}
	t.most = (math.MaxInt64 - t.inflow) / t.token * t.token
	for _, b := range bursts {
		t.bursts = append(t.bursts, uint64(b)*t.token)
	}
	t.class = classFor(max(1, len(bursts)))
	t.levelClass = t.class
	t.own, t.over = make([]uint64, len(bursts)), make([]uint32, len(bursts))
	return t
}

func (r *tokenRate) grow(keys, clients int) {
	r.backlogs.Grow(keys)
	r.needs.Grow(clients)
	if len(r.bursts) > 0 {
		r.aparts.Grow(keys)
		r.refusals.Grow(clients)
	}
}

// judge has the buckets of a key take in the requests of a segment.
func (r *tokenRate) judge(p *segment, moments []moment) {
	backlog, peak := r.backlogs.At(p.key), uint64(0)
	if len(r.bursts) > 0 {
		peak = r.judgeApart(p, moments, backlog)
	} else {
		level := *backlog
		for _, m := range moments {
			level = r.take(r.refill(level, m.gap), m.requests)
			peak = max(peak, level)
		}
		*backlog = level
	}
	r.reach(p, peak)
}

// judgeApart is judge where bursts are chosen. It returns the highest backlog.
func (r *tokenRate) judgeApart(p *segment, moments []moment, backlog *uint64) (peak uint64) {
	k := r.aparts.At(p.key)
	level, apart, from := *backlog, r.recall(k), 0
	for _, m := range moments {
		was, drained := level, r.drained(m.gap)
		if level -= min(level, drained); apart > 0 && level == 0 { // in this order, as few rates have any apart
			apart = 0 // no bucket lacks anything
		}
		level = r.take(level, m.requests)
		peak = max(peak, level)
		for apart < len(r.bursts) && level > r.bursts[apart] {
			r.own[apart] = was
			apart++
		}
		if apart > 0 {
			r.judgeBursts(p.rows[from:][:m.requests], p.clients, apart, drained)
		}
		from += int(m.requests)
	}
	*backlog = level
	r.keep(k, apart)
	for i, n := range r.over {
		if n > 0 {
			r.refuse(p.client(), i, n)
			r.over[i] = 0
		}
	}
	return peak
}

// recall fetches the levels of the buckets that are apart, and returns how many are.
func (r *tokenRate) recall(k *keyApart) int {
	if k.n > 0 {
		copy(r.own, r.levels.at(r.levelClass, k.block)[:k.n])
	}
	return int(k.n)
}

// keep notes the levels of the buckets that are apart.
func (r *tokenRate) keep(k *keyApart, apart int) {
	switch {
	case apart > 0 && k.n == 0:
		k.block = r.levels.take(r.levelClass)
	case apart == 0 && k.n > 0:
		r.levels.give(r.levelClass, k.block)
	}
	if k.n = uint32(apart); apart > 0 {
		copy(r.levels.at(r.levelClass, k.block), r.own[:apart])
	}
}

// reach notes the highest backlog of a segment.
func (r *tokenRate) reach(p *segment, peak uint64) {
	peak = max(peak, r.extra+r.token) - r.extra // each request takes a token of the burst
	r.top = max(r.top, peak)
	if !r.shared {
		if need := r.needs.At(p.client()); peak > uint64(*need)*r.token {
			*need = uint32(min(r.need(peak), math.MaxUint32))
		}
	}
}

// drained returns the shares that a gap brings.
func (r *tokenRate) drained(gap uint64) uint64 {
	high, low := bits.Mul64(gap, r.inflow)
	if high != 0 {
		return math.MaxUint64
	}
	return low
}

// refill returns the shares still missing after a gap.
func (r *tokenRate) refill(level, gap uint64) uint64 { return level - min(level, r.drained(gap)) }

// take returns what a bottomless bucket lacks after some requests at one moment.
func (r *tokenRate) take(level, requests uint64) uint64 {
	if level > r.most { // no bucket admits them
		return level
	}
	high, shares := bits.Mul64(requests, r.token)
	if high == 0 && shares <= r.most-level {
		return level + shares
	}
	return level + ((r.most-level)/r.token+1)*r.token
}

// judgeBursts has the buckets that are apart judge requests at one moment, before which they were drained.
func (r *tokenRate) judgeBursts(rows, clients []int32, apart int, drained uint64) {
	levels, bursts, over := r.own[:apart], r.bursts[:apart], r.over[:apart]
	requests, token := uint64(len(rows)), r.token
	if requests == 1 && !r.shared {
		for i, level := range levels {
			level -= min(level, drained)
			_, refused := bits.Sub64(bursts[i]-level, token, 0) // no branch, and no division
			levels[i] = level + token&(refused-1)
			over[i] += uint32(refused)
		}
		return
	}
	for i, level := range levels {
		level -= min(level, drained)
		admitted := min(requests, (bursts[i]-level)/token)
		levels[i] = level + admitted*token
		if !r.shared {
			over[i] += uint32(requests - admitted)
			continue
		}
		for _, row := range rows[admitted:] {
			r.refuse(clients[row], i, 1)
		}
	}
}

// refuse notes refused requests of a client.
func (r *tokenRate) refuse(client int32, burst int, n uint32) {
	block := r.refusals.At(client)
	if *block == 0 {
		*block = r.counts.take(r.class) + 1
		clear(r.counts.at(r.class, *block-1))
	}
	count := &r.counts.at(r.class, *block-1)[burst]
	if *count += n; *count < n {
		r.carry(client, burst)
	}
}

// carry notes that a count of four bytes is full.
func (r *tokenRate) carry(client int32, burst int) {
	if r.full == nil {
		r.full = map[uint64]int64{}
	}
	r.full[uint64(client)<<32|uint64(burst)]++
}

// refused returns how many requests of a client a chosen burst refused.
func (r *tokenRate) refused(client int32, burst int) int64 {
	block := *r.refusals.At(client)
	if block == 0 {
		return 0
	}
	n := int64(r.counts.at(r.class, block-1)[burst])
	if r.full != nil {
		n += r.full[uint64(client)<<32|uint64(burst)] << 32
	}
	return n
}

// need is the smallest burst that holds a backlog.
func (r *tokenRate) need(backlog uint64) int64 {
	if backlog == 0 {
		return 0
	}
	return int64((backlog-1)/r.token + 1)
}

func (r *tokenRate) release(key int32) {
	*r.backlogs.At(key) = 0
	if len(r.bursts) > 0 {
		r.keep(r.aparts.At(key), 0)
	}
}

// tokens are some rates, which share the times of their keys.
type tokens struct {
	rates   []*tokenRate
	last    intern.PagedSlice[uint64] // by key: its latest moment as an ordinal; 0: never seen
	moments []moment                  // of a segment, reused
}

func (t *tokens) grow(keys, clients int) {
	t.last.Grow(keys)
	for _, r := range t.rates {
		r.grow(keys, clients)
	}
}

func (t *tokens) judge(p *segment) {
	if p.warm {
		return // see Options.Rates
	}
	last := t.last.At(p.key)
	if *last == 0 {
		*last = ordinal(p.at[0])
	}
	moments, n := slices.Grow(t.moments[:0], len(p.at)+1)[:len(p.at)+1], 0
	clear(moments)
	for _, at := range p.at {
		now := max(*last, ordinal(at))        // a request out of order counts as the last one
		_, later := bits.Sub64(*last, now, 0) // no branch: processors guess it wrong too often
		n += int(later)
		moments[n].gap += now - *last
		moments[n].requests++
		*last = now
	}
	t.moments = moments[:n+1]
	for _, r := range t.rates {
		r.judge(p, t.moments)
	}
}

func (t *tokens) release(key int32) {
	*t.last.At(key) = 0
	for _, r := range t.rates {
		r.release(key)
	}
}

func (t *tokens) finish() {
	t.last, t.moments = intern.PagedSlice[uint64]{}, nil
	for _, r := range t.rates {
		r.finish()
	}
}

// finish keeps what is known of clients.
func (r *tokenRate) finish() {
	r.backlogs, r.aparts, r.levels = intern.PagedSlice[uint64]{}, intern.PagedSlice[keyApart]{}, arena[uint64]{}
}
