package findings

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"shadow/internal/traffic/match"
	"shadow/report/format"
)

// masked tells that addresses have lost their last parts, as of 192.0.2.0 and 2001:db8::, so that each stands for a network.
func (l *clients) masked() []Finding {
	var whole, cut, requests int64
	for id := range int32(l.all.Len()) {
		n, a := l.all.At(id).requests(), l.address(id)
		switch {
		case n == 0 || !a.IsValid() || match.IsPrivate(a):
		case isMasked(a):
			cut++
			requests += n
		default:
			whole++
		}
	}
	if cut < mustClients || 20*whole > cut { // a server may write its own address whole
		return nil
	}
	return []Finding{{
		Code: "masked_addresses", Severity: Warn, Share: ShareOf(requests, l.total), Evidence: fmt.Sprintf(
			"%s of %s end in 0, so they are masked: limits here count networks, where a server counts addresses",
			format.Thousands(cut), addresses(cut+whole)),
	}}
}

// isMasked reports whether the last byte of an IPv4 address is 0, or the last half of another.
func isMasked(a netip.Addr) bool {
	b := a.As16()
	if a.Is4() {
		return b[15] == 0
	}
	return binary.BigEndian.Uint64(b[8:]) == 0
}
