package traffic

import (
	"bytes"
	"testing"

	"shadow/limit"
)

// What is kept of a key is read into sights that have seen nothing yet.
func TestSightsAreRestored(t *testing.T) {
	const key = 3 << 10 // not on the first page
	tables := NewTables()
	var seen, again Sights
	seen.sights.Grow(key + 1)
	*seen.sights.At(key) = sight{latest: 5 * limit.Second, place: 7}
	var state bytes.Buffer
	to := NewEncoder(tables, &state)
	seen.Save(key, to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	again.Restore(key, key+1, NewDecoder(state.Bytes(), tables, nil))
	if got, want := *again.sights.At(key), *seen.sights.At(key); got != want {
		t.Errorf("%+v is restored as %+v", want, got)
	}
}
