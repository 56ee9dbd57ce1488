package match

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
)

// A networkTable finds the tier of an address among millions of networks. It is a sorted list of 24 bytes a network, which
// takes a fifth of the room of a map of prefixes and leaves the garbage collector nothing to follow.
type networkTable struct {
	entries []networkTier
	lengths [2][]int // of the prefixes: IPv4, IPv6
}

// A networkTier is a network and a tier that holds it. An IPv4 network stands in its IPv6 form, 96 bits longer.
type networkTier struct {
	high, low uint64
	bits, id  uint8
}

func newNetworkTier(p netip.Prefix, id uint8) networkTier {
	b := p.Addr().As16()
	return networkTier{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]), uint8(p.Bits() + 128 - p.Addr().BitLen()), id}
}

// compareNetwork orders entries by their networks.
func (e networkTier) compareNetwork(other networkTier) int {
	return cmp.Or(cmp.Compare(e.high, other.high), cmp.Compare(e.low, other.low), cmp.Compare(e.bits, other.bits))
}

// add enters a network. sort must follow before of.
func (t *networkTable) add(p netip.Prefix, id uint8) {
	t.entries = append(t.entries, newNetworkTier(p, id))
	lengths := &t.lengths[family(p.Addr())]
	if !slices.Contains(*lengths, p.Bits()) {
		*lengths = append(*lengths, p.Bits())
	}
}

// sort puts the entries in order. Of a network that several tiers name, the first tier stays.
func (t *networkTable) sort() {
	slices.SortFunc(t.entries, func(a, b networkTier) int {
		return cmp.Or(a.compareNetwork(b), cmp.Compare(a.id, b.id))
	})
	t.entries = slices.CompactFunc(t.entries, func(a, b networkTier) bool { return a.compareNetwork(b) == 0 })
}

// of returns the first tier with a network that holds the address, or none.
func (t *networkTable) of(addr netip.Addr, none uint8) uint8 {
	tier := none
	for _, bits := range t.lengths[family(addr)] {
		p, _ := addr.Prefix(bits) // bits are in range
		if at, ok := slices.BinarySearchFunc(t.entries, newNetworkTier(p, 0), networkTier.compareNetwork); ok {
			tier = min(tier, t.entries[at].id)
		}
	}
	return tier
}

// family returns the place in networkTable.lengths of an address.
func family(addr netip.Addr) int {
	if addr.Is4() {
		return 0
	}
	return 1
}
