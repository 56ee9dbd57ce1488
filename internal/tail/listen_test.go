//go:build !nostore

package tail

import (
	"net"
	"testing"
)

// Of the quiet connections the one that is closed is forgotten, and the others keep their order.
func TestWithout(t *testing.T) {
	var all []net.Conn
	for range 3 {
		a, b := net.Pipe()
		t.Cleanup(func() { a.Close(); b.Close() })
		all = append(all, a)
	}
	first, gone, last := all[0], all[1], all[2]
	if left := without(all, gone); len(left) != 2 || left[0] != first || left[1] != last {
		t.Errorf("%d are left", len(left))
	}
}
