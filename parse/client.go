package parse

import (
	"bytes"
	"net/netip"
	"strings"
)

// maxHostName is the length of the longest name of a host (RFC 1035, 2.3.4), with a dot at its end.
const maxHostName = 254

// IsClient reports whether a text can be what a server logs of its peer: an address, a network in the place of one, or the name
// of a host, in whose last label a letter stands (RFC 1123, 2.1: so it is told from an address). A log may lack clients
// altogether, so nothing can be one as well. Neither need keep to the rules: a_b.example has an underscore, and who makes IPv6
// addresses up for a published log may write too few groups, 2001:db8:17:1. A time of day has fewer colons.
func IsClient(client []byte) bool {
	if len(client) == 0 || bytes.IndexByte(client, ':') >= 0 || bytes.IndexByte(client, '/') >= 0 {
		return len(client) == 0 || isAddress(string(client))
	}
	letter := false
	for _, c := range client {
		switch {
		case c == '.':
			letter = false
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '-':
			letter = true
		case c-'0' > 9:
			return false
		}
	}
	return letter && len(client) <= maxHostName || isAddress(string(client)) || client[len(client)-1] == '.' && len(client) > 1 && IsClient(client[:len(client)-1])
}

func isAddress(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	if strings.Count(text, ":") >= 3 && strings.Trim(text, "0123456789abcdefABCDEF:") == "" {
		return true
	}
	_, err := netip.ParsePrefix(text)
	return err == nil
}

// Addr is netip.ParseAddr for bytes, without allocation, without zones, and with IPv4 in IPv6 taken as IPv4.
func Addr(b []byte) (netip.Addr, bool) {
	if len(b) > len("0000:0000:0000:0000:0000:0000:255.255.255.255") {
		return netip.Addr{}, false
	}
	for _, c := range b {
		if c == ':' {
			a, ok := addr6(b)
			return netip.AddrFrom16(a).Unmap(), ok
		}
	}
	a, ok := addr4(b)
	return netip.AddrFrom4(a), ok
}

// addr4 reads four decimal numbers without leading zeros.
func addr4(b []byte) (a [4]byte, ok bool) {
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

// addr6 reads up to eight groups of hexadecimal digits; "::" stands once for groups of zeros; the last two
// groups may be an IPv4 address.
func addr6(b []byte) (a [16]byte, ok bool) {
	n, gap := 0, -1 // bytes written; where "::" was
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		group, digits := hexGroup(b)
		if digits < len(b) && b[digits] == '.' {
			v4, ok := addr4(b)
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
