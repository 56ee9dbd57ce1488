package traffic

import (
	"encoding/binary"
	"errors"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The names of tables are packed in the order of their ids, so that packed rows of the same process mean the same to
// another one:
//
//	table   number of names | length, name | length, name …     as numbers of variable length

// A namesTable is one of the Tables. Agents are taken in as they are, not folded once more.
type namesTable struct {
	dict *intern.Dict
	most int // names
}

func (t *Tables) all() [nameKinds]namesTable {
	const dense = 1<<31 - 2
	return [...]namesTable{
		clientName: {t.Clients, dense}, agentName: {t.Agents.Names(), 1 << 16}, actionName: {t.Actions, 1 << 16},
		hostName: {t.Hosts, dense}, userName: {t.Users, dense}, pathName: {t.Paths, dense},
		valueName: {t.Values, dense},
	}
}

// Pack appends all names.
func (t *Tables) Pack(to []byte) []byte {
	for _, table := range t.all() {
		to = PackNames(to, table.dict)
	}
	return to
}

// PackNames appends the names of a dictionary.
func PackNames(to []byte, d *intern.Dict) []byte {
	n := d.Len()
	to = binary.AppendUvarint(to, uint64(n))
	for id := range int32(n) {
		name := d.Bytes(id)
		to = append(binary.AppendUvarint(to, uint64(len(name))), name...)
	}
	return to
}

// PackedTables are the names of tables that were packed. They lie where they were read.
type PackedTables struct {
	names [nameKinds]PackedNames
}

// PackedNames are the names of a dictionary that was packed.
type PackedNames struct {
	n    int
	rest []byte
}

var errNames = errors.New("packed names: cut short")

// UnpackNames reads the names that PackNames has written at the beginning of from, and returns what follows.
func UnpackNames(from []byte) (p PackedNames, rest []byte, err error) {
	n, k := binary.Uvarint(from)
	if k <= 0 || n > uint64(len(from)-k) { // each takes a byte at least
		return p, nil, errNames
	}
	p.n, p.rest = int(n), from[k:]
	rest = p.rest
	for range n {
		size, k := binary.Uvarint(rest)
		if k <= 0 || size > uint64(len(rest)-k) || size > intern.MaxName+1 {
			return p, nil, errNames
		}
		rest = rest[k+int(size):]
	}
	p.rest = p.rest[:len(p.rest)-len(rest)]
	return p, rest, nil
}

// Each calls do with each name, in the order of ids, while that returns true.
func (p PackedNames) Each(do func(id int32, name []byte) bool) {
	rest := p.rest
	for id := range int32(p.n) {
		size, k := binary.Uvarint(rest)
		if !do(id, rest[k:k+int(size)]) {
			return
		}
		rest = rest[k+int(size):]
	}
}

// Len returns the number of names.
func (p PackedNames) Len() int { return p.n }

// Actions returns the names of actions.
func (p *PackedTables) Actions() PackedNames { return p.names[actionName] }

// UnpackTables reads what Tables.Pack has written at the beginning of from, and returns what follows.
func UnpackTables(from []byte) (p *PackedTables, rest []byte, err error) {
	p, rest = new(PackedTables), from
	for kind := range p.names {
		if p.names[kind], rest, err = UnpackNames(rest); err != nil {
			return nil, nil, err
		}
	}
	return p, rest, nil
}

// Verify fails unless all rows make sense: each column that like has is there, and no other, all are of one length, ids
// are among the names, times within bounds, and no request was let in before its time or before the moment since. It returns
// the latest of the moments when they were let in.
func (p *PackedTables) Verify(b *Batch, like Columns, since limit.Time) (limit.Time, error) {
	for _, c := range b.columns() {
		if c.has() != (c.wanted == nil || c.wanted(like)) || c.has() && !c.below(b.Len(), p.names[:], c.kind) {
			return 0, errPacked
		}
	}
	latest := since
	seqs := b.Sequence()
	for i, at := range b.At {
		seq := seqs[i]
		if at < MinTime || seq > MaxTime || seq < at || seq < since {
			return 0, errPacked
		}
		latest = max(latest, seq)
	}
	return latest, nil
}
