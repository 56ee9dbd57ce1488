package traffic

import (
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"

	"shadow/internal/request"
	"shadow/parse"
)

// Timelines sort batches by one key.
type Timelines struct {
	Group
	By     request.Key
	Column []int32 // the key of each row of the batch
	Len    int     // how many keys there are

	parts []keyPart // of By; nil: not made yet
}

// A keyPart gives the rows of a batch ids by one part of a key, and joins them with those of the parts before it:
//
//	client+agent+action    client ─┬▶ pairs ─┬▶ pairs ──▶ keys
//	                       agent  ─┘         │
//	                       action ───────────┘
type keyPart struct {
	request.Part
	ids, keys []int32    // reused
	joined    pairs      // a key of the parts before this one, and this one
	senders   pairs      // a user or a value, or the client of a request without one
	quick     [2][]int32 // their ids + 1, by what the second of a pair says and by the first; 0: not known yet
	networks  networkIDs
}

// Take makes the group the timelines of the batch.
func (l *Timelines) Take(b *Batch, t *Tables) {
	l.Fill(b, t)
	l.Sort(b, l.Column, l.Len)
}

// TakeKnown takes in some rows as Take does, which ascend. It is known what they are by all parts of the key but the
// action: these ids, below n.
func (l *Timelines) TakeKnown(b *Batch, rows, ids []int32, n int) {
	l.Column, l.Len = ids, n
	if p := &l.each()[len(l.parts)-1]; p.Kind == request.PartAction {
		p.keys = slices.Grow(p.keys[:0], len(ids))
		for i, id := range ids {
			p.keys = append(p.keys, p.joined.id(id, int32(b.Action[rows[i]])))
		}
		l.Column, l.Len = p.keys, p.joined.n
	}
	l.SortSome(b, rows, l.Column, l.Len)
}

// TakeSome takes in some rows as Take does, which ascend.
func (l *Timelines) TakeSome(b *Batch, rows []int32, t *Tables) {
	some := Batch{At: pick(b.At, rows), Client: pick(b.Client, rows), Agent: pick(b.Agent, rows), Action: pick(b.Action, rows)}
	some.Host, some.User, some.Path = pick(b.Host, rows), pick(b.User, rows), pick(b.Path, rows)
	for k := range l.each() {
		if i := slices.Index(t.Parts, l.parts[k].Part); i >= 0 {
			some.Values[i] = pick(b.Values[i], rows)
		}
	}
	l.Fill(&some, t)
	l.SortSome(b, rows, l.Column, l.Len)
}

// pick returns some rows of a column, nil if there is none.
func pick[T any](column []T, rows []int32) []T {
	if column == nil {
		return nil
	}
	some := make([]T, len(rows))
	for i, row := range rows {
		some[i] = column[row]
	}
	return some
}

// each returns the parts of the key.
func (l *Timelines) each() []keyPart {
	if l.parts == nil {
		for _, part := range l.By.Parts() {
			l.parts = append(l.parts, keyPart{Part: part})
		}
	}
	return l.parts
}

// Fill makes the column of keys.
func (l *Timelines) Fill(b *Batch, t *Tables) {
	for i := range l.each() {
		p := &l.parts[i]
		ids := p.column(b, t)
		if i == 0 {
			l.Column, l.Len = ids, p.len(t)
			continue
		}
		p.keys = slices.Grow(p.keys[:0], len(ids))
		for row, id := range ids {
			p.keys = append(p.keys, p.joined.id(l.Column[row], id))
		}
		l.Column, l.Len = p.keys, p.joined.n
	}
}

// Free has others use the memory of what was needed to fill the column, which stays. Nothing must be taken in any more.
func (l *Timelines) Free() {
	for i := range l.parts {
		l.parts[i].joined.free()
		l.parts[i].senders.free()
	}
	l.parts = nil
}

// Count returns how many keys the tables know.
func (l *Timelines) Count(t *Tables) int {
	last := &l.each()[len(l.parts)-1]
	if len(l.parts) > 1 {
		return last.joined.n
	}
	return last.len(t)
}

// column returns the ids of the rows of a batch by the part.
func (p *keyPart) column(b *Batch, t *Tables) []int32 {
	switch p.Kind {
	case request.PartClient:
		return b.Client
	case request.PartHost:
		return b.Host
	case request.PartPath:
		return b.Path
	}
	ids := slices.Grow(p.ids[:0], b.Len())
	switch p.Kind {
	case request.PartSite:
		ids = append(p.ids, make([]int32, max(0, b.Len()-len(p.ids)))...)[:b.Len()]
	case request.PartAgent:
		for _, agent := range b.Agent {
			ids = append(ids, int32(agent))
		}
	case request.PartAction:
		for _, action := range b.Action {
			ids = append(ids, int32(action))
		}
	case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
		p.networks = t.networksOf(p.Part)
		for _, client := range b.Client {
			ids = append(ids, p.networks.of[client])
		}
	case request.PartUser:
		ids = p.orClients(ids, b.User, b.Client)
	default:
		ids = p.orClients(ids, t.ValuesOf(b, p.Part), b.Client)
	}
	p.ids = ids
	return ids
}

