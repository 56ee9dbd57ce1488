package traffic

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"net/netip"

	"shadow/parse"
	"shadow/request"
	"shadow/traffic/intern"
)

// Timelines sort batches by one key.
type Timelines struct {
	Group
	By     request.Key
	Column []int32 // the key of each row of the batch
	Len    int     // how many keys there are

	who      []int32  // the column of By without its action, reused
	senders  pairs    // client and agent or path, or user
	actions  pairs    // who, and the action
	networks networks // of clients
}

// Take makes the group the timelines of the batch.
func (l *Timelines) Take(b *Batch, t *Tables) {
	l.fill(b, t)
	l.Sort(b, l.Column, l.Len)
}

// fill makes the column of keys.
func (l *Timelines) fill(b *Batch, t *Tables) {
	who := l.By.Who()
	if who == l.By {
		l.Column, l.Len = l.fillWho(l.Column, who, b, t)
		return
	}
	l.who, _ = l.fillWho(l.who, who, b, t)
	l.Column = l.Column[:0]
	for i, id := range l.who {
		l.Column = append(l.Column, l.actions.id(id, int32(b.Action[i])))
	}
	l.Len = l.actions.n
}

// fillWho makes the column of a key without an action beside it, in the room of column, and tells how many keys there are.
func (l *Timelines) fillWho(column []int32, who request.Key, b *Batch, t *Tables) ([]int32, int) {
	switch who {
	case request.ByClient:
		return b.Client, t.Clients.Len()
	case request.ByHost:
		return b.Host, t.Hosts.Len()
	case request.BySite:
		return append(column, make([]int32, max(0, b.Len()-len(column)))...)[:b.Len()], 1
	case request.ByUser:
		return l.users(column, b)
	}
	column = column[:0]
	switch who {
	case request.ByAction:
		for _, action := range b.Action {
			column = append(column, int32(action))
		}
		return column, t.Actions.Len()
	case request.ByClientAgent:
		for i, client := range b.Client {
			column = append(column, l.senders.id(client, int32(b.Agent[i])))
		}
		return column, l.senders.n
	case request.ByClientPath:
		for i, client := range b.Client {
			column = append(column, l.senders.id(client, b.Path[i]))
		}
		return column, l.senders.n
	}
	l.networks.take(who, t.Clients)
	for _, client := range b.Client {
		column = append(column, l.networks.of[client])
	}
	return column, len(l.networks.members)
}

// What the second of a pair of senders says where keys are users: whether the first is a user, or a client without one.
const (
	userSender   = 0
	clientSender = 1
)

// users are those of the requests; of a request without one, its client.
func (l *Timelines) users(column []int32, b *Batch) ([]int32, int) {
	column = column[:0]
	for i, id := range b.Client {
		if b.User != nil && b.User[i] != NoUser {
			column = append(column, l.senders.id(b.User[i], userSender))
		} else {
			column = append(column, l.senders.id(id, clientSender))
		}
	}
	return column, l.senders.n
}

// pairs gives each pair, such as one of client and action, that occurs a dense id. They lie in a table with open addressing,
// of which at most three quarters are taken, so that a pair is mostly found by one look into memory.
type pairs struct {
	slots []pairSlot // a power of two; nil: empty
	n     int
	order []uint64 // the pairs by id, as far as anybody asked
}

// A pairSlot is free if its next is 0.
type pairSlot struct {
	pair uint64
	next int32 // id + 1
}

// firstPairs is how many slots there are at first.
const firstPairs = 64

// pairSeed makes slots unpredictable: nobody can write a log that makes pairs slow.
var pairSeed = rand.Uint64()

// slot is where a pair lies, or the free slot where it would.
func (p *pairs) slot(pair uint64) *pairSlot {
	const mix = 0x9E3779B97F4A7C15 // 2⁶⁴ divided by the golden ratio
	high, low := bits.Mul64(pair^pairSeed, mix)
	mask := uint64(len(p.slots) - 1)
	for i := high ^ low; ; i++ {
		if s := &p.slots[i&mask]; s.next == 0 || s.pair == pair {
			return s
		}
	}
}

func (p *pairs) id(first, second int32) int32 {
	pair := uint64(first)<<32 | uint64(uint32(second))
	if p.n >= len(p.slots)/4*3 {
		old := p.slots
		p.slots = make([]pairSlot, max(firstPairs, 2*len(old)))
		for _, s := range old {
			if s.next != 0 {
				*p.slot(s.pair) = s
			}
		}
	}
	s := p.slot(pair)
	if s.next == 0 {
		p.n++
		*s = pairSlot{pair, int32(p.n)}
	}
	return s.next - 1
}

// split returns the pairs with some ids.
func (p *pairs) split(ids []int32) (firsts, seconds []int32) {
	if len(p.order) < p.n {
		p.order = make([]uint64, p.n)
		for _, s := range p.slots {
			if s.next != 0 {
				p.order[s.next-1] = s.pair
			}
		}
	}
	for _, id := range ids {
		firsts, seconds = append(firsts, int32(p.order[id]>>32)), append(seconds, int32(p.order[id]))
	}
	return firsts, seconds
}

// join is the way back. Where a column is shorter, the rest of the other is nothing.
func (p *pairs) join(firsts, seconds []int32) (ids []int32) {
	for i := range min(len(firsts), len(seconds)) {
		ids = append(ids, p.id(firsts[i], seconds[i]))
	}
	return ids
}

// networks holds for each client the network of its address. A client that is no address, or one of the other family, is a
// network by itself.
type networks struct {
	of      []int32 // by client id
	known   pairs   // networks of addresses by their 32 or 64 bits
	ids     []int32 // by their ids in known
	members []int32 // of each network the first client
}

// take takes in the new clients.
func (w *networks) take(by request.Key, clients *intern.Dict) {
	for id := len(w.of); id < clients.Len(); id++ {
		of := int32(len(w.members))
		if network, ok := NetworkOf(by, clients.Name(int32(id))); ok {
			known := w.known.id(bitsOf(network))
			if int(known) == len(w.ids) {
				w.ids = append(w.ids, of)
			}
			of = w.ids[known]
		}
		if int(of) == len(w.members) {
			w.members = append(w.members, int32(id))
		}
		w.of = append(w.of, of)
	}
}

// bitsOf are the bits of an IPv4 address, or the first 64 of an IPv6 address. Networks of one key are all of one family.
func bitsOf(network netip.Prefix) (high, low int32) {
	if addr := network.Addr(); addr.Is4() {
		b := addr.As4()
		return 0, int32(binary.BigEndian.Uint32(b[:]))
	}
	b := network.Addr().As16()
	return int32(binary.BigEndian.Uint32(b[:])), int32(binary.BigEndian.Uint32(b[4:]))
}

// NetworkOf is the network that a key by networks puts a client in; false if the client stays alone.
func NetworkOf(by request.Key, client string) (netip.Prefix, bool) {
	addr, ok := parse.Addr([]byte(client))
	switch by = by.Who(); {
	case !ok:
	case by == request.ByClient24 && addr.Is4():
		return netip.PrefixFrom(addr, 24).Masked(), true
	case by == request.ByClient64 && addr.Is6():
		return netip.PrefixFrom(addr, 64).Masked(), true
	}
	return netip.Prefix{}, false
}
