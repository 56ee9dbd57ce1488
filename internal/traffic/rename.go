package traffic

import (
	"encoding/binary"
	"hash/fnv"

	"shadow/internal/request"
	"shadow/internal/traffic/intern"
)

// Batches may be divided among several owners, each of which keeps the names that occur in its rows, and no others. So
// each has ids of its own, in the order in which the names occur first.

// Owners give names ids of their own.
type Owners struct {
	tables *Tables
	few    [nameKinds][][]int32        // of agents and actions, by owner: its ids + 1, by id
	latest [nameKinds][]ownID          // of other names by id: the one that came last
	older  [nameKinds]map[ownKey]int32 // ids + 1 that are not the latest any more
	names  [][nameKinds][]int32        // by owner: the ids in the order of its own
}

type ownID struct{ owner, id int32 } // id + 1; 0: none

type ownKey struct{ owner, name int32 }

// NewOwners makes so many owners of names of some tables.
func NewOwners(n int, t *Tables) *Owners {
	o := &Owners{tables: t, names: make([][nameKinds][]int32, n)}
	for kind := range o.few {
		if o.isFew(nameKind(kind)) {
			o.few[kind] = make([][]int32, n)
		}
		o.older[kind] = map[ownKey]int32{}
	}
	return o
}

func (o *Owners) isFew(kind nameKind) bool { return kind == agentName || kind == actionName }

// Rename puts an owner's ids into a batch of its rows.
func (o *Owners) Rename(b *Batch, owner int32) {
	for _, c := range b.columns() {
		if c.has() && c.kind < nameKinds {
			c.rename(func(id int32) int32 { return o.id(c.kind, owner, id) })
		}
	}
}

func (o *Owners) id(kind nameKind, owner, name int32) int32 {
	if name == NoUser {
		return NoUser
	}
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
func (o *Owners) take(kind nameKind, owner, name int32) int32 {
	o.names[owner][kind] = append(o.names[owner][kind], name)
	return int32(len(o.names[owner][kind]))
}

// Pack appends the names of an owner, as Tables.Pack does.
func (o *Owners) Pack(to []byte, owner int32) []byte {
	for kind, table := range o.tables.all() {
		ids := o.names[owner][kind]
		to = binary.AppendUvarint(to, uint64(len(ids)))
		for _, id := range ids {
			name := table.dict.Bytes(id)
			to = append(binary.AppendUvarint(to, uint64(len(name))), name...)
		}
	}
	return to
}

// A Translation says what the ids of packed tables are in others.
type Translation [nameKinds][]int32

// TakeInto takes the names into tables, whatever they hold already. action takes the name of an action.
func (p *PackedTables) TakeInto(t *Tables, action func(name []byte) int32) *Translation {
	ids := [...]func([]byte) int32{t.Clients.ID, t.Agents.ID, action, t.Hosts.ID, t.Users.ID, t.Paths.ID, t.Values.ID}
	var tr Translation
	for kind, names := range p.names {
		names.Each(func(_ int32, name []byte) bool {
			tr[kind] = append(tr[kind], ids[kind](name))
			return true
		})
	}
	return &tr
}

// Translate puts ids into a batch that was verified.
func (tr *Translation) Translate(b *Batch) {
	for _, c := range b.columns() {
		if c.has() && c.kind < nameKinds {
			c.rename(func(id int32) int32 {
				if id == NoUser {
					return NoUser
				}
				return tr[c.kind][id]
			})
		}
	}
}

// Strip drops the optional columns that like does not have.
func (b *Batch) Strip(like Columns) {
	for _, c := range b.columns() {
		if c.wanted != nil && c.has() && !c.wanted(like) {
			c.fit(0, false)
		}
	}
}

func (c numbers[T]) rename(id func(int32) int32) {
	for i, v := range *c.rows {
		(*c.rows)[i] = T(id(int32(v)))
	}
}

func (c traces) rename(func(int32) int32) {}

// ShardOf returns in which of n shards the requests of a key belong: by a hash of its name (FNV-1a of 64 bits), the same
// one in all processes. The timelines must have been filled with the batch.
func (l *Timelines) ShardOf(b *Batch, row int, t *Tables, n int) int {
	h := fnv.New64a()
	for i := range l.each() {
		kind, name := t.partName(b, row, l.parts[i].Part)
		h.Write([]byte{kind})
		h.Write(name)
		h.Write([]byte{0xFF})
	}
	sum := h.Sum64()
	sum ^= sum >> 32 // the low bits of FNV alone are weak
	return int(sum % uint64(n))
}

// partName names what a row has of a part of a key; the byte says what kind of name that is.
func (t *Tables) partName(b *Batch, row int, part request.Part) (kind byte, name []byte) {
	client := t.Clients.Bytes(b.Client[row])
	of := func(ids []int32, names *intern.Dict) (byte, []byte) {
		if ids == nil || ids[row] == NoUser {
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
