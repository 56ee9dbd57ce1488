package traffic

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
	"shadow/parse"
)

// addresses holds the addresses of clients. Keys by networks of many lengths, and counts of each family, ask for them
// again and again, so that each is read once. Several goroutines may use them at once.
type addresses struct {
	clients *intern.Dict
	lock    sync.Mutex
	all     AddressList
	groups  map[request.Part]*networks
}

// An AddressList has the address of each client, by id.
type AddressList struct {
	family []uint8      // 0: none; 4; 6
	low    []uint32     // of a family of 4 the address; of 6 where it is in six
	six    []netip.Addr // addresses of 128 bits, as they are rare
}

// take takes in the new clients.
func (a *addresses) take() {
	l, clients := &a.all, a.clients
	var name []byte
	for id := len(l.family); id < clients.Len(); id++ {
		name = append(name[:0], clients.Name(int32(id))...)
		addr, ok := parse.Addr(name)
		switch {
		case !ok:
			l.family, l.low = append(l.family, 0), append(l.low, 0)
		case addr.Is4():
			four := addr.As4()
			l.family, l.low = append(l.family, 4), append(l.low, binary.BigEndian.Uint32(four[:]))
		default:
			l.family, l.low = append(l.family, 6), append(l.low, uint32(len(l.six)))
			l.six = append(l.six, addr)
		}
	}
}

// known returns the addresses of all clients so far, locked. A copy of tables may have other clients.
func (t *Tables) known() *addresses {
	a := t.addresses
	if a == nil || a.clients != t.Clients {
		a = &addresses{clients: t.Clients}
	}
	a.lock.Lock()
	a.take()
	return a
}

// Addresses returns the addresses of all clients so far.
func (t *Tables) Addresses() AddressList {
	a := t.known()
	defer a.lock.Unlock()
	return a.all // what it has of these does not change
}

// networksOf returns the groups of all clients so far by a part of a key.
func (t *Tables) networksOf(part request.Part) networkIDs {
	a := t.known()
	defer a.lock.Unlock()
	w := a.groups[part]
	if w == nil {
		w = &networks{addresses: map[netip.Addr]int32{}}
		if a.groups == nil {
			a.groups = map[request.Part]*networks{}
		}
		a.groups[part] = w
	}
	w.take(part, t, &a.all)
	return w.networkIDs
}

// Len returns how many clients it has the address of.
func (l *AddressList) Len() int { return len(l.family) }

// Is4 and Is6 report whether a client has an address of that family.
func (l *AddressList) Is4(client int32) bool { return l.family[client] == 4 }

// Is6 reports whether the client has an IPv6 address.
func (l *AddressList) Is6(client int32) bool { return l.family[client] == 6 }

// At returns the address of a client; the zero one if it has none.
func (l *AddressList) At(client int32) netip.Addr {
	switch l.family[client] {
	case 4:
		var four [4]byte
		binary.BigEndian.PutUint32(four[:], l.low[client])
		return netip.AddrFrom4(four)
	case 6:
		return l.six[l.low[client]]
	}
	return netip.Addr{}
}

// networks holds for each client the group that its address is in. A client without one is a group by itself.
type networks struct {
	networkIDs
	v4        pairs                // the first bits of addresses, if the part is a network of IPv4
	addresses map[netip.Addr]int32 // groups by where they begin, if it is one of IPv6
	known     intern.Dict          // names of other groups
	ids       []int32              // groups by their ids in v4 or known
}

// networkIDs covers the clients that there were when it was last asked for.
type networkIDs struct {
	of      []int32 // by client id
	members []int32 // of each group the first client
}

// take takes in the new clients.
func (w *networks) take(part request.Part, t *Tables, addresses *AddressList) {
	w.of = slices.Grow(w.of, addresses.Len()-len(w.of))
	four, six := part.Bits(true), part.Bits(false)
	for id := int32(len(w.of)); int(id) < addresses.Len(); id++ {
		of := int32(len(w.members))
		switch {
		case part.Kind != request.PartNetwork:
			if name, ok := t.ownerGroup(part, addresses.At(id)); ok {
				of = w.group(w.known.ID([]byte(name)), of)
			}
		case addresses.Is4(id) && four > 0:
			of = w.group(w.v4.id(int32(addresses.low[id]>>(32-four)), 0), of)
		case addresses.Is6(id) && six > 0:
			of = w.network(netip.PrefixFrom(addresses.At(id), six).Masked().Addr(), of)
		}
		if int(of) == len(w.members) {
			w.members = append(w.members, id)
		}
		w.of = append(w.of, of)
	}
}

// network returns the group of the network of IPv6 that begins at an address, next if that is the first of it.
func (w *networks) network(addr netip.Addr, next int32) int32 {
	group, known := w.addresses[addr]
	if !known {
		group = next
		w.addresses[addr] = group
	}
	return group
}

// group returns the group that has got a dense id, next if it is the first time.
func (w *networks) group(id, next int32) int32 {
	if int(id) == len(w.ids) {
		w.ids = append(w.ids, next)
	}
	return w.ids[id]
}
