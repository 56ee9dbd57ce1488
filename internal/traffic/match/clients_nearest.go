package match

import (
	"cmp"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// NearestClients returns the clients that a name is most like, at most so many: those that an address shares most of
// its leading bits with; of another name those that contain it, in either case, or the one that is most like it.
func NearestClients(clients *intern.Dict, name string, most int) (near []string) {
	names := make([]string, clients.Len())
	for id := range names {
		names[id] = clients.Name(int32(id))
	}
	if address, ok := leadingAddress(name); ok {
		near = nearestAddresses(address, names)
		return near[:min(len(near), most)]
	}
	for _, other := range names {
		if strings.Contains(strings.ToLower(other), strings.ToLower(name)) {
			near = append(near, other)
		}
	}
	if other := limit.Nearest(name, names); other != "" && len(near) == 0 {
		near = []string{other}
	}
	slices.SortFunc(near, func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)) })
	return near[:min(len(near), most)]
}

// nearestAddresses returns the addresses and prefixes of the kind of one, by how many leading bits they share with it.
func nearestAddresses(address netip.Addr, names []string) (near []string) {
	shared := map[string]int{}
	for _, name := range names {
		if other, ok := leadingAddress(name); ok && other.Is4() == address.Is4() {
			shared[name] = SharedBits(address, other)
			near = append(near, name)
		}
	}
	slices.SortFunc(near, func(x, y string) int {
		a, _ := leadingAddress(x)
		b, _ := leadingAddress(y)
		return cmp.Or(cmp.Compare(shared[y], shared[x]), a.Compare(b), strings.Compare(x, y))
	})
	return near
}

// leadingAddress returns the address that a name is, or that a prefix begins with.
func leadingAddress(name string) (netip.Addr, bool) {
	if prefix, err := netip.ParsePrefix(name); err == nil {
		return prefix.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(name)
	return address.Unmap().WithZone(""), err == nil
}

// SharedBits returns how many leading bits two addresses of one kind share.
func SharedBits(a, b netip.Addr) (n int) {
	x, y := a.AsSlice(), b.AsSlice()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return n + bits.LeadingZeros8(d)
		}
		n += 8
	}
	return n
}
