package intern

import (
	"fmt"
	"testing"

	"shadow/internal/testneeds"
)

// A Finder finds what its Dict finds, also names that have the same first and last bytes, or share a place.
func TestFinder(t *testing.T) {
	d, rng := NewDict(), testneeds.Rand(t, 1, 2)
	f := d.NewFinder()
	for range 300_000 {
		name := fmt.Appendf(nil, "192.0.%d.%d", rng.IntN(256), rng.IntN(256))
		switch rng.IntN(8) {
		case 0:
			name = make([]byte, rng.IntN(20))
		case 1:
			name = []byte("aaaaaaaaaaaaaaaaaaaaaaaa")[:rng.IntN(24)]
		case 2:
			name = fmt.Appendf(nil, "2001:db8::%x", rng.IntN(1<<16))
		}
		if got, want := f.ID(name), d.ID(name); got != want {
			t.Fatalf("%q is %d, want %d", name, got, want)
		}
		if id := f.ID(name); d.Name(id) != string(name) {
			t.Fatalf("%q is %q", name, d.Name(id))
		}
	}
}
