package traffic

import (
	"bytes"
	"slices"
	"testing"

	"shadow/internal/request"
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

// Keys come back as the same names, whatever ids these have now: of a user, or of the client of a request without one.
func TestKeysAreRestored(t *testing.T) {
	by, err := request.ParseKey("user+action")
	if err != nil {
		t.Fatal(err)
	}
	was, is := NewTables(), NewTables()
	batch := func(tables *Tables, order ...int) *Batch {
		b := new(Batch)
		for _, i := range order {
			b.At, b.Action = append(b.At, 0), append(b.Action, uint16(tables.Actions.ID([]byte{"ab"[i%2]})))
			b.Client = append(b.Client, tables.Clients.ID([]byte{'0' + byte(i)}))
			user := int32(NoUser)
			if i > 1 {
				user = tables.Users.ID([]byte{'0' + byte(i/2)}) // also the name of a client
			}
			b.User = append(b.User, user)
		}
		return b
	}
	before, after := Timelines{By: by}, Timelines{By: by}
	before.Fill(batch(was, 3, 0, 2, 1, 4, 5), was)
	var kept bytes.Buffer
	to := NewEncoder(was, &kept)
	before.Save(before.Column, to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	other := batch(is, 5, 4, 3, 2, 1, 0)
	from := NewDecoder(kept.Bytes(), is, is.Actions.ID)
	keys := after.Restore(len(before.Column), from)
	after.Fill(other, is)
	if c := after.Column; !slices.Equal(keys, []int32{c[2], c[5], c[3], c[4], c[1], c[0]}) || after.Len != 6 {
		t.Errorf("%v are restored as %v, of %v: %v", before.Column, keys, c, from.Err())
	}
}
