package limit

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A State is written as numbers of variable length (encoding/binary): At, Level, Extra, how many times the ring
// holds, its oldest time, and for each later one how much later it is. The zero State takes four bytes. The ring of a
// bound has more than times, in no order: disordered is then added to their number. Of parts there is their number,
// added to manyParts, and each as a State.

const (
	disordered = MaxRing + 1
	manyParts  = 2 * disordered
)

var (
	errTruncated = errors.New("limit: state: ends too early")
	errTimes     = errors.New("limit: state: a time in the ring is out of range")
	errParts     = errors.New("limit: state: parts that have parts, or more than there are bytes for")
)

// AppendBinary appends the encoded State to b. The error is always nil.
func (s *State) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendVarint(b, int64(s.At))
	b = binary.AppendVarint(b, s.Level)
	b = binary.AppendVarint(b, s.Extra)
	if n := s.Parts(); n > 0 {
		b = binary.AppendUvarint(b, uint64(manyParts+n))
		for i := range n {
			b, _ = s.Part(i).AppendBinary(b) // it has no error
		}
		return b, nil
	}
	n := s.ring.Len()
	if n == 0 {
		return append(b, 0), nil
	}
	mark := 0
	for i := 1; i < n && mark == 0; i++ {
		if s.ring.Nth(i) < s.ring.Nth(i-1) {
			mark = disordered
		}
	}
	b = binary.AppendUvarint(b, uint64(n+mark))
	last := s.ring.Oldest()
	b = binary.AppendVarint(b, int64(last))
	for i := 1; i < n; i++ {
		t := s.ring.Nth(i)
		b = binary.AppendUvarint(b, uint64(t-last))
		last = t
	}
	return b, nil
}

// DecodeState reads the State at the beginning of b and returns what follows it.
func DecodeState(b []byte) (s State, rest []byte, err error) {
	d := decoder{rest: b}
	d.state(&s, false)
	if d.err != nil {
		s.Release()
		return State{}, b, d.err
	}
	return s, d.rest, nil
}

// A decoder reads numbers until the first error.
type decoder struct {
	rest []byte
	err  error
}

// state reads s, which may be a part of another State.
func (d *decoder) state(s *State, part bool) {
	s.At = Time(d.varint())
	s.Level = d.varint()
	s.Extra = d.varint()
	switch n := d.uvarint(); {
	case n == 0 || d.err != nil:
	case n <= manyParts || n > manyParts+MaxParts:
		s.ring = d.ring(n)
	case part || n-manyParts > uint64(len(d.rest)/leastState):
		d.err = errParts
	default:
		for i := range int(n - manyParts) {
			d.state(s.Part(i), true)
		}
	}
}

// leastState is the least number of bytes that a State takes.
const leastState = 4

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.skip(n)
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	switch {
	case d.err != nil:
	case n == 0:
		d.err = errTruncated
	case n < 0:
		d.err = errors.New("limit: state: a number is longer than 64 bits")
	default:
		d.rest = d.rest[n:]
	}
}

// ring reads n times; each takes a byte at least, so n cannot make it allocate more than the input warrants.
func (d *decoder) ring(n uint64) *Ring {
	ordered := n <= MaxRing || n > MaxRing+disordered
	if !ordered {
		n -= disordered
	}
	if n == 0 || n > uint64(len(d.rest)) || n > MaxRing {
		d.err = fmt.Errorf("limit: state: a ring of %d times in %d bytes", n, len(d.rest))
		return nil
	}
	r := takeRing(classFor(uint32(n)))
	t := Time(d.varint())
	r.Push(t)
	for range n - 1 {
		next := t + Time(d.uvarint())
		if next < t && ordered && d.err == nil {
			d.err = errTimes
		}
		r.Push(next)
		t = next
	}
	return r
}
