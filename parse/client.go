package parse

import (
	"bytes"
	"net/netip"
	"strings"
	"unsafe"
)

// maxHostName is the length of the longest name of a host (RFC 1035, 2.3.4), with a dot at its end.
const maxHostName = 254

// IsClient reports whether a text can be what a server logs of its peer: an address, a network in the place of one, or
// the name of a host, in whose last label a letter stands (RFC 1123, 2.1: so it is told from an address). A log may
// lack clients altogether, so nothing can be one as well. Neither need keep to the rules: a_b.example has an
// underscore, and who makes IPv6 addresses up for a published log may write too few groups, 2001:db8:17:1. A time of
// day has fewer colons.
func IsClient(client []byte) bool {
	if _, ok := Addr(client); ok {
		return true
	}
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

// Addr is netip.ParseAddr for bytes, without zones, and with IPv4 in IPv6 taken as IPv4. What is no address costs no
// allocation, unless it is made of hexadecimal digits, colons and points alone.
func Addr(b []byte) (netip.Addr, bool) {
	for _, c := range b {
		if c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f') && c != ':' && c != '.' {
			return netip.Addr{}, false
		}
	}
	// The text shares the bytes of b. It is not kept: of its text, an address keeps only a zone.
	addr, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(b), len(b)))
	return addr.Unmap(), err == nil
}
