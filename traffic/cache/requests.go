package cache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"shadow/traffic"
)

// Requests are those of a log as they were handed out: the same batches with the same borders, so that whoever judges them
// again comes to the same verdicts. They lie in frames, in memory while they are few, else in a temporary file without a
// name, which is gone with the process however that ends:
//
//	frame   length | rows | flags | checksum | packed rows, see traffic.Batch.Pack
//	batch   frame … frame with the flag last
//
// They are taken in with Add, all of them before the first Pass. The zero Requests are empty and ready for use.
type Requests struct {
	Dir string // of the temporary file; "": that of the system

	memory []byte // frames that are in no file
	file   *os.File
	name   string // of the file, where it could not be taken away; else ""
	size   int64  // of what is in the file
	stamps traffic.Coarseness
}

const (
	frameRows   = 64 << 10
	frameHead   = 16       // bytes before the rows
	memoryBytes = 16 << 20 // beyond, frames go to a file
	writeBytes  = 1 << 20  // once there is one, so many at once
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
	return fmt.Sprintf("requests, about 20 bytes each, wait in a file for further passes, and %s cannot take %d MB of them or more: %v; "+
		"the variable TMPDIR names another folder", e.Dir, e.Size>>20, e.err)
}

// Unwrap returns what was wrong.
func (e *PlaceError) Unwrap() error { return e.err }

// Add takes in a batch.
func (r *Requests) Add(b *traffic.Batch) error {
	r.stamps = b.Stamps
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
		most := memoryBytes
		if r.file != nil {
			most = writeBytes
		}
		if len(r.memory) > most {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checksum is that of a frame.
func checksum(head, rows []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:12], checksums), checksums, rows)
}

// flush writes what is in memory to the file.
func (r *Requests) flush() (err error) {
	size := r.Size()
	defer func() {
		if err != nil {
			err = &PlaceError{Size: size, Dir: cmp.Or(r.Dir, os.TempDir()), err: err}
		}
	}()
	if r.file == nil {
		if r.file, err = os.CreateTemp(r.Dir, "shadow-requests-"); err != nil {
			return err
		}
		if os.Remove(r.file.Name()) != nil {
			r.name = r.file.Name() // until Close
		}
	}
	n, err := r.file.WriteAt(r.memory, r.size)
	r.size += int64(n)
	if err != nil {
		return err
	}
	if cap(r.memory) > 2*writeBytes {
		r.memory = nil
	}
	r.memory = r.memory[:0]
	return nil
}

// Size is how many bytes the requests take.
func (r *Requests) Size() int64 { return r.size + int64(len(r.memory)) }

// Close frees what the requests take. There are none then.
func (r *Requests) Close() error {
	r.memory, r.size = nil, 0
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if r.name != "" {
		err = errors.Join(err, os.Remove(r.name))
	}
	r.file = nil
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

// Pass is one pass over all requests.
func (r *Requests) Pass() *Pass { return &Pass{from: r, end: r.Size(), stamps: r.stamps} }

// A Pass hands out the batches that were taken in, in their order. It is a replay.Source.
type Pass struct {
	from    io.ReaderAt
	at, end int64
	stamps  traffic.Coarseness
	buffer  []byte
	batch   traffic.Batch
}

var errDamaged = errors.New("the requests that were kept for further passes are damaged")

// Next returns the next batch, or io.EOF. The batch is valid until the next call of Next.
func (p *Pass) Next() (*traffic.Batch, error) {
	p.batch.Reset()
	for last := false; !last; {
		if p.at == p.end {
			if p.batch.Len() > 0 {
				return nil, errDamaged
			}
			return nil, io.EOF
		}
		rows, n, flags, err := p.frame()
		if err == nil {
			err = p.batch.Unpack(rows, n)
		}
		if err != nil {
			return nil, err
		}
		p.batch.Warm, last = flags&warmRows != 0, flags&lastOfBatch != 0
	}
	p.batch.Stamps = p.stamps
	return &p.batch, nil
}

// frame reads the next frame.
func (p *Pass) frame() (rows []byte, n int, flags uint32, err error) {
	var head [frameHead]byte
	if _, err := p.from.ReadAt(head[:], p.at); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	length, n := int64(binary.LittleEndian.Uint32(head[:])), int(binary.LittleEndian.Uint32(head[4:]))
	if length > p.end-p.at-frameHead || n == 0 || n > frameRows {
		return nil, 0, 0, errDamaged
	}
	p.buffer = append(p.buffer[:0], make([]byte, length)...)
	if _, err := p.from.ReadAt(p.buffer, p.at+frameHead); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if checksum(head[:], p.buffer) != binary.LittleEndian.Uint32(head[12:]) {
		return nil, 0, 0, errDamaged
	}
	p.at += frameHead + length
	return p.buffer, n, binary.LittleEndian.Uint32(head[8:]), nil
}
