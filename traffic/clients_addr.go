package traffic

import (
	"fmt"
	"net/netip"
	"strings"
)

// privateNetworks are those that no packet from the public internet comes from: RFC 1918, 4193, 6598, 5735, 4291.
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

// within tells whether one of the networks holds addr, which is unmapped.
func within(networks []netip.Prefix, addr netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// parseAddr is netip.ParseAddr for bytes, without allocation, without zones, and with IPv4 in IPv6 taken as IPv4.
func parseAddr(b []byte) (netip.Addr, bool) {
	if len(b) > len("0000:0000:0000:0000:0000:0000:255.255.255.255") {
		return netip.Addr{}, false
	}
	for _, c := range b {
		if c == ':' {
			a, ok := parseAddr6(b)
			return netip.AddrFrom16(a).Unmap(), ok
		}
	}
	a, ok := parseAddr4(b)
	return netip.AddrFrom4(a), ok
}

// parseAddr4 reads four decimal numbers without leading zeros.
func parseAddr4(b []byte) (a [4]byte, ok bool) {
	n, digits, value := 0, 0, 0
	for _, c := range b {
		switch {
		case c == '.' && digits > 0 && n < 3:
			a[n] = byte(value)
			n, digits, value = n+1, 0, 0
		case c >= '0' && c <= '9' && (digits == 0 || value > 0):
			digits++
			if value = value*10 + int(c-'0'); value > 255 {
				return a, false
			}
		default:
			return a, false
		}
	}
	a[3] = byte(value)
	return a, n == 3 && digits > 0
}

// parseAddr6 reads up to eight groups of hexadecimal digits; "::" stands once for groups of zeros; the last two
// groups may be an IPv4 address.
func parseAddr6(b []byte) (a [16]byte, ok bool) {
	n, gap := 0, -1 // bytes written; where "::" was
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		group, digits := hexGroup(b)
		if digits < len(b) && b[digits] == '.' {
			v4, ok := parseAddr4(b)
			if !ok || n > 12 {
				return a, false
			}
			n += copy(a[n:], v4[:])
			break
		}
		if digits == 0 || digits > 4 || n > 14 {
			return a, false
		}
		a[n], a[n+1] = byte(group>>8), byte(group)
		n += 2
		if b = b[digits:]; len(b) == 0 {
			break
		}
		if b[0] != ':' || len(b) == 1 {
			return a, false
		}
		if b = b[1:]; b[0] == ':' {
			if gap >= 0 {
				return a, false
			}
			gap, b = n, b[1:]
		}
	}
	return spread(a, n, gap)
}

// spread moves what follows the gap to the end.
func spread(a [16]byte, n, gap int) ([16]byte, bool) {
	if gap < 0 || n == 16 {
		return a, gap < 0 && n == 16
	}
	tail := a
	clear(a[gap:])
	copy(a[16-(n-gap):], tail[gap:n])
	return a, true
}

// hexGroup reads hexadecimal digits, of which more than four are too many anyway.
func hexGroup(b []byte) (value uint32, digits int) {
	for digits < len(b) && digits < 5 {
		c := b[digits]
		switch lower := c | 0x20; {
		case c >= '0' && c <= '9':
			value = value<<4 | uint32(c-'0')
		case lower >= 'a' && lower <= 'f':
			value = value<<4 | uint32(lower-'a'+10)
		default:
			return value, digits
		}
		digits++
	}
	return value, digits
}

// hostOf returns the address in an entry of a proxy's list, without spaces, quotes, brackets and port.
func hostOf(entry []byte) []byte {
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

// trim is bytes.Trim for a set of ASCII characters, without the table that it builds.
func trim(b []byte, set string) []byte {
	for len(b) > 0 && strings.IndexByte(set, b[0]) >= 0 {
		b = b[1:]
	}
	for len(b) > 0 && strings.IndexByte(set, b[len(b)-1]) >= 0 {
		b = b[:len(b)-1]
	}
	return b
}
