package duck

import (
	"errors"
	"slices"
	"strings"
)

// ErrNotBuilt is that this program has no DuckDB in it.
var ErrNotBuilt = errors.New("this shadow was built without a database: take the full one to keep and read runs, or leave out --db")

// ErrDiskFull replaces what DuckDB says of a full disk, which includes advice on memory.
var ErrDiskFull = errors.New("the disk is full: make room, or choose another file with --db")

// diskFull are parts of what DuckDB says when it cannot write for want of room. The last is about the folder beside
// the file into which it puts what does not fit into memory.
var diskFull = []string{"No space left on device", "Disk quota exceeded", "failed to offload data block"}

// ErrDamaged replaces what DuckDB says of a file that was cut or overwritten: checksums, places, a stack of calls.
var ErrDamaged = errors.New("the file is damaged: restore a copy of it, or choose another file with --db and replay the logs again")

// damaged are parts of what DuckDB says when it reads what it has not written.
var damaged = []string{
	"Corrupt database file", "Could not read enough bytes", "Serialization Error", "Failed to load metadata",
	"Failed to replay WAL", "Corrupt WAL file",
}

// problem returns an error with what DuckDB says, without the stack of its calls.
func problem(text string) error {
	for _, known := range []struct {
		parts []string
		err   error
	}{{diskFull, ErrDiskFull}, {damaged, ErrDamaged}} {
		if slices.ContainsFunc(known.parts, func(part string) bool { return strings.Contains(text, part) }) {
			return known.err
		}
	}
	text, _, _ = strings.Cut(text, "\n\nStack Trace:")
	return errors.New(text)
}
