package parse

import (
	"strings"
	"testing"
)

func TestIsClient(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "-": true, "192.0.2.7": true, "2001:db8::7": true, "fe80::1%eth0": true, "::ffff:192.0.2.7": true,
		"192.0.2.0/24": true, "2001:db8::/64": true, "unix": true, "localhost": true, "a_b.example": true, "example.org.": true,
		"piweba3y.prodigy.com": true, "192.0.2.x": true, "xn--bcher-kva.example": true, "7.example": true, "2001:db8:17:1": true, "10:00:00": false, "_gateway": true,
		"Mar  2 10": false, "2026-03-02T10": true, "17": false, "192.0.2": false, "192.0.2.256": false, "192.0.2.7.": true, "[01": false,
		"GET /": false, "\"": false, "2001": false, "12:34": false, "a/b": false, "alice@example": false, "b\xc3\xbccher": false, ".": false,
		strings.Repeat("a", 255): false, "1.5": false, "200": false,
	} {
		if IsClient([]byte(text)) != want {
			t.Errorf("%q: %t, want %t", text, !want, want)
		}
	}
}
