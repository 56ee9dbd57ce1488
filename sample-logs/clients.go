package samplelogs

import "strconv"

// Addresses: a client's number determines its address, so that millions of them need no memory. Every twentieth
// client or so comes by IPv6, from the documentation range; the IPv4 addresses of large logs are spread over the
// unicast space.

// scatter is odd, so that multiplying by it modulo a power of two maps different numbers to different numbers.
const scatter = 0x9e3779b1

// appendAddress appends the address of client id, below 2³¹.
func appendAddress(dst []byte, id int32) []byte {
	if mix(uint64(id))%20 == 0 {
		return appendIPv6(dst, uint32(id))
	}
	x := uint32(id) * scatter & (1<<31 - 1)
	first := 11 + x>>24 // 11 … 126, then 128 … 139: no private, loopback or multicast network
	if first >= 127 {
		first++
	}
	return appendIPv4(dst, first, x>>16&255, x>>8&255, x&255)
}

func appendIPv4(dst []byte, a, b, c, d uint32) []byte {
	for i, octet := range [4]uint32{a, b, c, d} {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendUint(dst, uint64(octet), 10)
	}
	return dst
}

// appendIPv6 puts the client in a /64 of its own. No group is 0, so the text is the one that servers write.
func appendIPv6(dst []byte, id uint32) []byte {
	dst = append(dst, "2001:db8:"...)
	dst = strconv.AppendUint(dst, uint64(1+id>>15), 16)
	dst = append(dst, ':')
	dst = strconv.AppendUint(dst, uint64(1+id&0x7fff), 16)
	dst = append(dst, "::"...)
	return strconv.AppendUint(dst, 1+mix(uint64(id))>>32%0xfffe, 16)
}
