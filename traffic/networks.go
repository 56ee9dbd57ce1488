package traffic

import (
	"net/netip"

	"shadow/parse"
	"shadow/request"
	"shadow/traffic/intern"
)

// networks tell of each client the network that its address lies in. A client that is no address, or one of the other
// family, is one by itself.
type networks struct {
	of      []int32 // by client id
	n       int
	ids     map[netip.Prefix]int32
	members []int32 // of each network the first client
}

// take takes in the clients that are new.
func (w *networks) take(by request.Key, clients *intern.Dict) {
	if w.ids == nil {
		w.ids = map[netip.Prefix]int32{}
	}
	for id := len(w.of); id < clients.Len(); id++ {
		w.of = append(w.of, w.id(by, clients.Name(int32(id))))
		if len(w.members) < w.n {
			w.members = append(w.members, int32(id))
		}
	}
}

func (w *networks) id(by request.Key, client string) int32 {
	network, ok := NetworkOf(by, client)
	if !ok {
		w.n++
		return int32(w.n - 1)
	}
	id, known := w.ids[network]
	if !known {
		id = int32(w.n)
		w.ids[network] = id
		w.n++
	}
	return id
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
