package traffic

import (
	"encoding/binary"
	"errors"
	"io"

	"shadow/limit"
)

// What a run has to remember is written as numbers of variable length (encoding/binary) and as names. An id means
// nothing to the next process, so a name stands in its place: the first time in full, behind a 0; from then on as the
// number that it got by that.
//
//	client 17 ──▶ 0 "192.0.2.7"    client 4 ──▶ 0 "192.0.2.9"    client 17 ──▶ 1

// An Encoder writes a checkpoint, in pieces: what has to be remembered may be large.
type Encoder struct {
	tables *Tables
	to     io.Writer
	err    error  // of to, the first one
	out    []byte // what has not gone there
	known  [nameKinds]knownIDs
}

// encoderBytes is how much of a checkpoint is in memory.
const encoderBytes = 64 << 10

type nameKind uint8

const (
	clientName nameKind = iota
	agentName
	actionName
	hostName
	userName
	pathName
	nameKinds
)

// knownIDs are the numbers that ids have got, 0 for none.
type knownIDs struct {
	numbers []uint32
	last    uint32
}

// NewEncoder returns one that has written nothing.
func NewEncoder(t *Tables, to io.Writer) *Encoder {
	return &Encoder{tables: t, to: to, out: make([]byte, 0, encoderBytes+encoderBytes/8)}
}

// Flush writes what is left, and returns the first error that there was in writing.
func (e *Encoder) Flush() error {
	if e.err == nil && len(e.out) > 0 {
		_, e.err = e.to.Write(e.out)
	}
	e.out = e.out[:0]
	return e.err
}

// spill keeps memory within bounds. It is called often enough, by whatever writes a row or a key.
func (e *Encoder) spill() {
	if len(e.out) >= encoderBytes {
		_ = e.Flush() // the error is kept
	}
}

// Int writes a number.
func (e *Encoder) Int(v int64) { e.out = binary.AppendVarint(e.out, v) }

// Uint writes a number that is not negative.
func (e *Encoder) Uint(v uint64) { e.out = binary.AppendUvarint(e.out, v) }

// Text writes a text.
func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.out = append(e.out, s...)
}

// State writes what a limiter remembers of a key.
func (e *Encoder) State(s *limit.State) {
	e.out, _ = s.AppendBinary(e.out) // the error is always nil
	e.spill()
}

// Client writes a client by its id, and so do the others.
func (e *Encoder) Client(id int32) { e.name(clientName, id, e.tables.Clients) }

// Agent writes an agent.
func (e *Encoder) Agent(id uint16) { e.name(agentName, int32(id), e.tables.Agents) }

// Action writes an action.
func (e *Encoder) Action(id uint16) { e.name(actionName, int32(id), e.tables.Actions) }

// Host writes a host.
func (e *Encoder) Host(id int32) { e.name(hostName, id, e.tables.Hosts) }

// User writes a user.
func (e *Encoder) User(id int32) { e.name(userName, id, e.tables.Users) }

// Path writes a path.
func (e *Encoder) Path(id int32) { e.name(pathName, id, e.tables.Paths) }

func (e *Encoder) name(kind nameKind, id int32, names interface{ Name(id int32) string }) {
	k := &e.known[kind]
	k.numbers = append(k.numbers, make([]uint32, max(0, int(id)+1-len(k.numbers)))...)
	e.Uint(uint64(k.numbers[id]))
	if k.numbers[id] == 0 {
		k.last++
		k.numbers[id] = k.last
		e.Text(names.Name(id))
	}
	e.spill()
}

// A Decoder reads what an Encoder wrote, and takes the names into tables. It reads until the first error; from then on
// all is 0.
type Decoder struct {
	tables *Tables
	action func(name []byte) int32
	rest   []byte
	known  [nameKinds][]int32
	err    error
}

var (
	errCutShort = errors.New("checkpoint: ends too early")
	errNoName   = errors.New("checkpoint: a name is told by a number that it has not got")
)

// NewDecoder reads b. action takes the name of an action into t.Actions.
func NewDecoder(b []byte, t *Tables, action func(name []byte) int32) *Decoder {
	return &Decoder{rest: b, tables: t, action: action}
}

// Err is the first error.
func (d *Decoder) Err() error { return d.err }

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

// Client reads a client and returns its id, and so do the others.
func (d *Decoder) Client() int32 { return d.name(clientName, d.tables.Clients.ID) }

// Agent reads an agent.
func (d *Decoder) Agent() uint16 { return uint16(d.name(agentName, d.tables.Agents.ID)) }

// Action reads an action.
func (d *Decoder) Action() uint16 { return uint16(d.name(actionName, d.action)) }

// Host reads a host.
func (d *Decoder) Host() int32 { return d.name(hostName, d.tables.Hosts.ID) }

// User reads a user.
func (d *Decoder) User() int32 { return d.name(userName, d.tables.Users.ID) }

// Path reads a path.
func (d *Decoder) Path() int32 { return d.name(pathName, d.tables.Paths.ID) }

func (d *Decoder) name(kind nameKind, id func([]byte) int32) int32 {
	k := &d.known[kind]
	n := d.Uint()
	switch {
	case n == 0 && d.err == nil:
		name := d.text()
		if d.err == nil {
			*k = append(*k, id(name))
			return (*k)[len(*k)-1]
		}
	case n > uint64(len(*k)):
		d.Fail(errNoName)
	case n > 0:
		return (*k)[n-1]
	}
	return 0
}
