package evidence

import (
	"math/bits"
	"math/rand/v2"

	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
)

// Behind one address there may be an office, and one scraper may have a thousand. So that keys can be compared, people
// are counted in a unit that belongs to no key: the finest that the log shows.

// A Visitor is one client with one user agent, and with one user, where the log tells users.
type Visitor struct {
	Client int32  // Tables.Clients
	User   int32  // Tables.Users, or NoUser
	Agent  uint16 // Tables.Agents
}

// Visitors gives each visitor that occurs a dense id. The zero value has seen no visitor.
type Visitors struct {
	Requests intern.PagedSlice[int64] // by visitor; those that only warm limits do not count

	who    intern.PagedSlice[Visitor] // by id
	before intern.PagedSlice[int32]   // by id: the visitor of its client that was new before it, +1; 0: none
	newest intern.PagedSlice[clientVisitors]
	many   visitorTable // those of clients with more than fewVisitors
}

// Take gives a batch its column of visitors, and counts its requests.
func (v *Visitors) Take(b *traffic.Batch) {
	v.find(b)
	if b.Warm {
		return
	}
	for _, id := range b.Visitor {
		*v.Requests.At(id)++
	}
}

// Look gives a batch that comes again its column, if that was not kept, and counts nothing.
func (v *Visitors) Look(b *traffic.Batch) {
	if len(b.Visitor) < len(b.Client) {
		v.find(b)
	}
}

// find makes the column of a batch.
func (v *Visitors) find(b *traffic.Batch) {
	b.Visitor = b.Visitor[:0]
	for row, client := range b.Client {
		user := int32(traffic.NoUser)
		if b.User != nil {
			user = b.User[row]
		}
		b.Visitor = append(b.Visitor, v.id(Visitor{Client: client, User: user, Agent: b.Agent[row]}))
	}
}

// clientVisitors counts the visitors of a client.
type clientVisitors struct {
	latest, newest int32 // the one that came last, mostly it comes again; and the one that was new last, +1; 0: none
	n              int32
}

// fewVisitors of a client are looked through one by one. Most clients have no more.
const fewVisitors = 8

func (v *Visitors) id(who Visitor) int32 {
	v.newest.Grow(int(who.Client) + 1)
	of := v.newest.At(who.Client)
	if of.latest > 0 && *v.who.At(of.latest - 1) == who {
		return of.latest - 1
	}
	id, known := int32(0), false
	if of.n > fewVisitors {
		id, known = v.many.find(who, v)
	} else {
		for next := of.newest; next > 0 && !known; next = *v.before.At(id) {
			id = next - 1
			known = *v.who.At(id) == who
		}
	}
	if !known {
		id = v.add(who, of)
	}
	of.latest = id + 1
	return id
}

// add adds a new visitor to those of its client.
func (v *Visitors) add(who Visitor, of *clientVisitors) int32 {
	id := int32(v.Len())
	v.who.Grow(v.Len() + 1)
	v.before.Grow(v.Len())
	v.Requests.Grow(v.Len())
	*v.who.At(id), *v.before.At(id) = who, of.newest
	of.newest = id + 1
	of.n++
	switch {
	case of.n < fewVisitors+1:
	case of.n > fewVisitors+1:
		v.many.add(id, v)
	default:
		for next := of.newest; next > 0; next = *v.before.At(next - 1) {
			v.many.add(next-1, v)
		}
	}
	return id
}

// A visitorTable finds ids of visitors, by open addressing. At most half of its slots are taken.
type visitorTable struct {
	slots []int32 // ids + 1; a power of two
	n     int
}

// firstSlots is the number of slots at first.
const firstSlots = 64

// slot returns the slot of a visitor, or the free slot where it would lie.
func (t *visitorTable) slot(who Visitor, v *Visitors) *int32 {
	const mix = 0x9E3779B97F4A7C15 // 2⁶⁴ divided by the golden ratio
	high, low := bits.Mul64(uint64(who.Client)<<32|uint64(uint32(who.User))^visitorSeed, mix)
	high, low = bits.Mul64(high^low^uint64(who.Agent)<<48, mix)
	mask := uint64(len(t.slots) - 1)
	for i := high ^ low; ; i++ {
		if s := &t.slots[i&mask]; *s == 0 || *v.who.At(*s - 1) == who {
			return s
		}
	}
}

// visitorSeed makes slots unpredictable: no client can write a log that makes the table slow.
var visitorSeed = rand.Uint64()

func (t *visitorTable) find(who Visitor, v *Visitors) (id int32, known bool) {
	if t.n == 0 {
		return 0, false
	}
	slot := *t.slot(who, v)
	return slot - 1, slot > 0
}

// add adds a visitor that is not in the table.
func (t *visitorTable) add(id int32, v *Visitors) {
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]int32, max(firstSlots, 2*len(old)))
		for _, slot := range old {
			if slot > 0 {
				*t.slot(*v.who.At(slot - 1), v) = slot
			}
		}
	}
	t.n++
	*t.slot(*v.who.At(id), v) = id + 1
}

// Len returns the number of visitors; the ids are 0 … Len−1.
func (v *Visitors) Len() int { return v.who.Len() }

// At returns the visitor with an id.
func (v *Visitors) At(id int32) Visitor { return *v.who.At(id) }
