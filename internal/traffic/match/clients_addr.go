package match

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
)

// privateNetworks holds networks from which no packet of the public internet comes: RFC 1918, 4193, 6598, 5735, 4291.
var privateNetworks = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fe80::/10"),
}

// parseNetworks reads an address, a prefix, or "private". An IPv4 network in its IPv6 form becomes IPv4.
func parseNetworks(s string) ([]netip.Prefix, error) {
	if s == "private" {
		return privateNetworks, nil
	}
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return nil, fmt.Errorf("%q: neither an address nor a prefix such as 192.0.2.0/24", s)
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return nil, fmt.Errorf("%q: reaches beyond the IPv4 addresses", s)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return nil, fmt.Errorf("%q: has bits beyond its length; %s is meant, perhaps", s, p.Masked())
	}
	return []netip.Prefix{p}, nil
}

// ParseNetwork reads an address or a prefix, as clients are named.
func ParseNetwork(name string) (n netip.Prefix, err error) {
	networks, err := parseNetworks(name)
	if err != nil || len(networks) != 1 {
		return n, fmt.Errorf("%q: no address", name)
	}
	return networks[0], nil
}

// within reports whether one of the networks holds addr, which is unmapped.
func within(networks []netip.Prefix, addr netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// hostOf returns the address in an entry of a proxy's list, without spaces, quotes, brackets and port. Of the header
// Forwarded it is the parameter for (RFC 7239, section 4): for="[2001:db8::17]:4711";proto=https.
func hostOf(entry []byte) []byte {
	if bytes.IndexByte(entry, '=') >= 0 {
		entry = forwardedNode(entry)
	}
	entry = trim(entry, " \t\"")
	if len(entry) > 0 && entry[0] == '[' {
		for i, c := range entry {
			if c == ']' {
				return entry[1:i]
			}
		}
		return entry
	}
	colon := -1
	for i, c := range entry {
		if c == ':' && colon >= 0 {
			return entry // a second colon: IPv6 without a port
		} else if c == ':' {
			colon = i
		}
	}
	if colon >= 0 {
		return entry[:colon]
	}
	return entry
}

// forwardedNode returns what the parameter for says, in either case; nothing if there is none.
func forwardedNode(entry []byte) []byte {
	for parameter := range bytes.SplitSeq(entry, []byte(";")) {
		name, value, _ := bytes.Cut(parameter, []byte("="))
		if bytes.EqualFold(trim(name, " \t"), []byte("for")) {
			return value
		}
	}
	return nil
}

// trim works as bytes.Trim for a set of ASCII characters, without the table that it builds.
func trim(b []byte, set string) []byte {
	for len(b) > 0 && strings.IndexByte(set, b[0]) >= 0 {
		b = b[1:]
	}
	for len(b) > 0 && strings.IndexByte(set, b[len(b)-1]) >= 0 {
		b = b[:len(b)-1]
	}
	return b
}
