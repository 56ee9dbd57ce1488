package sweep

import (
	"math"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// A histogram counts the requests of each client by the smallest limit that admits them. The class of a client, that of
// most of its requests, is known only at the end, so by-class curves are summed up then.
//
// Every request needs a limit of 1 at least, so those that need just that are not counted: they are the others. Clients
// go by their slots, see sieve.
type histogram interface {
	grow(clients int)

	// add counts the requests of a segment by what they need.
	add(p *segment, needed []uint32)

	// most is the largest limit that a client's requests need, 0 or 1 when nothing was added for it but ones.
	most(client int32) uint32

	// eachOf tells how many requests of some clients need just a limit, from 2 on; of is one with the same class.
	eachOf(who []member, do func(of *member, need uint32, requests int64))
}

// newHistogram is the one for a kind of key; group says to which group a client belongs, nil if that is not known yet.
func newHistogram(by request.Key, group func(client int32) uint8) histogram {
	switch {
	case group != nil:
		return &grouped{of: group}
	case by.Shared():
		return new(sparse)
	}
	return new(dense)
}

// dense has a number for each limit up to the largest. Where a key belongs to one client each of them occurs: a request
// needs n only after another has needed n−1. Few clients have more than 65,535 requests that need the same limit, so two
// bytes do, with a note of each time that a count goes once around.
type dense struct {
	clients intern.PagedSlice[denseClient]
	counts  arena[uint16]
	full    map[uint64]int64 // by client and limit: how often its count has gone once around
}

type denseClient struct {
	most  uint32 // the largest limit
	block uint32 // if most > 1: counts of 1 … most, as it is quicker to count those that need 1 than to pass them by
}

func (h *dense) grow(clients int) { h.clients.Grow(clients) }

func (h *dense) add(p *segment, needed []uint32) {
	c := h.clients.At(p.client())
	most := c.most
	for _, n := range needed {
		most = max(most, n)
	}
	if most > c.most {
		h.widen(c, most)
	}
	if most < 2 {
		return
	}
	counts := h.counts.at(classFor(int(most)), c.block)
	for _, n := range needed {
		if counts[n-1]++; counts[n-1] == 0 && n > 1 {
			h.carry(p.client(), n, 1)
		}
	}
}

func (h *dense) put(client int32, need uint32, requests int64) {
	c := h.clients.At(client)
	if need > c.most {
		h.widen(c, need)
	}
	count := &h.counts.at(classFor(int(c.most)), c.block)[need-1]
	requests += int64(*count)
	*count = uint16(requests)
	if full := requests >> 16; full > 0 {
		h.carry(client, need, full)
	}
}

// widen makes room for limits up to most.
func (h *dense) widen(c *denseClient, most uint32) {
	old := c.most
	if c.most = most; most < 2 {
		return
	}
	class := classFor(int(most))
	if old < 2 {
		c.block = h.counts.take(class)
		clear(h.counts.at(class, c.block))
		return
	}
	if was := classFor(int(old)); was != class {
		block := h.counts.take(class)
		to := h.counts.at(class, block)
		clear(to[copy(to, h.counts.at(was, c.block)[:old]):])
		h.counts.give(was, c.block)
		c.block = block
	}
}

// carry notes how often a count of two bytes was full.
func (h *dense) carry(client int32, need uint32, times int64) {
	if h.full == nil {
		h.full = map[uint64]int64{}
	}
	h.full[uint64(client)<<32|uint64(need)] += times
}

func (h *dense) most(client int32) uint32 { return h.clients.At(client).most }

func (h *dense) eachOf(who []member, do func(of *member, need uint32, requests int64)) {
	for i := range who {
		of := &who[i]
		if of.slot == noSlot {
			continue
		}
		for j, n := range h.countsOf(of.slot) {
			need, requests := uint32(j+2), int64(n)
			if h.full != nil {
				requests += h.full[uint64(of.slot)<<32|uint64(need)] << 16
			}
			if requests > 0 {
				do(of, need, requests)
			}
		}
	}
}

// countsOf are the counts of a client, from the limit 2 on.
func (h *dense) countsOf(client int32) []uint16 {
	c := h.clients.At(client)
	if c.most < 2 {
		return nil
	}
	return h.counts.at(classFor(int(c.most)), c.block)[1:c.most]
}

// sparse has a number for each limit that occurs, for keys that clients share: there one request may need thousands. A
// client's counts lie unordered behind those that have been put in order, until there is no room.
type sparse struct {
	clients intern.PagedSlice[sparseClient]
	counts  arena[needCount]
}

type sparseClient struct {
	most  uint32
	block uint32 // if size > 0
	size  uint32 // counts
	class uint8
}

type needCount struct{ need, requests uint32 }

func (h *sparse) grow(clients int) { h.clients.Grow(clients) }

func (h *sparse) add(p *segment, needed []uint32) {
	for i, n := range needed {
		c := h.clients.At(p.clients[p.rows[i]])
		c.most = max(c.most, n)
		if n > 1 {
			h.push(c, needCount{n, 1})
		}
	}
}

func (h *sparse) put(client int32, need uint32, requests int64) {
	c := h.clients.At(client)
	for c.most = max(c.most, need); requests > 0; requests -= math.MaxUint32 {
		h.push(c, needCount{need, uint32(min(requests, math.MaxUint32))})
	}
}

func (h *sparse) push(c *sparseClient, n needCount) {
	if c.size == 0 {
		c.block = h.counts.take(c.class)
	}
	counts := h.counts.at(c.class, c.block)
	if int(c.size) == len(counts) {
		if c.size = merge(counts); int(c.size) > len(counts)/2 {
			counts = h.move(c)
		}
	}
	counts[c.size] = n
	c.size++
}

// move moves the counts of a client to a larger block.
func (h *sparse) move(c *sparseClient) []needCount {
	class := c.class + 2
	block := h.counts.take(class)
	to := h.counts.at(class, block)
	copy(to, h.counts.at(c.class, c.block)[:c.size])
	h.counts.give(c.class, c.block)
	c.class, c.block = class, block
	return to
}

// merge sorts counts by limit, puts those of one limit together, as far as a count has room, and returns how many are left.
func merge(counts []needCount) uint32 {
	slices.SortFunc(counts, func(x, y needCount) int { return int(int64(x.need) - int64(y.need)) })
	last := 0
	for _, c := range counts[1:] {
		if to := &counts[last]; to.need == c.need && to.requests <= math.MaxUint32-c.requests {
			to.requests += c.requests
		} else {
			last++
			counts[last] = c
		}
	}
	return uint32(last + 1)
}

func (h *sparse) most(client int32) uint32 { return h.clients.At(client).most }

func (h *sparse) eachOf(who []member, do func(of *member, need uint32, requests int64)) {
	for i := range who {
		of := &who[i]
		if of.slot == noSlot {
			continue
		}
		c := h.clients.At(of.slot)
		if c.size == 0 {
			continue
		}
		counts := slices.Clone(h.counts.at(c.class, c.block)[:c.size])
		for _, n := range counts[:merge(counts)] {
			do(of, n.need, int64(n.requests))
		}
	}
}
