package tail

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"shadow/replay"
)

// What was judged goes to a database by way of a folder of batches, the spool, so that each request is in it once:
//
//   - a batch is sealed together with a checkpoint: it is what was judged between that one and the one before. Its file is
//     written first, then the checkpoint, which names its number. A file with a higher number is of a tail that was killed
//     in between; it is removed, since its requests are judged anew;
//   - only what a checkpoint has named goes to the database, in the order of the numbers. The database keeps the number of
//     the last batch in the transaction that stores it, so one that is handed over twice is stored once;
//   - a file is removed when the database has it. Whatever keeps the database busy, the batch waits.

// A Store is where batches go. It stores one whole, once, or returns an error; then it gets it again.
type Store interface {
	Append(a *replay.Addition) error
}

// What Options are unless they say otherwise.
const (
	DefaultFlush = 10 * time.Second
	DefaultSpool = 64 << 20 // bytes
)

// heavy is how many would-blocks are held in memory before a checkpoint is written ahead of its time.
const heavy = 512 << 10

// A SavedSpool is whose batches a checkpoint names, and the last of them.
type SavedSpool struct {
	Tail   string `json:"tail"`
	Sealed uint64 `json:"sealed"`
}

// A spool is the batches on their way. All but what flush uses belongs to the tail's goroutine.
type spool struct {
	dir    string
	tail   string
	most   int64 // bytes
	store  Store
	next   uint64 // number of the batch that is being gathered
	before Tally  // when it began
	gathering

	sealed atomic.Uint64 // the last number that a checkpoint names
	size   atomic.Int64  // bytes in the folder
	odd    atomic.Pointer[string]
	stop   chan struct{}
	done   chan struct{}
}

// openSpool opens the folder, and removes what no checkpoint names. was is what the latest checkpoint says, nil if there is none.
func openSpool(o *Options, was *SavedSpool) (*spool, error) {
	s := &spool{dir: o.State + ".spool", most: o.Spool, store: o.Store}
	if was != nil {
		s.tail, s.next = was.Tail, was.Sealed+1
	} else {
		s.tail, s.next = rand.Text(), 1
	}
	s.sealed.Store(s.next - 1)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	files, err := s.files()
	for _, f := range files {
		if f.tail == s.tail && f.number >= s.next {
			err = errors.Join(err, os.Remove(f.path))
			continue
		}
		s.size.Add(f.size)
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.work(o.Flush)
	return s, err
}

// A spoolFile is a batch in the folder: TAIL-NUMBER.
type spoolFile struct {
	path, tail string
	number     uint64
	size       int64
}

func (s *spool) files() (files []spoolFile, err error) {
	entries, err := os.ReadDir(s.dir) // by name
	for _, e := range entries {
		f := spoolFile{path: filepath.Join(s.dir, e.Name())}
		tail, number, _ := strings.Cut(e.Name(), "-")
		if n, err := fmt.Sscanf(number, "%020d", &f.number); n != 1 || err != nil || len(number) != 20 {
			continue
		}
		if info, err := e.Info(); err == nil {
			f.tail, f.size = tail, info.Size()
			files = append(files, f)
		}
	}
	return files, err
}

// full tells whether reading has to wait for the database.
func (s *spool) full() bool {
	return s != nil && (s.size.Load() >= s.most || len(s.to.Events) >= 2*heavy)
}

// heavy tells whether a checkpoint should be written.
func (s *spool) heavy() bool { return s != nil && len(s.to.Events) >= heavy }

// seal writes the batch that was gathered to the folder, and returns what the checkpoint is to say.
func (s *spool) seal(now time.Time, tally *Tally) (*SavedSpool, error) {
	s.total(now, tally)
	if a := &s.to; a.Requests+a.Excluded+a.Unreadable > 0 {
		a.Tail, a.Number = s.tail, s.next
		text, err := encodeAddition(a)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(s.dir, fmt.Sprintf("%s-%020d", s.tail, s.next))
		if err := writeSynced(name, text); err != nil {
			return nil, errors.Join(err, os.Remove(name))
		}
		if err := syncDir(s.dir); err != nil {
			return nil, err
		}
		s.size.Add(int64(len(text)))
		s.next, s.before = s.next+1, tally.copy()
		s.begin()
	}
	return &SavedSpool{Tail: s.tail, Sealed: s.next - 1}, nil
}

// named notes that a checkpoint has been written which names batches up to a number.
func (s *spool) named(saved *SavedSpool) { s.sealed.Store(saved.Sealed) }

// work hands batches over until close.
func (s *spool) work(every time.Duration) {
	defer close(s.done)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.flush()
		}
	}
}

// flush hands over what has been sealed, until the database is busy.
func (s *spool) flush() {
	err := s.handOver()
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.odd.Store(&text)
}

func (s *spool) handOver() error {
	sealed := s.sealed.Load()
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.tail == s.tail && f.number > sealed {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		a, err := decodeAddition(text)
		if err != nil {
			return fmt.Errorf("%s: %w: move it away, and the batches behind it can be stored", f.path, err)
		}
		if err := s.store.Append(a); err != nil {
			return fmt.Errorf("%w; %d batches wait in %s", err, len(files), s.dir)
		}
		if err := os.Remove(f.path); err != nil {
			return err
		}
		s.size.Add(-f.size)
	}
	return nil
}

// trouble is what kept the last batch from being stored, "" if nothing did.
func (s *spool) trouble() string {
	if text := s.odd.Load(); text != nil {
		return *text
	}
	return ""
}

// close hands over what it can; the rest waits for the next tail.
func (s *spool) close() {
	close(s.stop)
	<-s.done
	s.flush()
}

// A file of the spool is a gob and its CRC-64.
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
	return a, gob.NewDecoder(bytes.NewReader(slices.Clip(text[:end]))).Decode(a)
}
