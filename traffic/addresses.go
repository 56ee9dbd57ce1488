package traffic

import (
	"encoding/binary"
	"net/netip"
	"sync"

	"shadow/parse"
	"shadow/traffic/intern"
)

// addresses are those of clients. Keys by networks of many lengths, and what is counted of each family, ask for them again
// and again, so that each is read once. Several goroutines may use them at once.
type addresses struct {
	lock sync.Mutex
	all  AddressList
}

// An AddressList has the address of each client, by id.
type AddressList struct {
	family []uint8      // 0: none; 4; 6
	low    []uint32     // of a family of 4 the address; of 6 where it is in six
	six    []netip.Addr // addresses of 128 bits, as they are rare
}

// of are those of all clients so far. What it returns does not change.
func (a *addresses) of(clients *intern.Dict) AddressList {
	a.lock.Lock()
	defer a.lock.Unlock()
	l := &a.all
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
	return a.all
}

// Addresses are those of all clients so far.
func (t *Tables) Addresses() AddressList {
	if t.addresses == nil {
		return new(addresses).of(t.Clients)
	}
	return t.addresses.of(t.Clients)
}

// Len is of how many clients it has the address.
func (l *AddressList) Len() int { return len(l.family) }

// Is4 and Is6 report whether a client has an address of that family.
func (l *AddressList) Is4(client int32) bool { return l.family[client] == 4 }

// Is6 is that of IPv6.
func (l *AddressList) Is6(client int32) bool { return l.family[client] == 6 }

// At is the address of a client; the zero one if it has none.
func (l *AddressList) At(client int32) netip.Addr {
	switch l.family[client] {
	case 4:
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, l.low[client])))
	case 6:
		return l.six[l.low[client]]
	}
	return netip.Addr{}
}
