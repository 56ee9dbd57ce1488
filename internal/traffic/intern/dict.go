package intern

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
)

// A Dict gives each distinct name a dense id, from 0 in the order of arrival. Any number of goroutines may call it.
// It never forgets. The zero Dict is empty and ready for use.
//
// A name that is known is found without a lock and without an allocation; only a new name takes the mutex. Everything
// that a reader touches hangs on one atomic pointer, the view:
//
//	view ── slots   open addressing, linear probing: 33 bits of hash | 31 bits of id + 1, 0 is free
//	     ├─ entries chunks of 16-byte entries by id: names up to 15 bytes (every IPv4 address) lie in their entry
//	     └─ blocks  the longer names, end to end
//
// Slots are written once, after what they lead to. A slot's index is the top bits of its hash, so a table is doubled
// without looking at a single name. A view that is out of date misses names and is asked again under the mutex.
//
// An IPv4 address takes 16 bytes of entry and, at a load between 3/8 and 3/4, 11 to 21 bytes of slots.
type Dict struct {
	view atomic.Pointer[view]

	mu    sync.Mutex
	count atomic.Int32 // names taken in; changes under mu
	free  []byte       // what is left of the last block
	most  int32        // names, the last of which stands for all that do not fit; 0 means math.MaxInt32
}

// How names are kept. MaxName is the longest that is kept whole.
const (
	MaxName     = 512 // bytes of a name that is kept whole
	keptOfLong  = 493 // bytes kept of a longer one, which makes it maxName+1 bytes with its mark and hash
	markOfLong  = "…#"
	hashOfLong  = 8 // bytes of SHA-256, in hex
	furtherName = "(further names)"
)

// seed makes slots unpredictable: no client can write a log that makes the dictionaries slow.
var seed = maphash.MakeSeed()

// NewDict returns an empty dictionary.
func NewDict() *Dict { return new(Dict) }

// ID returns the id of name, which it takes in if it is new. It keeps no reference to name.
//
// Of a name longer than 512 bytes the first 493 are kept, with a hash of the whole, so that distinct names stay
// distinct. After 2³¹−2 names, all new ones share the last id.
func (d *Dict) ID(name []byte) int32 {
	if len(name) > MaxName && !isShortened(name) {
		return d.shortID(name)
	}
	h := maphash.Bytes(seed, name)
	if id, ok := d.view.Load().find(h, name); ok {
		return id
	}
	return d.insert(h, name)
}

// shortID works as ID for a name that is too long to be kept.
func (d *Dict) shortID(name []byte) int32 {
	var buf [MaxName + 1]byte
	short := shorten(buf[:0], name)
	h := maphash.Bytes(seed, short)
	if id, ok := d.view.Load().find(h, short); ok {
		return id
	}
	return d.insert(h, short)
}

// shorten appends to dst what is kept of a long name.
func shorten(dst, name []byte) []byte {
	sum := sha256.Sum256(name)
	dst = append(dst, name[:keptOfLong]...)
	dst = append(dst, markOfLong...)
	return hex.AppendEncode(dst, sum[:hashOfLong])
}

// isShortened reports whether a name is what is kept of a long one: a name that comes back from Name is not shortened again.
func isShortened(name []byte) bool {
	return len(name) == MaxName+1 && string(name[keptOfLong:keptOfLong+len(markOfLong)]) == markOfLong
}

// NewBounded returns an empty dictionary for at most so many names; all that do not fit share one more.
func NewBounded(most int32) *Dict { return &Dict{most: most + 1} }

// Find returns the id of name if it has one.
func (d *Dict) Find(name []byte) (int32, bool) {
	if len(name) > MaxName && !isShortened(name) {
		var buf [MaxName + 1]byte
		name = shorten(buf[:0], name)
	}
	return d.view.Load().find(maphash.Bytes(seed, name), name)
}

// Name returns the name of an id that ID has returned.
func (d *Dict) Name(id int32) string { return string(d.view.Load().name(id)) }

// Bytes returns a name as Name does, without a copy. The bytes must not be changed.
func (d *Dict) Bytes(id int32) []byte { return d.view.Load().name(id) }

// Len returns the number of names; the ids are 0 … Len−1.
func (d *Dict) Len() int { return int(d.count.Load()) }

// insert takes name in, unless another goroutine was quicker.
func (d *Dict) insert(h uint64, name []byte) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.view.Load()
	if id, ok := v.find(h, name); ok {
		return id
	}
	id := d.count.Load()
	if last := d.last(); id > last {
		return last
	} else if id == last {
		name = []byte(furtherName)
	}
	v = v.roomFor(id)
	v = d.write(v, id, name)
	d.view.Store(v)
	d.count.Store(id + 1)
	v.place(h, id) // last of all: from here on readers find it
	return id
}

// last returns the id that all further names share.
func (d *Dict) last() int32 {
	if d.most > 0 {
		return d.most - 1
	}
	return math.MaxInt32 - 2
}

// roomFor returns a view with an entry and a free slot for id: v, or a new one that shares what it can.
func (v *view) roomFor(id int32) *view {
	if v == nil {
		v = &view{slots: make([]uint64, firstSlots), shift: 64 - 10}
	}
	if uint64(id) >= uint64(len(v.slots))/4*3 {
		w := *v // with twice the slots
		w.shift--
		w.slots = make([]uint64, 2*len(v.slots))
		for _, slot := range v.slots {
			if slot != 0 {
				w.place(slot, int32(slot&idMask)-1)
			}
		}
		v = &w
	}
	if int(id)/chunkNames == len(v.entries) {
		w := *v
		w.entries = append(w.entries, new([chunkNames]entry))
		v = &w
	}
	return v
}

// write fills the entry of id and, for a longer name, appends the name to a block.
func (d *Dict) write(v *view, id int32, name []byte) *view {
	e := &v.entries[id/chunkNames][id%chunkNames]
	if len(name) <= inlineName {
		e[0] = byte(len(name))
		copy(e[1:], name)
		return v
	}
	if len(d.free) < len(name) {
		w := *v
		d.free = make([]byte, blockBytes)
		w.blocks = append(w.blocks, d.free)
		v = &w
	}
	at := blockBytes - len(d.free)
	d.free = d.free[copy(d.free, name):]
	e[0] = inBlock
	binary.LittleEndian.PutUint32(e[4:], uint32(len(v.blocks)-1))
	binary.LittleEndian.PutUint32(e[8:], uint32(at))
	binary.LittleEndian.PutUint32(e[12:], uint32(len(name)))
	return v
}
