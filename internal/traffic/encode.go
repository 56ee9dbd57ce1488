package traffic

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"shadow/limit"
)

// A run writes what it has to remember as numbers of variable length (encoding/binary), and as columns: packed, in pieces,
// each behind the names that occur in it first.
//
//	column   names | packed numbers         up to pieceRows, then the next piece
//	rows     names | size | packed columns  likewise

// TraceVersion is the version of all that an Encoder writes, and of packed rows: what has another one is refused.
const TraceVersion = 7

// An Encoder writes a checkpoint, in pieces: what has to be remembered may be large.
type Encoder struct {
	to      io.Writer
	err     error  // of to, the first one
	out     []byte // what has not gone there
	tables  *Tables
	numbers [NameKinds][]int32 // + 1, by id; 0: none yet
	count   [NameKinds]int32
	fresh   [NameKinds][]int32 // ids whose names are still to be written
}

const (
	encoderBytes = 64 << 10 // about the most of a checkpoint in memory
	pieceRows    = 16 << 10
)

// NewEncoder returns one that has written nothing.
func NewEncoder(t *Tables, to io.Writer) *Encoder {
	return &Encoder{to: to, tables: t, out: make([]byte, 0, encoderBytes+encoderBytes/8)}
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

// number returns the number of an id, which gets one if it has none.
func (e *Encoder) number(kind NameKind, id int32) int32 {
	numbers := &e.numbers[kind]
	*numbers = append(*numbers, make([]int32, max(0, int(id)+1-len(*numbers)))...)
	if (*numbers)[id] == 0 {
		e.count[kind]++
		(*numbers)[id] = e.count[kind]
		e.fresh[kind] = append(e.fresh[kind], id)
	}
	return (*numbers)[id] - 1
}

// names writes the names that got a number since they were written last.
func (e *Encoder) names(kind NameKind) {
	e.Uint(uint64(len(e.fresh[kind])))
	for _, id := range e.fresh[kind] {
		e.out = e.tables.AppendName(e.out, kind, id)
		e.flushFull()
	}
	e.fresh[kind] = e.fresh[kind][:0]
}

// saveNumbers writes a column of numbers.
func saveNumbers[T integer](e *Encoder, column []T) {
	for piece := range slices.Chunk(column, pieceRows) {
		e.out = append(packNumbers(e.out, piece, 1), make([]byte, packSlack)...)
		e.flushFull()
	}
}

// saveIDs writes a column of ids, none of them NoUser or NoValue.
func (e *Encoder) saveIDs(kind NameKind, column []int32) {
	numbers := make([]int32, 0, min(len(column), pieceRows))
	for piece := range slices.Chunk(column, pieceRows) {
		numbers = numbers[:0]
		for _, id := range piece {
			numbers = append(numbers, e.number(kind, id))
		}
		e.names(kind)
		saveNumbers(e, numbers)
	}
}

// saveRows writes the rows i … j−1 of a batch, at most pieceRows.
func (e *Encoder) saveRows(b *Batch, i, j int) {
	var piece Batch
	piece.Take(b, i, j)
	piece.Visitor = nil
	piece.Renumber(e.number)
	for kind := range NameKind(NameKinds) {
		e.names(kind)
	}
	packed := piece.Pack(nil, 0, j-i)
	e.Uint(uint64(len(packed)))
	e.out = append(e.out, packed...)
	e.out = append(e.out, make([]byte, max(0, j-i-len(packed)))...) // see Decoder.Count
	e.flushFull()
}

// A Decoder reads what an Encoder wrote, and takes the names into tables. It reads until the first error; from then on
// all is 0.
type Decoder struct {
	tables *Tables
	rest   []byte
	names  *KnownNames
	err    error
}

var (
	errCutShort = errors.New("checkpoint: ends too early")
	errTooLong  = errors.New("checkpoint: goes on behind its end")
)

// NewDecoder reads b. action takes the name of an action into t.Actions.
func NewDecoder(b []byte, t *Tables, action func(name []byte) int32) *Decoder {
	return &Decoder{rest: b, tables: t, names: NewKnownNames(t, action)}
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
	if d.err == nil && err != nil {
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
func (d *Decoder) Text() string { return string(d.bytes(d.Count())) }

// bytes reads so many bytes.
func (d *Decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.Fail(errCutShort)
		return nil
	}
	read := d.rest[:n]
	d.rest = d.rest[n:]
	return read
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

// addNames reads names of a kind.
func (d *Decoder) addNames(kind NameKind) {
	if d.err == nil {
		rest, err := d.names.Add(kind, d.rest)
		d.rest = rest
		d.Fail(err)
	}
}

// restoreNumbers reads n numbers.
func restoreNumbers[T integer](d *Decoder, n int) []T {
	column := make([]T, n)
	for piece := range slices.Chunk(column, pieceRows) {
		u := unpacker{rest: d.rest}
		unpackNumbers(&u, piece)
		if d.rest = u.rest; u.cut {
			d.Fail(errCutShort)
		} else {
			d.rest = d.rest[packSlack:]
		}
	}
	return column
}

// restoreIDs reads n ids.
func (d *Decoder) restoreIDs(kind NameKind, n int) []int32 {
	column := make([]int32, 0, n)
	for len(column) < n && d.err == nil {
		d.addNames(kind)
		for _, number := range restoreNumbers[int32](d, min(n-len(column), pieceRows)) {
			id, ok := d.names.id(kind, number)
			if !ok {
				d.Fail(errNoName)
			}
			column = append(column, id)
		}
	}
	return column[:n]
}

// restoreRows appends n rows to a batch, at most pieceRows.
func (d *Decoder) restoreRows(b *Batch, n int) {
	for kind := range NameKind(NameKinds) {
		d.addNames(kind)
	}
	size := d.Count()
	packed := d.bytes(size)
	d.bytes(max(0, n-size))
	if d.err != nil {
		return
	}
	piece := new(Batch)
	err := piece.Unpack(packed, n)
	if err == nil {
		err = d.names.Translate(piece)
	}
	if d.Fail(err); err == nil {
		b.Take(piece, 0, n)
	}
}
