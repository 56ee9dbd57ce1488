package match

import (
	"shadow/parse"
)

// A tierFinder finds the tier of requests, for one goroutine. Where a client is an address, the networks are searched
// once for each client.
type tierFinder struct {
	tiers   *Tiers
	clients ClientRule
	known   []uint8 // by client id: the tier of its address + 1, 0 is not yet known; nil: it says nothing of addresses
	lasting bool    // whether a client has one address
	none    uint8   // the default tier
	seen    uint64  // the fields that some request had, by their place in Tiers.fields
}

func (t *Tiers) newFinder(clients ClientRule) *tierFinder {
	return &tierFinder{
		tiers: t, clients: clients, none: uint8(len(t.tiers)),
		lasting: clients.source == fromAddress && !clients.prefix,
	}
}

// find returns the tier of a request of the client with this id.
func (f *tierFinder) find(client int32, r *parse.Record) uint8 {
	tier := f.none
	if len(f.tiers.networks.entries) > 0 {
		tier = f.byAddress(client, r)
	}
	if len(f.tiers.users) > 0 && len(r.User) > 0 {
		tier = lower(tier, f.tiers.users, r.User)
	}
	for i := range f.tiers.fields {
		field := &f.tiers.fields[i]
		for _, at := range field.at {
			if value := r.Extra[at]; value != nil {
				f.seen |= 1 << i
				tier = lower(tier, field.values, value)
				break
			}
		}
	}
	return tier
}

// lower is the tier of a name, if it has one that comes before tier.
func lower(tier uint8, tiers map[string]uint8, name []byte) uint8 {
	if other, ok := tiers[string(name)]; ok {
		return min(tier, other)
	}
	return tier
}

// byAddress is the tier of the request's address.
func (f *tierFinder) byAddress(client int32, r *parse.Record) uint8 {
	if !f.lasting {
		return f.search(r)
	}
	if n := int(client) + 1; n > len(f.known) {
		f.known = append(f.known, make([]uint8, n-len(f.known))...)
	}
	if f.known[client] == 0 {
		f.known[client] = f.search(r) + 1
	}
	return f.known[client] - 1
}

// search looks for the networks that hold the address, of every length that there is.
func (f *tierFinder) search(r *parse.Record) uint8 {
	addr, ok := f.clients.address(r)
	if !ok {
		return f.none
	}
	return f.tiers.networks.of(addr, f.none)
}
