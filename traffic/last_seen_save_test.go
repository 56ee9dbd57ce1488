package traffic

import (
	"bytes"
	"testing"

	"shadow/limit"
)

// What is kept of a key is read into a LastSeen that has seen nothing yet.
func TestLastSeenIsRestored(t *testing.T) {
	const key = 3 << 10 // not on the first page
	tables := NewTables()
	var seen, again LastSeen
	seen.keys.Grow(key + 1)
	*seen.keys.At(key) = keySeen{latest: 5 * limit.Second, seq: 7}
	var state bytes.Buffer
	to := NewEncoder(tables, &state)
	seen.Save([]int32{key}, to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	again.Restore([]int32{key}, key+1, NewDecoder(state.Bytes(), tables, nil))
	if got, want := *again.keys.At(key), *seen.keys.At(key); got != want {
		t.Errorf("%+v is restored as %+v", want, got)
	}
}
