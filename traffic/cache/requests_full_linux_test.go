package cache

import (
	"errors"
	"testing"

	"shadow/testneeds"
)

// A disk that is full is told with what is to be done.
func TestFullDisk(t *testing.T) {
	r := &Requests{Dir: testneeds.SmallDisk(t, 1000)}
	defer r.Close()
	rng := testneeds.Rand(t, 5, 3)
	batch := drawn(rng, frameRows)
	var full *FullError
	for range 100 {
		if err := r.Add(batch); err != nil {
			if !errors.As(err, &full) {
				t.Fatal(err)
			}
			return
		}
	}
	t.Errorf("%d MB fit", r.Size()>>20)
}
