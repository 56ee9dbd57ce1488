package main

import (
	"cmp"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"shadow/escape"
	"shadow/limit"
	"shadow/traffic/intern"
)

// A client that is not in the log is a mistake in how the command was called: most often another one was meant, or the
// log calls it otherwise. So the nearest ones are named.

const nearClients = 3 // named at most

// unknownClient is the error of a client that sent no request.
func unknownClient(client string, clients *intern.Dict) error {
	near := nearestClients(client, clients)
	if len(near) == 0 {
		return usage("no request that takes part comes from %s; --client says what a client is, and `shadow replay` lists them", escape.Visible(client))
	}
	return usage("no request that takes part comes from %s; the nearest clients are %s", escape.Visible(client), escape.Visible(strings.Join(near, ", ")))
}

// nearestClients are those that an address shares most of its leading bits with; of another name those that contain it,
// in either case, or the one that is most like it.
func nearestClients(client string, clients *intern.Dict) []string {
	names := make([]string, clients.Len())
	for id := range names {
		names[id] = clients.Name(int32(id))
	}
	if address, ok := leadingAddress(client); ok {
		return nearestAddresses(address, names)
	}
	var near []string
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), strings.ToLower(client)) {
			near = append(near, name)
		}
	}
	if name := limit.Nearest(client, names); name != "" && len(near) == 0 {
		near = []string{name}
	}
	slices.SortFunc(near, func(x, y string) int { return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)) })
	return near[:min(len(near), nearClients)]
}

func nearestAddresses(address netip.Addr, names []string) (near []string) {
	shared := map[string]int{} // leading bits
	for _, name := range names {
		if other, ok := leadingAddress(name); ok && other.Is4() == address.Is4() {
			shared[name] = sharedBits(address, other)
			near = append(near, name)
		}
	}
	slices.SortFunc(near, func(x, y string) int {
		return cmp.Or(cmp.Compare(shared[y], shared[x]), compareNumbers(x, y))
	})
	return near[:min(len(near), nearClients)]
}

func compareNumbers(x, y string) int {
	a, _ := leadingAddress(x)
	b, _ := leadingAddress(y)
	return cmp.Or(a.Compare(b), strings.Compare(x, y))
}

// leadingAddress is the address that a name is, or that a prefix begins with.
func leadingAddress(name string) (netip.Addr, bool) {
	if prefix, err := netip.ParsePrefix(name); err == nil {
		return prefix.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(name)
	return address.Unmap().WithZone(""), err == nil
}

// sharedBits is how many leading bits two addresses of one kind share.
func sharedBits(a, b netip.Addr) (n int) {
	x, y := a.As16(), b.As16()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return n + bits.LeadingZeros8(d)
		}
		n += 8
	}
	return n
}
