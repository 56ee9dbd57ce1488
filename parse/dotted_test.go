package parse

import (
	"bytes"
	"testing"
)

// TestDotted holds the look at eight bytes at once against a look at each.
func TestDotted(t *testing.T) {
	slow := func(b []byte) bool {
		return len(b) >= 8 && len(b) <= 16 && len(bytes.Trim(b, "./0123456789")) == 0
	}
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				b := bytes.Repeat([]byte("1"), length)
				b[at] = byte(c)
				if got, want := dotted(b), slow(b); got != want {
					t.Fatalf("dotted(%q) is %v", b, got)
				}
			}
		}
	}
}
