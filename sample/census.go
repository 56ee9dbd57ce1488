package sample

import (
	"net/netip"

	"shadow/parse"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/intern"
)

// A Census counts, of all clients, what is known without a verdict. These figures are exact. They also tell how large
// what is not known can be.
type Census struct {
	Tables *traffic.Tables
	traffic.Tallies

	bytes    intern.PagedSlice[int64] // that each client was answered with, by client id
	upstream intern.PagedSlice[int64] // microseconds that upstreams spent on each client's requests
	timed    bool                     // whether the log tells of upstreams
	classes  []request.Class          // by agent id
}

// Count takes in a batch. What only warms limits counts nowhere.
func (c *Census) Count(b *traffic.Batch) {
	if b.Warm {
		return
	}
	c.Grow(c.Tables)
	n := c.Tables.Clients.Len()
	c.bytes.Grow(n)
	for id := len(c.classes); id < c.Tables.Agents.Len(); id++ {
		c.classes = append(c.classes, c.Tables.Agents.Class(int32(id)))
	}
	c.Requests += int64(b.Len())
	for row, client := range b.Client {
		c.Clients.At(client).ByClass[c.classes[b.Agent[row]]]++
		*c.bytes.At(client) += max(0, b.Bytes[row])
	}
	for _, id := range b.Action {
		c.Actions[id]++
	}
	if b.Upstream == nil {
		return
	}
	c.timed = true
	c.upstream.Grow(n)
	for row, client := range b.Client {
		*c.upstream.At(client) += b.Upstream[row]
	}
}

// units puts the clients into units: each is one, and of is nil, or all of a network are. It returns the unit of each
// client, and the names of the units; nil of clients.
func (c *Census) units(by request.Part) (of []int32, names []string) {
	n := c.Clients.Len()
	if by.Kind != request.PartNetwork {
		return nil, nil
	}
	of, names = make([]int32, n), make([]string, 0, n)
	known := map[string]int32{}
	for id := range of {
		name := c.Tables.Clients.Name(int32(id))
		if network := networkOf(name, by); network != "" {
			if unit, met := known[network]; met {
				of[id] = unit
				continue
			}
			name = network
			known[name] = int32(len(names))
		}
		of[id], names = int32(len(names)), append(names, name)
	}
	return of, names
}

// networkOf is the network of a client, "" if it stays alone.
func networkOf(client string, by request.Part) string {
	addr, ok := parse.Addr([]byte(client))
	if !ok {
		return ""
	}
	bits := by.Bits(addr.Is4())
	if bits == 0 {
		return ""
	}
	if prefix, err := addr.Prefix(bits); err == nil {
		return netip.PrefixFrom(prefix.Addr(), bits).String()
	}
	return ""
}
