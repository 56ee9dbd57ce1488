package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"sync/atomic"

	"shadow/internal/traffic"
)

// Requests holds the requests of a log as they were handed out: the same batches with the same borders, so that judging
// them again gives the same verdicts. They lie in frames, in memory while they are few, else in a file without a name,
// which is gone with the process however that ends:
//
//	frame   length | rows | flags | checksum | packed rows, see traffic.Batch.Pack
//	batch   frame … frame with the flag last
//
// They are taken in with Add, all of them before the first Pass. Once the file takes no more, the others stay in memory.
// A batch that is the only one may stay as it is, see Hold.
// The zero Requests are empty and ready for use.
type Requests struct {
	memory []byte // frames that are in no file
	file   *os.File
	name   string // of the file, where it could not be removed at once; else ""
	size   int64  // of what is in the file
	stamps traffic.Coarseness
	lost   error // why the file takes no more
	held   *traffic.Batch

	lendable atomic.Pointer[[]*traffic.Batch] // see lend
}

// hasFiles reports whether there may be a folder for a file. In a browser, memory holds all frames.
const hasFiles = runtime.GOOS != "js"

const (
	frameRows   = 64 << 10
	frameHead   = 16       // bytes before the rows
	frameBytes  = 16 << 20 // that no frame has: each row takes fewer than 120
	memoryBytes = 16 << 20 // beyond, frames go to a file
	writeBytes  = 1 << 20  // once there is one, so many at once
	heldRow     = 64       // about what a row takes that is not packed
	packedRow   = 32       // more than most take that are packed
)

// The flags of a frame.
const (
	lastOfBatch = 1 << iota
	warmRows
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// A PlaceError says that a folder does not take the requests: it is not there or not to be written to, or its disk is full.
type PlaceError struct {
	Size int64 // bytes of the requests so far
	Dir  string
	err  error
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("%s cannot take %d MB of requests or more: %v", e.Dir, e.Size>>20, e.err)
}

// Unwrap returns what was wrong.
func (e *PlaceError) Unwrap() error { return e.err }

// Add takes in a batch.
func (r *Requests) Add(b *traffic.Batch) {
	r.stamps = b.Stamps
	if r.memory == nil { // all at once: to grow costs more, and what is not written to is never resident
		r.memory = make([]byte, 0, r.most()+frameRows*packedRow)
	}
	for i := 0; i < b.Len(); i += frameRows {
		j := min(b.Len(), i+frameRows)
		var flags uint32
		if j == b.Len() {
			flags |= lastOfBatch
		}
		if b.Warm {
			flags |= warmRows
		}
		start := len(r.memory)
		r.memory = b.Pack(append(r.memory, make([]byte, frameHead)...), i, j)
		head, rows := r.memory[start:start+frameHead], r.memory[start+frameHead:]
		binary.LittleEndian.PutUint32(head, uint32(len(rows)))
		binary.LittleEndian.PutUint32(head[4:], uint32(j-i))
		binary.LittleEndian.PutUint32(head[8:], flags)
		binary.LittleEndian.PutUint32(head[12:], checksum(head, rows))
		if len(r.memory) > r.most() && r.lost == nil && hasFiles {
			r.flush()
		}
	}
}

// most returns how many bytes wait for the file.
func (r *Requests) most() int {
	if r.file != nil {
		return writeBytes
	}
	return memoryBytes
}

// Hold takes in a batch that is the only one. It stays as it is, and must not be changed any more.
func (r *Requests) Hold(b *traffic.Batch) { r.held = b }

// Held reports whether the requests are one batch, which stays as it is.
func (r *Requests) Held() bool { return r.held != nil }

// checksum returns the checksum of a frame.
func checksum(head, rows []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:12], checksums), checksums, rows)
}

// flush writes what is in memory to the file. Where that fails, it stays in memory.
func (r *Requests) flush() {
	size := r.Size()
	err := error(nil)
	if r.file == nil {
		r.file, r.name, err = newFile(os.TempDir())
		if r.name != "" && os.Remove(r.name) == nil {
			r.name = ""
		}
	}
	if err == nil {
		var n int
		n, err = r.file.WriteAt(r.memory, r.size)
		r.size += int64(n)
		r.memory = append(r.memory[:0], r.memory[n:]...)
		if cap(r.memory) > memoryBytes && len(r.memory) == 0 {
			r.memory = nil
		}
	}
	if err != nil {
		r.lost = &PlaceError{Size: size, Dir: os.TempDir(), err: err}
	}
}

// Lost returns why requests are in memory that should be in a file: a PlaceError, or nil.
func (r *Requests) Lost() error { return r.lost }

// Size returns how many bytes the requests take; for a batch that is held, about how many.
func (r *Requests) Size() int64 {
	if r.held != nil {
		return int64(r.held.Len()) * heldRow
	}
	return r.size + int64(len(r.memory))
}

// Close frees what the requests take. There are none then.
func (r *Requests) Close() error {
	r.memory, r.size, r.held = nil, 0, nil
	r.lendable.Store(nil)
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if r.name != "" {
		err = errors.Join(err, os.Remove(r.name))
	}
	r.file, r.name = nil, ""
	return err
}

// ReadAt reads what has been taken in: first what is in the file, then what is in memory.
func (r *Requests) ReadAt(p []byte, at int64) (n int, err error) {
	if at < r.size {
		n, err = r.file.ReadAt(p[:min(int64(len(p)), r.size-at)], at)
		if at += int64(n); at < r.size || n == len(p) {
			return n, err
		}
	}
	n += copy(p[n:], r.memory[min(at-r.size, int64(len(r.memory))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// namedFile makes a file with a name that no other file has.
func namedFile(dir string) (f *os.File, name string, err error) {
	if f, err = os.CreateTemp(dir, ".shadow-*.part"); err == nil {
		name = f.Name()
	}
	return f, name, err
}
