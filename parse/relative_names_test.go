package parse

import "testing"

// What rotation puts behind a name, or before its ending, makes no log of its own; another number there does.
func TestIsRotated(t *testing.T) {
	for name, want := range map[string]bool{
		"access.log.1": true, "access.log.2.gz": true, "access.log-20261121.zst": true, "access.log.old": true,
		"access-20261121.log": true, "access_2026-11-21.log.xz": true, "access.1.log": true, "access.12.log.gz": true,
		"access-2.log": false, "access-8080.log": false, "access.10.0.0.5.log": false, "access-ssl.log": false,
		"access.log": false, "other.log.1": false, "access.logs": false,
	} {
		if got := IsRotated("access.log", name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
