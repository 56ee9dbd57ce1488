package tail

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"shadow/replay"
)

// A folder holds batches, one in a file: a gob and its CRC-64. The name of a file is that of its tail and the number of the
// batch, with leading zeros, so the order of the names is that of the batches. It has its name when it is whole. Others may
// remove files, or the folder.

type folder struct {
	dir     string
	portion int64        // see atOnce
	size    atomic.Int64 // bytes of the files
	count   atomic.Int64 // files
	listing sync.Mutex   // held to add a file to the two, or to count the files again
}

// A spoolFile is a batch in the folder.
type spoolFile struct {
	path, tail string
	number     uint64
	size       int64
}

// atOnce is the most bytes of batches that are delivered at once, if it is more than one.
const atOnce = 8 << 20

// begunName is the name of a batch that is not yet whole.
const begunName = "new"

func spoolName(tail string, number uint64) string { return fmt.Sprintf("%s-%020d", tail, number) }

// files are the batches in the folder, in their order.
func (s *folder) files() (files []spoolFile, err error) {
	entries, err := os.ReadDir(s.dir) // by name
	for _, e := range entries {
		f := spoolFile{path: filepath.Join(s.dir, e.Name())}
		tail, digits, _ := strings.Cut(e.Name(), "-")
		number, err := strconv.ParseUint(digits, 10, 64)
		info, gone := e.Info()
		if err != nil || gone != nil || e.Name() != spoolName(tail, number) {
			continue
		}
		f.tail, f.number, f.size = tail, number, info.Size()
		files = append(files, f)
	}
	return files, err
}

// counted are the files, which are counted meanwhile.
func (s *folder) counted() ([]spoolFile, error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	files, err := s.files()
	if errors.Is(err, fs.ErrNotExist) {
		files, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var size int64
	for _, f := range files {
		size += f.size
	}
	s.size.Store(size)
	s.count.Store(int64(len(files)))
	return files, nil
}

// removeBehind removes the batches behind those that a checkpoint names.
func (s *folder) removeBehind(c *SavedSpool) error {
	files, err := s.files()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if f.tail == c.Tail && f.number > c.Sealed {
			if err := os.Remove(f.path); err != nil {
				return err
			}
		}
	}
	_, err = s.counted()
	return err
}

// write makes a batch last.
func (s *folder) write(a *replay.Addition) error {
	text, err := encode(a)
	if err != nil {
		return err
	}
	text = binary.LittleEndian.AppendUint64(text, crc64.Checksum(text, table))
	s.listing.Lock()
	defer s.listing.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(s.dir, spoolName(a.Tail, a.Number))
	begun := filepath.Join(s.dir, begunName)
	write := func(f io.Writer) error { _, err := f.Write(text); return err }
	if err := writeSynced(begun, write); err != nil {
		_ = os.Remove(begun) // it may have filled the disk
		return err
	}
	if err := errors.Join(rename(begun, name), syncDir(s.dir)); err != nil {
		return err
	}
	s.size.Add(int64(len(text)))
	s.count.Add(1)
	return nil
}

// read reads the oldest batches of one tail; of tail those up to a number. After an error these are what could be read before.
func (s *folder) read(tail string, upTo uint64) (batches []*replay.Addition, from []spoolFile, err error) {
	files, err := s.counted()
	if err != nil {
		return nil, nil, err
	}
	var sum int64
	for _, f := range files {
		if f.tail == tail && f.number > upTo {
			continue
		}
		if sum += f.size; len(batches) > 0 && (sum > s.portion || f.tail != from[0].tail) {
			break
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return batches, from, err
		}
		var a *replay.Addition
		end := len(text) - 8
		if err = errDamaged; end >= 0 && crc64.Checksum(text[:end], table) == binary.LittleEndian.Uint64(text[end:]) {
			a, err = decode(text[:end])
		}
		if err != nil {
			return batches, from, fmt.Errorf("%s %w; if it is moved away, those behind it can be stored", f.path, err)
		}
		batches, from = append(batches, a), append(from, f)
	}
	return batches, from, nil
}

// remove forgets batches that have arrived.
func (s *folder) remove(files []spoolFile) error {
	for _, f := range files {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_, err := s.counted()
	return err
}
