package shard

import (
	"encoding/binary"
	"hash/fnv"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
)

// Batches may be divided among several owners, each of which keeps the names that occur in its rows, and no others. So
// each has ids of its own, in the order in which the names occur first.

// owners gives names ids of their own.
type owners struct {
	tables *traffic.Tables
	few    [traffic.NameKinds][][]int32        // of agents and actions, by owner: its ids + 1, by id
	latest [traffic.NameKinds][]ownID          // of other names by id: the one that came last
	older  [traffic.NameKinds]map[ownKey]int32 // ids + 1 that are not the latest any more
	names  [][traffic.NameKinds][]int32        // by owner: the ids in the order of its own
}

type ownID struct{ owner, id int32 } // id + 1; 0: none

type ownKey struct{ owner, name int32 }

// newOwners makes so many owners of names of some tables.
func newOwners(n int, t *traffic.Tables) *owners {
	o := &owners{tables: t, names: make([][traffic.NameKinds][]int32, n)}
	for kind := range o.few {
		if o.isFew(traffic.NameKind(kind)) {
			o.few[kind] = make([][]int32, n)
		}
		o.older[kind] = map[ownKey]int32{}
	}
	return o
}

func (o *owners) isFew(kind traffic.NameKind) bool {
	return kind == traffic.AgentName || kind == traffic.ActionName
}

// renumber puts an owner's ids into a batch of its rows.
func (o *owners) renumber(b *traffic.Batch, owner int32) {
	b.Renumber(func(kind traffic.NameKind, id int32) int32 { return o.id(kind, owner, id) })
}

func (o *owners) id(kind traffic.NameKind, owner, name int32) int32 {
	if o.isFew(kind) {
		ids := &o.few[kind][owner]
		if int(name) >= len(*ids) {
			*ids = append(*ids, make([]int32, int(name)+1-len(*ids))...)
		}
		if (*ids)[name] == 0 {
			(*ids)[name] = o.take(kind, owner, name)
		}
		return (*ids)[name] - 1
	}
	if int(name) >= len(o.latest[kind]) {
		o.latest[kind] = append(o.latest[kind], make([]ownID, max(int(name)+1, 2*len(o.latest[kind]))-len(o.latest[kind]))...)
	}
	l := &o.latest[kind][name]
	if l.id > 0 && l.owner == owner {
		return l.id - 1
	}
	id := o.older[kind][ownKey{owner, name}]
	if id == 0 {
		id = o.take(kind, owner, name)
	}
	if l.id > 0 {
		o.older[kind][ownKey{l.owner, name}] = l.id
	}
	*l = ownID{owner, id}
	return id - 1
}

// take gives a name the next id of an owner, and returns that plus 1.
func (o *owners) take(kind traffic.NameKind, owner, name int32) int32 {
	o.names[owner][kind] = append(o.names[owner][kind], name)
	return int32(len(o.names[owner][kind]))
}

// pack appends the names of an owner, kind by kind.
func (o *owners) pack(to []byte, owner int32) []byte {
	for kind, ids := range o.names[owner] {
		to = binary.AppendUvarint(to, uint64(len(ids)))
		for _, id := range ids {
			to = o.tables.AppendName(to, traffic.NameKind(kind), id)
		}
	}
	return to
}

// shardOf returns in which of n shards a request belongs: by a hash of what its key names (FNV-1a of 64 bits), the same
// one in all processes.
func shardOf(parts []request.Part, b *traffic.Batch, row int, t *traffic.Tables, n int) int {
	h := fnv.New64a()
	for _, part := range parts {
		kind, name := partName(b, row, t, part)
		h.Write([]byte{kind})
		h.Write(name)
		h.Write([]byte{0xFF})
	}
	sum := h.Sum64()
	sum ^= sum >> 32 // the low bits of FNV alone are weak
	return int(sum % uint64(n))
}

// partName names what a row has of a part of a key; the byte says what kind of name that is.
func partName(b *traffic.Batch, row int, t *traffic.Tables, part request.Part) (kind byte, name []byte) {
	client := t.Clients.Bytes(b.Client[row])
	of := func(ids []int32, names *intern.Dict) (byte, []byte) {
		if ids == nil || ids[row] == traffic.NoUser {
			return 'c', client
		}
		return 'n', names.Bytes(ids[row])
	}
	switch part.Kind {
	case request.PartClient:
		return 'c', client
	case request.PartSite:
		return 's', nil
	case request.PartHost:
		return of(b.Host, t.Hosts)
	case request.PartPath:
		return of(b.Path, t.Paths)
	case request.PartUser:
		return of(b.User, t.Users)
	case request.PartAgent:
		return 'n', t.Agents.Names().Bytes(int32(b.Agent[row]))
	case request.PartAction:
		return 'n', t.Actions.Bytes(int32(b.Action[row]))
	case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
		if group, ok := t.GroupOf(part, string(client)); ok {
			return 'n', []byte(group)
		}
		return 'c', client
	}
	return of(t.ValuesOf(b, part), t.Values)
}
