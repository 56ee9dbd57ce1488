package intern

import (
	"encoding/binary"
	"sync/atomic"
)

const (
	idBits     = 31
	idMask     = 1<<idBits - 1
	firstSlots = 1 << 10
	chunkNames = 1 << 12 // entries per chunk: 64 KiB
	blockBytes = 1 << 16
	inlineName = 15   // bytes of a name that fits into its entry
	inBlock    = 0xFF // first byte of an entry whose name lies in a block
)

// An entry is a name of up to 15 bytes behind its length, or inBlock and where the name lies:
// 3 bytes unused, 4 of block, 4 of offset, 4 of length.
type entry [1 + inlineName]byte

// A view is a Dict as of some moment; only its slots change after that, and each of them once.
type view struct {
	slots   []uint64 // a power of two
	shift   uint8    // 64 − log2 len(slots)
	entries []*[chunkNames]entry
	blocks  [][]byte
}

// find returns the id of the name with hash h. A nil view knows none.
func (v *view) find(h uint64, name []byte) (int32, bool) {
	if v == nil {
		return 0, false
	}
	mask := uint64(len(v.slots) - 1)
	for i := h >> v.shift; ; i++ {
		slot := atomic.LoadUint64(&v.slots[i&mask])
		if slot == 0 {
			return 0, false
		}
		if (slot^h)>>idBits == 0 {
			if id := int32(slot&idMask) - 1; v.has(id, name) {
				return id, true
			}
		}
	}
}

// has reports whether id is the id of name. Of ids younger than the view it knows nothing and denies them.
func (v *view) has(id int32, name []byte) bool {
	chunk := int(id) / chunkNames
	if chunk >= len(v.entries) {
		return false
	}
	e := &v.entries[chunk][id%chunkNames]
	if len(name) <= inlineName {
		return int(e[0]) == len(name) && string(e[1:1+len(name)]) == string(name)
	}
	return e[0] == inBlock && string(v.long(e)) == string(name)
}

// name returns the bytes of a name, which must not be changed.
func (v *view) name(id int32) []byte {
	e := &v.entries[id/chunkNames][id%chunkNames]
	if e[0] == inBlock {
		return v.long(e)
	}
	return e[1 : 1+e[0]]
}

// long returns the name that lies in a block, or nothing when the block is younger than the view.
func (v *view) long(e *entry) []byte {
	block := binary.LittleEndian.Uint32(e[4:])
	if int(block) >= len(v.blocks) {
		return nil
	}
	at, n := binary.LittleEndian.Uint32(e[8:]), binary.LittleEndian.Uint32(e[12:])
	return v.blocks[block][at : at+n]
}

// place writes an id into the first free slot of its hash.
func (v *view) place(h uint64, id int32) {
	mask := uint64(len(v.slots) - 1)
	i := h >> v.shift
	for v.slots[i&mask] != 0 {
		i++
	}
	atomic.StoreUint64(&v.slots[i&mask], h&^idMask|uint64(id+1))
}
