package tail

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"hash/crc64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"shadow/replay"
)

// A folder holds batches, one in a file: a gob and its CRC-64. The name of a file is that of its tail and the number of the
// batch, with leading zeros, so the order of the names is that of the batches.

type folder struct {
	dir     string
	portion int64        // see atOnce
	size    atomic.Int64 // bytes of the files
	count   atomic.Int64 // files
}

// A spoolFile is a batch in the folder.
type spoolFile struct {
	path, tail string
	number     uint64
	size       int64
}

// atOnce is how many bytes of batches are handed over at once, if it is more than one.
const atOnce = 8 << 20

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

// removeBehind removes the batches behind those that a checkpoint names, and counts the others.
func (s *folder) removeBehind(c *SavedSpool) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.tail == c.Tail && f.number > c.Sealed {
			if err := os.Remove(f.path); err != nil {
				return err
			}
			continue
		}
		s.size.Add(f.size)
		s.count.Add(1)
	}
	return nil
}

// write makes a batch last.
func (s *folder) write(a *replay.Addition) error {
	text, err := encodeAddition(a)
	if err != nil {
		return err
	}
	name := filepath.Join(s.dir, spoolName(a.Tail, a.Number))
	if err := writeSynced(name, text); err != nil {
		_ = os.Remove(name) // what is left of it, no checkpoint names
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	s.size.Add(int64(len(text)))
	s.count.Add(1)
	return nil
}

// read reads the oldest batches of one tail; of tail those up to a number. After an error these are what could be read before.
func (s *folder) read(tail string, upTo uint64) (batches []*replay.Addition, from []spoolFile, err error) {
	files, err := s.files()
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
		a, err := decodeAddition(text)
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
		if err := os.Remove(f.path); err != nil {
			return err
		}
		s.size.Add(-f.size)
		s.count.Add(-1)
	}
	return nil
}

func encodeAddition(a *replay.Addition) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(a); err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint64(b.Bytes(), crc64.Checksum(b.Bytes(), table)), nil
}

func decodeAddition(text []byte) (*replay.Addition, error) {
	end := len(text) - 8
	if end < 0 || crc64.Checksum(text[:end], table) != binary.LittleEndian.Uint64(text[end:]) {
		return nil, errDamaged
	}
	a := new(replay.Addition)
	return a, gob.NewDecoder(bytes.NewReader(text[:end])).Decode(a)
}
