package sweep

import (
	"math"
	"math/bits"

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

// A tokenRate is the buckets of one rate, for every key.
type tokenRate struct {
	token  uint64 // shares in a token
	inflow uint64 // shares that a microsecond brings
	most   uint64 // shares in the largest bucket that there can be
	shared bool   // whether clients share keys

	extra uint64 // shares that a bucket holds beyond its burst: of low bounds

	bursts     []uint64 // shares in the buckets of the chosen bursts and the extra ones, ascending
	keys       intern.PagedSlice[keyBacklog]
	peaks      intern.PagedSlice[clientPeak]
	levels     arena[uint64]
	counts     arena[uint32]
	class      uint8            // of blocks with a number for each burst
	levelClass uint8            // of blocks in levels
	full       map[uint64]int64 // by client and burst: how often its count has gone once around
	top        uint64           // the highest backlog of all keys, in shares
}

// A keyBacklog is what the bottomless bucket of a key lacks, in shares.
type keyBacklog struct {
	level uint64
	block uint32 // in levels, if apart
	apart bool   // whether some bucket lacks less
}

// A clientPeak is what is known of a client at the end.
type clientPeak struct {
	need  uint32 // the smallest burst that holds the highest backlog of its keys
	block uint32 // in counts, 1 more: refused requests by burst; 0: the chosen bursts refused none
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
	return t
}

func (r *tokenRate) grow(keys, clients int) {
	r.keys.Grow(keys)
	r.peaks.Grow(clients)
}

// judge has the buckets of a key take in the requests of a segment, which came so many microseconds one after the other.
func (r *tokenRate) judge(p *segment, gaps []uint64) {
	k := r.keys.At(p.key)
	level, peak := k.level, uint64(0)
	for _, gap := range gaps {
		if level = r.refill(level, gap); level <= r.most { // beyond, no bucket admits it
			level += r.token
		}
		peak = max(peak, level)
	}
	if k.apart || len(r.bursts) > 0 && peak > r.bursts[0] {
		r.judgeBursts(p, k, gaps, level, peak)
	}
	k.level = level
	r.reach(p, peak)
}

// reach notes the highest backlog of a segment.
func (r *tokenRate) reach(p *segment, peak uint64) {
	peak = max(peak, r.extra+r.token) - r.extra // each request takes a token of the burst
	r.top = max(r.top, peak)
	if !r.shared {
		if c := r.peaks.At(p.client()); peak > uint64(c.need)*r.token {
			c.need = uint32(min(r.need(peak), math.MaxUint32))
		}
	}
}

// refill returns the shares still missing after a gap.
func (r *tokenRate) refill(level, gap uint64) uint64 {
	high, low := bits.Mul64(gap, r.inflow)
	if high != 0 || low >= level {
		return 0
	}
	return level - low
}

// judgeBursts has the chosen buckets judge a segment, in which the backlog goes from that of k to level by way of peak.
func (r *tokenRate) judgeBursts(p *segment, k *keyBacklog, gaps []uint64, level, peak uint64) {
	if !k.apart {
		k.block, k.apart = r.levels.take(r.levelClass), true
		for i := range r.bursts {
			r.levels.at(r.levelClass, k.block)[i] = k.level
		}
	}
	levels, apart := r.levels.at(r.levelClass, k.block), false
	for i, burst := range r.bursts {
		if levels[i] == k.level && peak <= burst {
			levels[i] = level
			continue
		}
		levels[i] = r.judgeBurst(p, gaps, i, levels[i])
		apart = apart || levels[i] != level
	}
	if !apart {
		r.levels.give(r.levelClass, k.block)
		k.apart = false
	}
}

// judgeBurst has one bucket judge a segment and returns what it lacks then.
func (r *tokenRate) judgeBurst(p *segment, gaps []uint64, i int, level uint64) uint64 {
	room, refused := r.bursts[i]-r.token, uint32(0)
	for j, gap := range gaps {
		if level = r.refill(level, gap); level <= room {
			level += r.token
			continue
		}
		refused++
		if r.shared {
			r.refuse(p.clients[p.rows[j]], i, 1)
		}
	}
	if refused > 0 && !r.shared {
		r.refuse(p.client(), i, refused)
	}
	return level
}

// refuse notes refused requests of a client.
func (r *tokenRate) refuse(client int32, burst int, n uint32) {
	c := r.peaks.At(client)
	if c.block == 0 {
		c.block = r.counts.take(r.class) + 1
		clear(r.counts.at(r.class, c.block-1))
	}
	count := &r.counts.at(r.class, c.block-1)[burst]
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
	c := r.peaks.At(client)
	if c.block == 0 {
		return 0
	}
	return int64(r.counts.at(r.class, c.block-1)[burst]) + r.full[uint64(client)<<32|uint64(burst)]<<32
}

// need is the smallest burst that holds a backlog.
func (r *tokenRate) need(backlog uint64) int64 {
	if backlog == 0 {
		return 0
	}
	return int64((backlog-1)/r.token + 1)
}

func (r *tokenRate) release(key int32) {
	k := r.keys.At(key)
	if k.apart {
		r.levels.give(r.levelClass, k.block)
	}
	*k = keyBacklog{}
}

// tokens are some rates, which share the times of their keys.
type tokens struct {
	rates []*tokenRate
	last  intern.PagedSlice[uint64] // by key: its latest moment as an ordinal; 0: never seen
	gaps  []uint64                  // microseconds between the requests of a segment, reused
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
	t.gaps = t.gaps[:0]
	for _, at := range p.at {
		now := max(*last, ordinal(at)) // a request out of order counts as the last one
		t.gaps = append(t.gaps, now-*last)
		*last = now
	}
	for _, r := range t.rates {
		r.judge(p, t.gaps)
	}
}

func (t *tokens) release(key int32) {
	*t.last.At(key) = 0
	for _, r := range t.rates {
		r.release(key)
	}
}

func (t *tokens) finish() {
	t.last, t.gaps = intern.PagedSlice[uint64]{}, nil
	for _, r := range t.rates {
		r.finish()
	}
}

// finish keeps what is known of clients.
func (r *tokenRate) finish() { r.keys, r.levels = intern.PagedSlice[keyBacklog]{}, arena[uint64]{} }
