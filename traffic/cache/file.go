package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"

	"shadow/limit"
	"shadow/traffic"
)

// Requests are kept for other processes in a file, with the names that their ids stand for:
//
//	frames | tail | foot
//	tail     length, note of the owner | slack and ends of the stamps | names, see traffic.Tables.Pack
//	foot     magic and version | bytes of the frames | checksum of their heads | checksum of the tail | checksum of the foot
//
// The file gets its name when all of it is there. Whoever opens it verifies all checksums before it hands out a batch;
// what is behind them may have been written by anybody still, so the first pass verifies that the rows make sense.

// Version is that of the files. Files of other versions are not read.
const Version = 5

const (
	footBytes = 40
	mostRows  = 16 << 20 // of a batch in a file, so that nobody can have us make larger ones
)

var magic = fmt.Appendf(nil, "shadow cache %3d", Version)

// An expectation is what requests of a file must be.
type expectation struct {
	tables  *traffic.PackedTables
	columns traffic.Columns
}

// New returns requests that can be kept in a folder, which it makes if need be, for its owner only.
func New(dir string) (*Requests, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, name, err := newFile(dir)
	if err != nil {
		return nil, err
	}
	return &Requests{Dir: dir, file: file, name: name}, nil
}

// Save keeps requests of New in their folder under a name, in the place of what had it. note is whatever the owner wants to
// read again.
func (r *Requests) Save(name string, note []byte, t *traffic.Tables) error {
	if r.most > mostRows {
		return fmt.Errorf("%d requests of one moment are too many to be kept", r.most)
	}
	if r.lost == nil && len(r.memory) > 0 {
		r.flush()
	}
	if r.lost != nil {
		return r.lost
	}
	tail := append(binary.AppendUvarint(nil, uint64(len(note))), note...)
	tail = binary.AppendUvarint(tail, uint64(r.stamps.Slack))
	ends := byte(0)
	if r.stamps.Ends {
		ends = 1
	}
	tail = t.Pack(append(tail, ends))
	size := uint64(r.size)
	tail = append(tail, foot(size, r.heads, crc32.Checksum(tail, checksums))...)
	path := filepath.Join(r.Dir, name)
	_, err := r.file.WriteAt(tail, r.size)
	if err == nil && r.name == "" {
		r.name = filepath.Join(r.Dir, fmt.Sprintf(".%x.part", rand.Uint64()))
		if err = giveName(r.file, r.name); err != nil {
			r.name = ""
		}
	}
	if err == nil {
		err = os.Rename(r.name, path)
	}
	if err != nil {
		return &PlaceError{Size: r.size, Dir: r.Dir, err: err}
	}
	r.name = ""
	return nil
}

func foot(size uint64, heads, tail uint32) []byte {
	f := binary.LittleEndian.AppendUint64(bytes.Clone(magic), size)
	f = binary.LittleEndian.AppendUint32(f, heads)
	f = binary.LittleEndian.AppendUint32(f, tail)
	f = append(f, make([]byte, footBytes-4-len(f))...)
	return binary.LittleEndian.AppendUint32(f, crc32.Checksum(f, checksums))
}

// A File is requests that were kept.
type File struct {
	Requests
	Note   []byte
	Tables *traffic.PackedTables
}

var (
	errVersion = errors.New("another version has written it")
	errCut     = errors.New("it is cut short, or something was written behind it")
	errSums    = errors.New("it is damaged: a checksum is wrong")
)

// Open opens what Save has written, and verifies the checksums.
func Open(path string) (*File, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{Requests: Requests{file: file}}
	if err := f.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read reads the file but for its rows, of which it verifies the checksums.
func (f *File) read() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	end := info.Size() - footBytes
	if !info.Mode().IsRegular() || end < 0 {
		return errCut
	}
	last := make([]byte, footBytes)
	if _, err := f.file.ReadAt(last, end); err != nil {
		return err
	}
	if !bytes.HasPrefix(last, magic[:12]) {
		return errCut
	}
	frames, heads, sum := binary.LittleEndian.Uint64(last[16:]), binary.LittleEndian.Uint32(last[24:]), binary.LittleEndian.Uint32(last[28:])
	switch {
	case !bytes.HasPrefix(last, magic):
		return errVersion
	case !bytes.Equal(foot(frames, heads, sum), last):
		return errSums
	case frames > uint64(end):
		return errCut
	}
	tail := make([]byte, end-int64(frames))
	if _, err := f.file.ReadAt(tail, int64(frames)); err != nil {
		return err
	}
	if crc32.Checksum(tail, checksums) != sum {
		return errSums
	}
	f.size = int64(frames)
	if err := f.readTail(tail); err != nil {
		return err
	}
	return f.sumFrames(heads)
}

func (f *File) readTail(tail []byte) (err error) {
	n, k := binary.Uvarint(tail)
	if k <= 0 || n > uint64(len(tail)-k) {
		return errCut
	}
	f.Note, tail = tail[k:k+int(n)], tail[k+int(n):]
	slack, k := binary.Uvarint(tail)
	if k <= 0 || len(tail) == k || slack > uint64(limit.Day) {
		return errCut
	}
	f.stamps = traffic.Coarseness{Slack: limit.Time(slack), Ends: tail[k] == 1}
	if f.Tables, tail, err = traffic.UnpackTables(tail[k+1:]); err == nil && len(tail) > 0 {
		err = errCut
	}
	return err
}

// sumFrames verifies the checksums of the frames.
func (f *File) sumFrames(heads uint32) error {
	var sum uint32
	for p := f.Pass(); p.at < p.end; {
		if _, _, err := p.frame(); err != nil {
			return errSums
		}
		sum = crc32.Update(sum, checksums, p.head[:])
	}
	if sum != heads {
		return errSums
	}
	return nil
}

// Expect says which columns the requests must have. It must be called before the first Pass.
func (f *File) Expect(columns traffic.Columns) { f.strange = &expectation{f.Tables, columns} }
