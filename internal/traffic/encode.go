package traffic

import (
	"encoding/binary"
	"errors"
	"io"

	"shadow/internal/request"
	"shadow/limit"
)

// A run writes what it has to remember as numbers of variable length (encoding/binary) and as names. An id means
// nothing to the next process, so a name stands in its place: the first time in full, behind a 0; from then on as the
// number that it got by that, from 2 on. 1 is NoUser or NoValue. Many values of one kind are written one behind the
// other, as a column: numbers as differences, since times are large and near each other.
//
//	client 17 ──▶ 0 "192.0.2.7"    client 4 ──▶ 0 "192.0.2.9"    client 17 ──▶ 2

// An Encoder writes a checkpoint, in pieces: what has to be remembered may be large.
type Encoder struct {
	to    io.Writer
	err   error  // of to, the first one
	out   []byte // what has not gone there
	names [nameKinds]func(id int32) string
	known [nameKinds]knownIDs
	parts []request.Part // of the columns of values
}

// encoderBytes is the most bytes of a checkpoint in memory.
const encoderBytes = 64 << 10

type nameKind uint8

const (
	clientName nameKind = iota
	agentName
	actionName
	hostName
	userName
	pathName
	valueName
	nameKinds
	noName     = nameKinds
	visitorIDs = nameKinds + 1 // evidence.Visitors gives them out, other ones in each process: no checkpoint has them
)

// knownIDs are the numbers that ids have got, 0 for none.
type knownIDs struct {
	numbers []uint32
	last    uint32
}

// NewEncoder returns one that has written nothing.
func NewEncoder(t *Tables, to io.Writer) *Encoder {
	return &Encoder{
		to: to, parts: t.Parts, out: make([]byte, 0, encoderBytes+encoderBytes/8),
		names: [...]func(int32) string{t.Clients.Name, t.Agents.Name, t.Actions.Name, t.Hosts.Name, t.Users.Name, t.Paths.Name, t.Values.Name},
	}
}

// Flush writes what is left, and returns the first error that there was in writing.
func (e *Encoder) Flush() error {
	if e.err == nil && len(e.out) > 0 {
		_, e.err = e.to.Write(e.out)
	}
	e.out = e.out[:0]
	return e.err
}

// flushFull keeps memory within bounds. It is called often enough, by whatever writes a row or a key.
func (e *Encoder) flushFull() {
	if len(e.out) >= encoderBytes {
		_ = e.Flush() // the error is kept
	}
}

// Int writes a number.
func (e *Encoder) Int(v int64) {
	e.out = binary.AppendVarint(e.out, v)
	e.flushFull()
}

// Uint writes a number that is not negative.
func (e *Encoder) Uint(v uint64) {
	e.out = binary.AppendUvarint(e.out, v)
	e.flushFull()
}

// Text writes a text.
func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.out = append(e.out, s...)
}

// State writes what a limiter remembers of a key.
func (e *Encoder) State(s *limit.State) {
	e.out, _ = s.AppendBinary(e.out) // the error is always nil
	e.flushFull()
}

