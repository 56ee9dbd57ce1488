package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/internal/logfile"
)

// Would-blocks go to a file so that each is in it once, even though a tail that was killed judges again what came after its
// last checkpoint: the checkpoint says how long the file was, and what was written behind that is cut off first.
//
// What finds no room on the disk is held until there is some. The file has whole lines meanwhile, so that log rotation may
// take it away at any time.

// An output is where would-blocks go.
type output struct {
	name string
	file *os.File // nil: to is not a file of ours
	to   io.Writer
	held []byte // what is not written yet
	err  error  // what was wrong when it was last written
	told bool   // whether that was told

	looked time.Time // when it was last looked at whether the file has its name
	absent bool      // whether no file had it then
}

// A SavedOutput is which file the would-blocks were in, and how long it was.
type SavedOutput struct {
	logfile.Identity
	Length int64 `json:"length"`
}

const outputBuffer = 256 << 10

// open opens the file to append to, and locks it. One that is open already stays.
func (o *output) open() error {
	access := os.O_RDWR // to be identified by its beginning
	if !regular(o.name) {
		access = os.O_WRONLY
	}
	file, err := os.OpenFile(o.name, access|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if access == os.O_RDWR {
		if o.is(file) {
			return file.Close()
		}
		if err := keepAway(file); err != nil {
			return errors.Join(fmt.Errorf("would-blocks %s: %w", o.name, err), file.Close())
		}
	}
	o.file, o.to = file, file
	return nil
}

// is reports whether a file is the one that is open.
func (o *output) is(file *os.File) bool {
	if o.file == nil {
		return false
	}
	ours, err := o.file.Stat()
	other, err2 := file.Stat()
	return err == nil && err2 == nil && os.SameFile(ours, other)
}

// write takes in a line.
func (o *output) write(line []byte) {
	o.held = append(o.held, line...)
	if len(o.held) >= outputBuffer && o.err == nil {
		_ = o.flush() // the next flush tells of it
	}
}

// flush writes what is held, and goes on holding what it could not write.
func (o *output) flush() error {
	o.err = nil
	if len(o.held) == 0 {
		return nil
	}
	n, err := o.to.Write(o.held)
	if err != nil {
		n, o.err = o.whole(n), err
	}
	o.held = o.held[:copy(o.held, o.held[n:])]
	return err
}

// whole takes the beginning of a line from the end of the file, and returns how many bytes of the n that were written are left.
func (o *output) whole(n int) int {
	begun := n - bytes.LastIndexByte(o.held[:n], '\n') - 1
	if begun == 0 || o.file == nil {
		return n
	}
	info, err := o.file.Stat()
	if err != nil || o.file.Truncate(info.Size()-int64(begun)) != nil {
		return n // a pipe: the rest of the line will come
	}
	return n - begun
}

// save brings what was written to the disk, and tells how much it is.
func (o *output) save() (*SavedOutput, error) {
	if err := o.flush(); err != nil || o.file == nil {
		return nil, err
	}
	info, err := o.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	s := &SavedOutput{Length: info.Size()}
	if s.Identity, err = logfile.Identify(o.file, info); err != nil {
		return nil, err
	}
	return s, syncFile(o.file)
}

// reopen goes on in the file that has the name now. What the old one had no room for goes there.
func (o *output) reopen() error {
	_ = o.flush() // the next flush tells of it
	if o.file == nil {
		return nil
	}
	old := o.file
	if err := o.open(); err != nil || o.file == old {
		return err // the old one is still open
	}
	o.beginLine()
	return old.Close()
}

// hasMoved reports whether the file has lost its name, to another one or for a second look on: rotation may be about to
// create one.
func (o *output) hasMoved() bool {
	if o.file == nil {
		return false
	}
	ours, err := o.file.Stat()
	if err != nil || !ours.Mode().IsRegular() {
		return false
	}
	info, err := os.Stat(o.name)
	wasAbsent := o.absent
	o.absent = errors.Is(err, fs.ErrNotExist)
	return wasAbsent && o.absent || err == nil && info.Mode().IsRegular() && !os.SameFile(ours, info)
}

// beginLine ends a line that was cut, so that what comes next is one of its own.
func (o *output) beginLine() {
	var last [1]byte
	if info, err := o.file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return
	} else if _, err := o.file.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
		o.held = slices.Insert(o.held, 0, '\n')
	}
}

// close writes what is held, unless it is known that it cannot be written.
func (o *output) close() (err error) {
	if o.err == nil {
		err = o.flush()
	}
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	return err
}

// cutOff cuts off what was written behind a checkpoint, also when log rotation has renamed or copied the file meanwhile. It
// touches no other file: one that has been given the inode of ours begins with something else. It returns how many
// bytes the file has lost.
func cutOff(name string, s *SavedOutput) (missing int64, err error) {
	if s == nil {
		return 0, nil
	}
	for range cutTries {
		candidates, _ := new(logfile.Siblings).WithCurrent(name)
		r, ok := logfile.Find(candidates, s.Identity, nil)
		if info, err := os.Stat(name); !ok && err == nil && s.SameInode(logfile.NodeOf(info)) { // cut within its beginning
			return max(0, s.Length-info.Size()), nil
		}
		if !ok || r.Compressed {
			return 0, nil
		}
		if r.Info.Size() <= s.Length {
			return s.Length - r.Info.Size(), nil
		}
		if err := cutFile(r, s.Length); !logfile.HasMoved(err) {
			return 0, err
		}
	}
	return 0, fmt.Errorf("is being renamed again and again: %w", logfile.ErrMoved)
}

// cutTries is the number of times that a file is looked for that has another name by the time it is opened.
const cutTries = 20

// cutFile cuts off the end of a file, unless another one has its name by now.
func cutFile(r logfile.Sibling, length int64) error {
	f, err := os.OpenFile(r.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // what is cut is cut
	if info, err := f.Stat(); err != nil || !os.SameFile(info, r.Info) {
		return errors.Join(err, logfile.ErrMoved)
	}
	return f.Truncate(length)
}

// exists reports whether there is something of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
