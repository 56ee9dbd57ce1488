package tail

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
)

// A checkpoint is everything that a tail must know to go on as if it had never stopped: how far each log was read, the
// requests that wait for older ones, what the limiters remember, the tallies, and how long the file of would-blocks was.
// All of it is of one moment, and the file is replaced as a whole.
//
//	shadow checkpoint 6\n      with traffic.TraceVersion
//	8 bytes   length of the head
//	head      JSON: Checkpoint
//	body      what traffic.Encoder has written: the stream, then the judge
//	8 bytes   CRC-64 (ECMA) of all before

// A Checkpoint is what a tail, or a run that is to be continued, had read and counted at one moment.
type Checkpoint struct {
	Written time.Time           `json:"written"`
	Logs    []logfile.SavedLog  `json:"logs"`
	Left    []logfile.SavedFile `json:"left,omitempty"` // files of logs that were given up and may come back, latest last
	Tally   Tally               `json:"tally"`
	Output  *SavedOutput        `json:"output,omitempty"`
	Spool   *SavedSpool         `json:"spool,omitempty"`
	Remote  json.RawMessage     `json:"remote,omitempty"` // of requests that were judged with others
	Body    []byte              `json:"-"`                // see ingest.Stream and replay.Engine
}

var magic = fmt.Sprintf("shadow checkpoint %d\n", traffic.TraceVersion)

var (
	table      = crc64.MakeTable(crc64.ECMA)
	errForeign = errors.New("is no checkpoint of this version")
	errDamaged = errors.New("is damaged")
)

// ReadCheckpoint reads a checkpoint.
func ReadCheckpoint(name string) (*Checkpoint, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c, err := decodeCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w; to begin without it, remove it or say --from start or --from end", name, err)
	}
	return c, nil
}

func decodeCheckpoint(text []byte) (*Checkpoint, error) {
	if len(text) < len(magic)+16 || string(text[:len(magic)]) != magic {
		return nil, errForeign
	}
	end := len(text) - 8
	if crc64.Checksum(text[:end], table) != binary.LittleEndian.Uint64(text[end:]) {
		return nil, errDamaged
	}
	rest := text[len(magic)+8 : end]
	n := binary.LittleEndian.Uint64(text[len(magic):])
	if n > uint64(len(rest)) {
		return nil, errDamaged
	}
	c := &Checkpoint{Body: rest[n:]}
	if err := json.Unmarshal(rest[:n], c); err != nil {
		return nil, err
	}
	return c, c.verify()
}

// verify finds numbers that no tail has written, whatever the sum says.
func (c *Checkpoint) verify() error {
	for i, l := range c.Logs {
		twice := l.Name != "" && slices.ContainsFunc(c.Logs[:i], func(o logfile.SavedLog) bool { return o.Name == l.Name })
		if twice || slices.ContainsFunc(l.Known, isBad) || slices.ContainsFunc(slices.Concat(l.Files, l.Closed, l.Formers), isBadFile) ||
			l.Empty != nil && isBad(*l.Empty) {
			return errDamaged
		}
	}
	if slices.ContainsFunc(c.Left, isBadFile) {
		return errDamaged
	}
	if o := c.Output; o != nil && (isBad(o.Identity) || o.Length < 0) {
		return errDamaged
	}
	if s := c.Spool; s != nil && (s.Tail == "" || s.Tail != filepath.Base(s.Tail) || s.Sealed == math.MaxUint64) {
		return errDamaged
	}
	return nil
}

func isBad(id logfile.Identity) bool { return id.HeadBytes < 0 || id.HeadBytes > logfile.HeadBlock }

func isBadFile(f logfile.SavedFile) bool { return isBad(f.Identity) || f.Offset < 0 }

// prepare writes the file beside the old one.
func (c *Checkpoint) prepare(name string, body func(io.Writer) error) error {
	head, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = writeSynced(name+".new", func(f io.Writer) error {
		sum := crc64.New(table)
		both := io.MultiWriter(f, sum)
		before := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(head)))
		if _, err := both.Write(append(before, head...)); err != nil {
			return err
		}
		if err := body(both); err != nil {
			return err
		}
		_, err := f.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
		return err
	})
	if err != nil {
		_ = os.Remove(name + ".new") // it may have filled the disk
	}
	return err
}

// replace puts what was prepared in the place of the old one: a reader finds the old one or the new one, whenever the
// machine stops.
func replace(name string) error {
	if err := rename(name+".new", name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// writeSynced writes a file, down to the disk.
func writeSynced(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = syncFile(f)
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename last. Not every file system can.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	_ = syncFile(d)
	return d.Close()
}

// syncFile and rename are what makes a file last; a test takes down when they are called.
var (
	syncFile = (*os.File).Sync
	rename   = os.Rename
)
