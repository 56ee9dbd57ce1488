package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/replay"
	"shadow/report/format"
	"shadow/traffic/intern"
)

// A report can be right in every figure and still mislead: when one address stands for many people, or when the site
// calls itself. These are the signs of it; what is odd about an input (it ended early, its fields are others than its
// format says) comes with Options.Warnings.

const (
	heavyPercent = 20 // of all requests: more from one client want an explanation
	mixedPercent = 1  // of a client's requests: a second class with more than that speaks for several people
)

// HeavyWarnings warns of clients that make a large share of the requests.
func HeavyWarnings(clients *replay.Paged[replay.ClientTally], names *intern.Dict, total int64, a *Anonymizer) []string {
	var all []string
	for _, id := range heavy(clients, names, total) {
		all = append(all, heavyText(names.Name(id), a, clients.At(id), total))
	}
	return all
}

// heavy are the clients with more than heavyPercent of all requests, the heaviest first.
func heavy(clients *replay.Paged[replay.ClientTally], names *intern.Dict, total int64) []int32 {
	requests := func(id int32) int64 { return clients.At(id).Requests() }
	var ids []int32
	for id := range int32(clients.Len()) {
		if format.PercentOf(requests(id), total) > heavyPercent {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int32) int {
		most := cmp.Compare(requests(b), requests(a))
		return cmp.Or(most, strings.Compare(names.Name(a), names.Name(b)))
	})
	return ids
}

// heavyText offers flags to paste into a shell only for an address: any other name is a stranger's text. It speaks of
// a proxy only where there is a sign of one: agents of several classes, or an address that no visitor has.
func heavyText(name string, a *Anonymizer, c *replay.ClientTally, total int64) string {
	text := fmt.Sprintf("%s sent %s%% of all requests", a.Name(name), format.Percent(format.PercentOf(c.Requests(), total)))
	if mixed(c) {
		text += ", with agents of several classes, as a proxy has"
	}
	name, address, ok := AddressOf(name)
	if !ok || a != nil {
		return text + ": is it one client?"
	}
	exclude := "--exclude " + name
	switch {
	case address.IsUnspecified():
		return text + ": that is nobody's address, so the log does not tell who they are; " + exclude + " leaves them out"
	case mixed(c) || inner(address):
		return text + ": if it is a proxy, use --client-from x-forwarded-for --trusted-proxy " + name +
			"; if it is the site itself or a health checker, " + exclude
	}
	return text + ": if it is the site itself or a health checker, " + exclude
}

// AddressOf is the address or prefix that name is, in its usual writing, and the address itself or that of the prefix.
func AddressOf(name string) (text string, address netip.Addr, ok bool) {
	if address, err := netip.ParseAddr(name); err == nil && address.Zone() == "" {
		return address.String(), address, true
	}
	prefix, err := netip.ParsePrefix(name)
	return prefix.String(), prefix.Addr(), err == nil
}

// sharedSpace is for the inner side of carriers: RFC 6598, section 7.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// inner reports whether an address is used inside a network only, so that who has it came by way of something in front.
func inner(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// mixed reports whether a client's agents are of several classes: most likely it is many clients behind one address.
func mixed(c *replay.ClientTally) bool {
	classes := 0
	for _, n := range c.ByClass {
		if format.PercentOf(n, c.Requests()) > mixedPercent {
			classes++
		}
	}
	return classes > 1
}
