package shard

import (
	"errors"
	"slices"

	"github.com/klauspost/compress/s2"
)

// pack appends data, compressed little and quickly, since no disk ever sees it.
func pack(to, data []byte) []byte {
	start, most := len(to), s2.MaxEncodedLen(len(data))
	to = slices.Grow(to, most)
	return to[:start+len(s2.Encode(to[start:start+most], data))]
}

var errPackedSize = errors.New("shard: packed data has another size than it says")

// unpack appends what pack was given, of which the size is known.
func unpack(to, packed []byte, size int) ([]byte, error) {
	if n, err := s2.DecodedLen(packed); err != nil || n != size {
		return to, errors.Join(err, errPackedSize)
	}
	start := len(to)
	to = slices.Grow(to, size)[:start+size]
	_, err := s2.Decode(to[start:], packed)
	return to, err
}
