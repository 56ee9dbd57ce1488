package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/replay"
	"shadow/traffic"
)

// A report can be right in every figure and still mislead: when one address stands for many people, or when the site
// calls itself. These are the signs of it; what is odd about an input (it ended early, its fields are others than its
// format says) comes with Options.Warnings.

const (
	heavyPercent = 20 // of all requests: more from one client want an explanation
	mixedPercent = 1  // of a client's requests: a second class with more than that speaks for several people
)

func warnings(clients *replay.Paged[replay.ClientTally], names *traffic.Dict, total int64, a *Anonymizer) []string {
	var all []string
	for _, id := range heavy(clients, names, total) {
		all = append(all, heavyText(names.Name(id), a, clients.At(id), total))
	}
	return all
}

// heavy are the clients with more than heavyPercent of all requests, the heaviest first.
func heavy(clients *replay.Paged[replay.ClientTally], names *traffic.Dict, total int64) []int32 {
	requests := func(id int32) int64 { return clients.At(id).Requests() }
	var ids []int32
	for id := range int32(clients.Len()) {
		if percentOf(requests(id), total) > heavyPercent {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int32) int {
		most := cmp.Compare(requests(b), requests(a))
		return cmp.Or(most, strings.Compare(names.Name(a), names.Name(b)))
	})
	return ids
}

// heavyText offers flags to paste into a shell only for an address: any other name is a stranger's text.
func heavyText(name string, a *Anonymizer, c *replay.ClientTally, total int64) string {
	text := fmt.Sprintf("%s sent %s%% of all requests", a.Name(name), percent(percentOf(c.Requests(), total)))
	if mixed(c) {
		text += ", with agents of several classes, as a proxy has"
	}
	address, ok := addressOf(name)
	if !ok || a != nil {
		return text + ": is it one client?"
	}
	return text + ": if it is a proxy, use --client-from x-forwarded-for --trusted-proxy " + address +
		"; if it is the site itself or a health checker, --exclude " + address
}

// addressOf is the address or prefix that name is, in its usual writing.
func addressOf(name string) (string, bool) {
	if address, err := netip.ParseAddr(name); err == nil && address.Zone() == "" {
		return address.String(), true
	}
	if prefix, err := netip.ParsePrefix(name); err == nil {
		return prefix.String(), true
	}
	return "", false
}

// mixed tells whether a client's agents are of several classes: most likely it is many clients behind one address.
func mixed(c *replay.ClientTally) bool {
	classes := 0
	for _, n := range c.ByClass {
		if percentOf(n, c.Requests()) > mixedPercent {
			classes++
		}
	}
	return classes > 1
}
