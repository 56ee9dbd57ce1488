package duck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
)

// ErrNotBuilt reports a build without DuckDB.
var ErrNotBuilt = errors.New("this shadow was built without a database: take the full one to keep and read runs, or leave out --db")

// ErrDiskFull replaces what DuckDB says of a full disk, which includes advice on memory.
var ErrDiskFull = errors.New("the disk is full: make room, or choose another folder with --db")

// diskFull are parts of what DuckDB says when it cannot write for want of room. The last is about the folder into which it
// puts what does not fit into memory.
var diskFull = []string{"No space left on device", "Disk quota exceeded", "failed to offload data block"}

// ErrDamaged replaces what DuckDB says of a file that was cut or overwritten: a format, places, a stack of calls.
var ErrDamaged = errors.New("a file of a run is damaged: restore a copy of it, or move the folder of that run away and replay its logs again")

// damaged are parts of what DuckDB says when it reads what it has not written.
var damaged = []string{
	"No magic bytes found", "TProtocolException", "too small to be a Parquet file", "Invalid Parquet", "Decompression failed",
	"decompression failed", "Corrupt", "Could not read enough bytes", "Serialization Error",
}

var runFile = lazy.Regexp(`run=\d+/[\d-]+/[\w-]+\.parquet`)

// problem returns an error with what DuckDB says, without the stack of its calls.
func problem(text string) error {
	mentions := func(parts []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	switch file := runFile().FindString(text); {
	case mentions(diskFull):
		return ErrDiskFull
	case mentions(damaged) && file != "":
		return fmt.Errorf("%s: %w", file, ErrDamaged)
	case mentions(damaged):
		return ErrDamaged
	}
	text, _, _ = strings.Cut(text, "\n\nStack Clue:")
	return errors.New(text)
}
