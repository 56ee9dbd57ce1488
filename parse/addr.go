package parse

import "net/netip"

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
