package logfile

import (
	"hash/fnv"
	"io"
)

// endBlock is how much of each end of a file is hashed, in bytes.
const endBlock = 4096

// ends tell files apart in the record of a run: the size on disk and FNV-1a hashes (64 bits) of the first and
// the last 4 KiB as they lie there, compressed or not. Of a file shorter than that, both are hashes of all of it. The
// zero ends, but for a size of -1, belongs to what has no size: standard input, a pipe.
type ends struct {
	size       int64
	head, tail uint64
}

// endsOf reads both ends of a file, and returns the first bytes as well.
func endsOf(r io.ReaderAt, size int64) (ends, []byte, error) {
	block := make([]byte, min(size, endBlock))
	if _, err := r.ReadAt(block, size-int64(len(block))); err != nil && err != io.EOF {
		return ends{}, nil, err
	}
	id := ends{size: size, tail: sum(block)}
	if _, err := r.ReadAt(block, 0); err != nil && err != io.EOF {
		return ends{}, nil, err
	}
	id.head = sum(block)
	return id, block, nil
}

func sum(block []byte) uint64 {
	h := fnv.New64a()
	h.Write(block)
	return h.Sum64()
}
