package parse

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// checkAddr holds Addr against net/netip.
func checkAddr(t interface{ Errorf(string, ...any) }, s string) {
	want, err := netip.ParseAddr(s)
	wantOK := err == nil && want.Zone() == ""
	got, ok := Addr([]byte(s))
	if ok != wantOK || ok && got != want.Unmap() {
		t.Errorf("Addr(%q) = %v, %v; netip says %v, %v", s, got, ok, want, err)
	}
}

func TestAddressesAsNetipReadsThem(t *testing.T) {
	part := rapid.SampledFrom([]string{"0", "1", "12", "255", "256", "01", "", "ff", "db8", "FFFF", "10000", "00001", ":", "::", ".", ":", ".", "1.2.3.4", "g", "%"})
	number := rapid.SampledFrom([]string{"0", "1", "12", "255", "256", "01", "00", ""})
	testneeds.Rapid(t, func(t *rapid.T) {
		checkAddr(t, strings.Join(rapid.SliceOfN(number, 4, 4).Draw(t, "dotted"), "."))
		checkAddr(t, strings.Join(rapid.SliceOfN(part, 0, 17).Draw(t, "parts"), ""))
		checkAddr(t, strings.Join(rapid.SliceOfN(part, 0, 9).Draw(t, "groups"), ":"))
		checkAddr(t, strings.Join(rapid.SliceOfN(part, 2, 5).Draw(t, "numbers"), "."))
		var a [16]byte
		copy(a[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 0, 1, 255}), 16, 16).Draw(t, "address"))
		checkAddr(t, netip.AddrFrom16(a).String())
		checkAddr(t, netip.AddrFrom16(a).StringExpanded())
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"", "203.0.113.7", "::", "::1", "1::", "2001:db8::1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::ffff:1.2.3.4", "1.2.3.4.5", "fe80::1%eth0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkAddr(t, s) })
}