// len returns how many ids the part has.
func (p *keyPart) len(t *Tables) int {
	switch p.Kind {
	case request.PartClient:
		return t.Clients.Len()
	case request.PartHost:
		return t.Hosts.Len()
	case request.PartPath:
		return t.Paths.Len()
	case request.PartSite:
		return 1
	case request.PartAgent:
		return t.Agents.Names().Len()
	case request.PartAction:
		return t.Actions.Len()
	case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
		return len(p.networks.members)
	}
	return p.senders.n
}

// What the second of a pair of senders says: whether the first is a user or a value, or a client without one.
const (
	valueSender  = 0
	clientSender = 1
)

// orClients appends the ids of senders: of users or values; of a request without one, of its client.
func (p *keyPart) orClients(ids, values, clients []int32) []int32 {
	for i, client := range clients {
		if values != nil && values[i] != NoValue {
			ids = append(ids, p.sender(values[i], valueSender))
		} else {
			ids = append(ids, p.sender(client, clientSender))
		}
	}
	return ids
}

// sender returns the id of one of senders.
func (p *keyPart) sender(id, kind int32) int32 {
	quick := p.quick[kind]
	if int(id) < len(quick) && quick[id] > 0 {
		return quick[id] - 1
	}
	quick = append(quick, make([]int32, max(0, int(id)+1-len(quick)))...)
	quick[id] = p.senders.id(id, kind) + 1
	p.quick[kind] = quick
	return quick[id] - 1
}

// pairs gives each pair, such as one of client and action, that occurs a dense id. They lie in a table with open addressing,
// of which at most three quarters are taken, so that a pair is mostly found by one look into memory.
type pairs struct {
	slots []pairSlot // a power of two; nil: empty
	n     int
	order []uint64 // the pairs by id, as far as they were asked for
}

// A pairSlot is free if its next is 0.
type pairSlot struct {
	pair uint64
	next int32 // id + 1
}

// firstPairs is the number of slots at first.
const firstPairs = 64

// pairSeed makes slots unpredictable: no client can write a log that makes pairs slow.
var pairSeed = rand.Uint64()

// slot returns the slot of a pair, or the free slot where it would lie.
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
		p.slots = newSlots(max(firstPairs, 2*len(old)))
		for _, s := range old {
			if s.next != 0 {
				*p.slot(s.pair) = s
			}
		}
		freeSlots(old)
	}
	s := p.slot(pair)
	if s.next == 0 {
		p.n++
		*s = pairSlot{pair, int32(p.n)}
	}
	return s.next - 1
}

// free has others use the memory. There are no pairs then.
func (p *pairs) free() {
	freeSlots(p.slots)
	*p = pairs{}
}

// spareSlots holds slots, all of them free, that are not used any more, by the logarithm of their number. Several keys
// after one another need tables of much the same sizes, and memory that is in use already costs less than new memory.
var spareSlots [64]sync.Pool

func newSlots(n int) []pairSlot {
	if spare, ok := spareSlots[bits.Len(uint(n))].Get().(*[]pairSlot); ok {
		return *spare
	}
	return make([]pairSlot, n)
}

func freeSlots(slots []pairSlot) {
	clear(slots)
	spareSlots[bits.Len(uint(len(slots)))].Put(&slots)
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

// join returns the ids of such pairs. Where a column is shorter, the rest of the other is nothing.
func (p *pairs) join(firsts, seconds []int32) (ids []int32) {
	for i := range min(len(firsts), len(seconds)) {
		ids = append(ids, p.id(firsts[i], seconds[i]))
	}
	return ids
}

// GroupOf names the group that a part of a key puts a client in; false if the client stays alone.
func (t *Tables) GroupOf(part request.Part, client string) (name string, ok bool) {
	if part.Kind == request.PartNetwork {
		network, ok := NetworkOf(part, client)
		return network.String(), ok
	}
	addr, _ := parse.Addr([]byte(client))
	return t.ownerGroup(part, addr)
}

// ownerGroup names the group that an address is in by who owns it.
func (t *Tables) ownerGroup(part request.Part, addr netip.Addr) (name string, ok bool) {
	switch owner := t.Owners.Of(addr); part.Kind {
	case request.PartASN:
		name = owner.ASNText()
	case request.PartCountry:
		name = owner.Country
	case request.PartOwner:
		name = owner.Name
	}
	return name, name != ""
}

// NetworkOf returns the network that a client is in by a part of a key; false if the client stays alone.
func NetworkOf(part request.Part, client string) (netip.Prefix, bool) {
	addr, ok := parse.Addr([]byte(client))
	bits := part.Bits(addr.Is4())
	if !ok || bits == 0 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}
