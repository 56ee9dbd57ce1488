package intern

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// A Finder finds the ids of names for one goroutine. Who sends a request has mostly sent one shortly before. So the names
// that came last stand in a table, with their ids beside them, that fits into the caches of a core: one look, instead
// of one into the slots of the Dict and one at the name.
//
// A name of 8 to 16 bytes, as nearly all addresses are, is known by its first eight, its last eight and its length.
// Others are asked of the Dict.
type Finder struct {
	dict   *Dict
	places [1 << finderBits]place
}

// A place has the name that came last of those that share it.
type place struct {
	first, last uint64
	id          int32
	length      int32 // 0: none came
}

const finderBits = 14 // of the index of a place: 384 KiB

// finderKeys holds secrets, so that no client can write names that share a place.
var finderKeys = [2]uint64{rand.Uint64(), rand.Uint64()}

// NewFinder returns a Finder for one goroutine.
func (d *Dict) NewFinder() *Finder { return &Finder{dict: d} }

// ID is Dict.ID.
func (f *Finder) ID(name []byte) int32 {
	n := len(name)
	if n < 8 || n > 16 {
		return f.dict.ID(name)
	}
	first, last := binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[n-8:])
	high, low := bits.Mul64(first^finderKeys[0], last^finderKeys[1])
	p := &f.places[(high^low)>>(64-finderBits)]
	if p.first != first || p.last != last || p.length != int32(n) {
		*p = place{first: first, last: last, id: f.dict.ID(name), length: int32(n)}
	}
	return p.id
}
