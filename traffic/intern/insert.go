package intern

import (
	"encoding/binary"
	"math"
)

// insert takes name in, unless somebody was quicker.
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

// last is the id that all further names share.
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
		v = v.doubled()
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
