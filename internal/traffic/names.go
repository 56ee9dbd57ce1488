package traffic

import (
	"encoding/binary"
	"errors"

	"shadow/internal/traffic/intern"
)

// An id means nothing to another process, so what leaves this one has numbers in place of ids, and the names once each:
// the numbers count them in the order in which they occur first.
//
//	client 17 4 17  ──▶  0 1 0  and  "192.0.2.7" "192.0.2.9"

// A NameKind is one of the Tables.
type NameKind uint8

// The kinds of names.
const (
	ClientName NameKind = iota
	AgentName
	ActionName
	hostName
	userName
	PathName
	valueName
	NameKinds  int = iota
	noName         = NameKind(NameKinds)
	visitorIDs     = NameKind(NameKinds) + 1 // evidence.Visitors gives them out, other ones in each process: none leaves it
)

// mayLack reports whether requests may lack what has names of a kind: NoUser and NoValue stay as they are.
func mayLack(kind NameKind) bool { return kind == userName || kind == valueName }

// AppendName appends the name of an id, behind its length.
func (t *Tables) AppendName(to []byte, kind NameKind, id int32) []byte {
	tables := [...]*intern.Dict{t.Clients, t.Agents.Names(), t.Actions, t.Hosts, t.Users, t.Paths, t.Values}
	name := tables[kind].Bytes(id)
	return append(binary.AppendUvarint(to, uint64(len(name))), name...)
}

// Renumber replaces each id of the batch by what number returns for it.
func (b *Batch) Renumber(number func(kind NameKind, id int32) int32) {
	for _, c := range b.columns() {
		if c.has() && c.kind < noName {
			c.renumber(func(id int32) int32 {
				if id == NoUser && mayLack(c.kind) {
					return id
				}
				return number(c.kind, id)
			})
		}
	}
}

// KnownNames are the names that were read so far, as ids of the tables that took them in.
type KnownNames struct {
	take [NameKinds]func(name []byte) int32
	ids  [NameKinds][]int32 // by number
}

var (
	errNames  = errors.New("names: cut short")
	errNoName = errors.New("names: a name is told by a number that it has not got")
)

// NewKnownNames returns KnownNames of tables. action takes the name of an action into t.Actions.
func NewKnownNames(t *Tables, action func(name []byte) int32) *KnownNames {
	take := [...]func([]byte) int32{t.Clients.ID, t.Agents.ID, action, t.Hosts.ID, t.Users.ID, t.Paths.ID, t.Values.ID}
	return &KnownNames{take: take}
}

// Add takes in names of a kind from the beginning of text: their number, and each as AppendName writes it. It returns
// what follows.
func (k *KnownNames) Add(kind NameKind, text []byte) (rest []byte, err error) {
	n, size := binary.Uvarint(text)
	if size <= 0 || n > uint64(len(text)-size) { // each takes a byte at least
		return nil, errNames
	}
	rest = text[size:]
	for range n {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > uint64(len(rest)-size) || length > intern.MaxName+1 {
			return nil, errNames
		}
		name := rest[size : size+int(length)]
		k.ids[kind], rest = append(k.ids[kind], k.take[kind](name)), rest[size+int(length):]
	}
	return rest, nil
}

// id returns the id of a number, and whether there is one.
func (k *KnownNames) id(kind NameKind, number int32) (id int32, ok bool) {
	if number < 0 || int(number) >= len(k.ids[kind]) {
		return 0, false
	}
	return k.ids[kind][number], true
}

// Translate puts ids in the place of the batch's numbers. It fails if there are other numbers than those of the names.
func (k *KnownNames) Translate(b *Batch) (err error) {
	b.Renumber(func(kind NameKind, number int32) int32 {
		id, ok := k.id(kind, number)
		if !ok {
			err = errNoName
		}
		return id
	})
	return err
}
