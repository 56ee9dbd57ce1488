package traffic

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"shadow/limit"
)

// Requests are packed wherever they are outside of a batch: for a further pass, in what a tail or a night holds back, on the
// way to another machine. They lie column by column, each value in as many whole bytes as the largest difference to the
// least value takes (frames of reference). So a pass over packed rows costs a few nanoseconds a row, and a request takes
// about 12 bytes. What goes to another process has numbers of names in place of ids, see Batch.Renumber.
//
//	column   width | unit | least value | (value − least value) / unit …
//
// Sequence times are packed of late rows only, with their places.

// What the first byte of a column says.
const (
	noColumn   = 0xFF // it is not there
	widthMask  = 0x0F // bytes of a value
	wholeUnits = 0x10 // values are whole seconds
)

// packSlack is the number of bytes behind packed rows, so that a value can be read as a word wherever it stands.
const packSlack = 8

type integer interface {
	~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

var errPacked = errors.New("packed requests: cut short")

// Pack appends rows i … j−1, of which there must be some.
func (b *Batch) Pack(to []byte, i, j int) []byte {
	var late []int32
	var seqs []limit.Time
	if b.Seq != nil {
		for row := i; row < j; row++ {
			if b.Seq[row] != b.At[row] {
				late, seqs = append(late, int32(row-i)), append(seqs, b.Seq[row])
			}
		}
	}
	to = binary.LittleEndian.AppendUint32(to, uint32(len(late)))
	if len(late) > 0 {
		to = packTimes(packNumbers(to, late, 1), seqs)
	}
	for k, c := range b.columns() {
		switch {
		case !c.has():
			to = append(to, noColumn)
		case k == 0:
			to = packTimes(to, b.At[i:j])
		default:
			to = c.pack(to, i, j)
		}
	}
	return append(to, make([]byte, packSlack)...)
}

// Unpack appends n rows that were packed. The batch gets the columns that they have.
func (b *Batch) Unpack(from []byte, n int) error {
	u := unpacker{rest: from}
	first := b.Len()
	late := u.count(n)
	places, seqs := make([]int32, late), make([]limit.Time, late)
	if late > 0 {
		unpackNumbers(&u, places)
		unpackNumbers(&u, seqs)
	}
	for _, c := range b.columns() {
		if len(u.rest) > 0 && u.rest[0] == noColumn {
			if c.wanted == nil { // which all requests have
				return errPacked
			}
			u.rest = u.rest[1:]
			c.fit(0, false)
		} else {
			c.unpack(&u, n)
		}
	}
	if u.cut || len(u.rest) != packSlack {
		return errPacked
	}
	switch {
	case late > 0 && b.Seq == nil:
		b.NeedSeq()
	case b.Seq != nil:
		b.Seq = append(b.Seq, b.At[first:]...)
	}
	for i, place := range places {
		if place < 0 || int(place) >= n {
			return errPacked
		}
		b.Seq[first+int(place)] = seqs[i]
	}
	return nil
}

// packTimes packs whole seconds as such.
func packTimes(to []byte, times []limit.Time) []byte {
	for _, t := range times {
		if t%limit.Second != 0 {
			return packNumbers(to, times, 1)
		}
	}
	return packNumbers(to, times, limit.Second)
}

// packNumbers appends a column of which all values are multiples of unit, which is 1 or a second.
func packNumbers[T integer](to []byte, values []T, unit T) []byte {
	low, high := slices.Min(values), slices.Max(values)
	width := (bits.Len64((uint64(high)-uint64(low))/uint64(unit)) + 7) / 8
	tag := byte(width)
	if unit > 1 {
		tag |= wholeUnits
	}
	to = binary.LittleEndian.AppendUint64(append(to, tag), uint64(low))
	start, end := len(to), len(to)+width*len(values)
	to = slices.Grow(to, end-start+8)[:end+8] // a word is written for each value
	out := to[start:]
	switch {
	case unit > 1:
		for k, v := range values {
			binary.LittleEndian.PutUint64(out[k*width:], (uint64(v)-uint64(low))/uint64(limit.Second))
		}
	case width == 1:
		for k, v := range values {
			out[k] = byte(v - low)
		}
	case width > 0:
		for k, v := range values {
			binary.LittleEndian.PutUint64(out[k*width:], uint64(v)-uint64(low))
		}
	}
	return to[:end]
}

// An unpacker reads packed columns. cut is set once they end too early.
type unpacker struct {
	rest []byte
	cut  bool
}

// count reads a number of at most n.
func (u *unpacker) count(n int) int {
	if len(u.rest) < 4 || binary.LittleEndian.Uint32(u.rest) > uint32(n) {
		u.cut = true
		return 0
	}
	v := binary.LittleEndian.Uint32(u.rest)
	u.rest = u.rest[4:]
	return int(v)
}

// unpackNumbers fills values.
func unpackNumbers[T integer](u *unpacker, values []T) {
	if len(u.rest) < 9+packSlack {
		u.cut = true
		return
	}
	tag, low := u.rest[0], T(binary.LittleEndian.Uint64(u.rest[1:]))
	width := int(tag & widthMask)
	size := width * len(values)
	if width > 8 || len(u.rest) < 9+size+packSlack {
		u.cut = true
		return
	}
	in := u.rest[9 : 9+size+packSlack]
	u.rest = u.rest[9+size:]
	switch {
	case width == 0:
		for k := range values {
			values[k] = low
		}
	case tag&wholeUnits != 0:
		mask := ^uint64(0) >> (64 - 8*width)
		for k := range values {
			values[k] = low + T(binary.LittleEndian.Uint64(in[width*k:])&mask*uint64(limit.Second))
		}
	case width == 1:
		for k, v := range in[:len(values)] {
			values[k] = low + T(v)
		}
	case width == 2:
		for k := range values {
			pair := in[2*k : 2*k+2]
			values[k] = low + T(binary.LittleEndian.Uint16(pair))
		}
	default:
		mask := ^uint64(0) >> (64 - 8*width)
		for k := range values {
			values[k] = low + T(binary.LittleEndian.Uint64(in[width*k:])&mask)
		}
	}
}

func (c numbers[T]) pack(to []byte, i, j int) []byte { return packNumbers(to, (*c.rows)[i:j], 1) }

func (c numbers[T]) unpack(u *unpacker, n int) { unpackNumbers(u, extend(c.rows, n)) }

// pack packs the parts of clues as columns of their own.
func (c clues) pack(to []byte, i, j int) []byte {
	rows := (*c.rows)[i:j]
	parts := [3][]uint16{make([]uint16, len(rows)), make([]uint16, len(rows)), make([]uint16, len(rows))}
	for k, t := range rows {
		parts[0][k], parts[1][k], parts[2][k] = uint16(t.Traits), t.Page, t.From
	}
	for _, part := range parts {
		to = packNumbers(to, part, 1)
	}
	return to
}

func (c clues) unpack(u *unpacker, n int) {
	parts := clueParts.Get().(*[3][]uint16)
	defer clueParts.Put(parts)
	for i := range parts {
		parts[i] = slices.Grow(parts[i][:0], n)[:n]
		unpackNumbers(u, parts[i])
	}
	traits, pages, froms, rows := parts[0], parts[1][:n], parts[2][:n], extend(c.rows, n)[:n]
	for k, traits := range traits {
		rows[k] = Clue{Traits: Trait(traits), Page: pages[k], From: froms[k]}
	}
}

// clueParts are the parts of clues while they are unpacked, to be used again.
var clueParts = sync.Pool{New: func() any { return new([3][]uint16) }}

// extend makes a column n rows longer and returns the new rows.
func extend[T any](column *[]T, n int) []T {
	*column = slices.Grow(*column, n)[:len(*column)+n]
	return (*column)[len(*column)-n:]
}