type integer interface {
	~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Clients writes ids of clients, by their names.
func (e *Encoder) Clients(ids []int32) { saveNames(e, clientName, ids); e.flushFull() }

// Agents writes ids of agents, by their names.
func (e *Encoder) Agents(ids []int32) { saveNames(e, agentName, ids); e.flushFull() }

// Actions writes ids of actions, by their names.
func (e *Encoder) Actions(ids []int32) { saveNames(e, actionName, ids); e.flushFull() }

// Clients reads n ids of clients.
func (d *Decoder) Clients(n int) []int32 { return restoreNames[int32](d, clientName, nil, n) }

// Agents reads n ids of agents.
func (d *Decoder) Agents(n int) []int32 { return restoreNames[int32](d, agentName, nil, n) }

// Actions reads n ids of actions.
func (d *Decoder) Actions(n int) []int32 { return restoreNames[int32](d, actionName, nil, n) }

// saveNumbers writes a column of numbers.
func saveNumbers[T integer](e *Encoder, column []T) {
	var last T
	for _, v := range column {
		e.Int(int64(v) - int64(last))
		last = v
	}
}

// saveNames writes a column of ids. A user may be NoUser, a value NoValue.
func saveNames[T integer](e *Encoder, kind nameKind, column []T) {
	k := &e.known[kind]
	for _, v := range column {
		id := int32(v)
		if id == NoUser {
			e.Uint(nobody)
			continue
		}
		k.numbers = append(k.numbers, make([]uint32, max(0, int(id)+1-len(k.numbers)))...)
		e.Uint(uint64(k.numbers[id]))
		if k.numbers[id] == 0 {
			k.last++
			k.numbers[id] = k.last + nobody
			e.Text(e.names[kind](id))
		}
	}
}

// This number stands for NoUser and NoValue.
const nobody = 1

// mayLack reports whether requests may lack what has names of a kind.
func mayLack(kind nameKind) bool { return kind == userName || kind == valueName }

// A Decoder reads what an Encoder wrote, and takes the names into tables. It reads until the first error; from then on
// all is 0.
type Decoder struct {
	tables *Tables
	rest   []byte
	ids    [nameKinds]func(name []byte) int32
	known  [nameKinds][]int32
	err    error
}

var (
	errCutShort = errors.New("checkpoint: ends too early")
	errTooLong  = errors.New("checkpoint: goes on behind its end")
	errNoName   = errors.New("checkpoint: a name is told by a number that it has not got")
)

// NewDecoder reads b. action takes the name of an action into t.Actions.
func NewDecoder(b []byte, t *Tables, action func(name []byte) int32) *Decoder {
	ids := [...]func([]byte) int32{t.Clients.ID, t.Agents.ID, action, t.Hosts.ID, t.Users.ID, t.Paths.ID, t.Values.ID}
	return &Decoder{rest: b, tables: t, ids: ids}
}

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// End fails unless all has been read.
func (d *Decoder) End() {
	if len(d.rest) > 0 {
		d.Fail(errTooLong)
	}
}

// Fail makes err the first error, unless there was one. Readers of what makes no sense call it.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err, d.rest = err, nil
	}
}

// Int reads a number.
func (d *Decoder) Int() int64 {
	v, n := binary.Varint(d.rest)
	d.skip(n)
	return v
}

// Uint reads a number that is not negative.
func (d *Decoder) Uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.skip(n)
	return v
}

// Count reads how many things follow, of a byte at least each: so it cannot ask for more memory than what is read warrants.
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.rest)) {
		d.Fail(errCutShort)
		return 0
	}
	return int(n)
}

func (d *Decoder) skip(n int) {
	if n <= 0 {
		d.Fail(errCutShort)
		return
	}
	d.rest = d.rest[n:]
}

// Text reads a text.
func (d *Decoder) Text() string { return string(d.text()) }

func (d *Decoder) text() []byte {
	n := d.Count()
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

// State reads what a limiter remembers of a key.
func (d *Decoder) State() limit.State {
	s, rest, err := limit.DecodeState(d.rest)
	if err != nil {
		d.Fail(err)
		return limit.State{}
	}
	d.rest = rest
	return s
}

// restoreNumbers appends n numbers to a column, or fewer if there are not so many.
func restoreNumbers[T integer](d *Decoder, column []T, n int) []T {
	var last T
	for range n {
		last = T(int64(last) + d.Int())
		if d.err != nil {
			break
		}
		column = append(column, last)
	}
	return column
}

// restoreNames appends n ids to a column, or fewer if there are not so many.
func restoreNames[T integer](d *Decoder, kind nameKind, column []T, n int) []T {
	for range n {
		id := d.name(kind)
		if d.err != nil {
			break
		}
		column = append(column, T(id))
	}
	return column
}

func (d *Decoder) name(kind nameKind) int32 {
	known, n := d.known[kind], d.Uint()
	switch {
	case n == 0 && d.err == nil:
		if name := d.text(); d.err == nil {
			id := d.ids[kind](name)
			d.known[kind] = append(known, id)
			return id
		}
	case n == nobody && mayLack(kind):
		return NoUser
	case n > nobody && n-nobody <= uint64(len(known)):
		return known[n-nobody-1]
	default:
		d.Fail(errNoName)
	}
	return 0
}
