package duck

import (
	"errors"
	"strings"
)

// ErrNotBuilt is that this program has no DuckDB in it.
var ErrNotBuilt = errors.New("this shadow was built without a database: take the full one to keep and read runs, or leave out --db")

// ErrDiskFull replaces what DuckDB says of a full disk, which includes advice on memory.
var ErrDiskFull = errors.New("the disk is full: make room, or choose another file with --db")

// diskFull are parts of what DuckDB says when it cannot write for want of room. The last is about the folder beside
// the file into which it puts what does not fit into memory.
var diskFull = []string{"No space left on device", "Disk quota exceeded", "failed to offload data block"}

// problem is an error with what DuckDB says.
func problem(text string) error {
	for _, part := range diskFull {
		if strings.Contains(text, part) {
			return ErrDiskFull
		}
	}
	return errors.New(text)
}
