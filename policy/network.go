package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Addresses and networks as people write them. What reads requests compiles them; here they are checked, since here is
// known where they stand.

// parseNetwork reads an address or a prefix. An IPv4 network in its IPv6 form is one of IPv4.
func parseNetwork(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), addr.Zone() == ""
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4In6() {
		return p, err == nil
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), p.Bits() >= 96
}

// networkProblem returns what is wrong with the text of a network.
func networkProblem(text string) error {
	p, ok := parseNetwork(text)
	switch {
	case text == "private":
	case !ok:
		return fmt.Errorf("%q is neither an address nor a prefix such as 192.0.2.0/24", text)
	case p != p.Masked():
		return fmt.Errorf("%q has bits beyond its length; %s is meant, perhaps", text, p.Masked())
	}
	return nil
}

// likeNetwork reports whether a text is meant to be an address or a prefix, well written or not.
func likeNetwork(text string) bool {
	if head, _, cut := strings.Cut(text, "/"); cut {
		_, ok := parseNetwork(head)
		return ok || likeAddress(head)
	}
	_, ok := parseNetwork(text)
	return ok || likeAddress(text)
}

// likeAddress reports whether a text consists of four numbers, or of groups of hexadecimal digits with colons between.
func likeAddress(text string) bool {
	text, _, _ = strings.Cut(text, "%") // fe80::1%eth0
	numbers := strings.Split(text, ".")
	if len(numbers) == 4 && !slices.ContainsFunc(numbers, func(s string) bool { return strings.Trim(s, "0123456789") != "" }) {
		return true
	}
	return strings.Count(text, ":") > 1 && strings.Trim(text, "0123456789abcdefABCDEF:.") == ""
}
