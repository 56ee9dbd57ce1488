package parse

import (
	"hash/fnv"
	"io"
)

// identityBlock is how much of each end of a file is hashed, in bytes.
const identityBlock = 4096

// identity tells files apart in the record of a run: the size on disk and FNV-1a hashes (64 bits) of the first and
// the last 4 KiB as they lie there, compressed or not. Of a file shorter than that, both are hashes of all of it. The
// zero identity, but for a size of -1, belongs to what has no size: standard input, a pipe.
type identity struct {
	size       int64
	head, tail uint64
}

// identify reads both ends of a file, and returns the first bytes as well.
func identify(r io.ReaderAt, size int64) (identity, []byte, error) {
	block := make([]byte, min(size, identityBlock))
	if _, err := r.ReadAt(block, size-int64(len(block))); err != nil && err != io.EOF {
		return identity{}, nil, err
	}
	id := identity{size: size, tail: sum(block)}
	if _, err := r.ReadAt(block, 0); err != nil && err != io.EOF {
		return identity{}, nil, err
	}
	id.head = sum(block)
	return id, block, nil
}

func sum(block []byte) uint64 {
	h := fnv.New64a()
	h.Write(block)
	return h.Sum64()
}
