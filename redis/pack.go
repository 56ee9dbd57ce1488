package redis

import (
	"encoding/binary"
	"math"
)

// Lists of whole numbers go to the scripts as MessagePack (msgpack.org), which Redis reads with cmsgpack.unpack.

const (
	packFixed   = 127  // the largest number that is its own byte
	packInt32   = 0xd2 // big-endian behind it
	packInt64   = 0xd3
	packArray32 = 0xdd // the length behind it, then the elements
)

// newList begins a list of n numbers.
func newList(n int) []byte {
	b := make([]byte, 0, 5+5*n)
	return binary.BigEndian.AppendUint32(append(b, packArray32), uint32(n))
}

// appendInt adds a number.
func appendInt(b []byte, n int64) []byte {
	switch {
	case 0 <= n && n <= packFixed:
		return append(b, byte(n))
	case math.MinInt32 <= n && n <= math.MaxInt32:
		return binary.BigEndian.AppendUint32(append(b, packInt32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, packInt64), uint64(n))
}

// packed is the list of some numbers.
func packed(numbers ...int64) []byte {
	b := newList(len(numbers))
	for _, n := range numbers {
		b = appendInt(b, n)
	}
	return b
}
