package tail

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"shadow/parse"
)

// Would-blocks go to a file so that each is in it once, even though a tail that was killed judges anew what came after its
// last checkpoint: the checkpoint says how long the file was, and what was written behind that is cut off first.

// An output is where would-blocks go.
type output struct {
	name   string
	file   *os.File // nil: w is not a file of ours
	w      *bufio.Writer
	length int64
}

// A SavedOutput is how long the file of would-blocks was.
type SavedOutput struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Length int64  `json:"length"`
}

const outputBuffer = 256 << 10

func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriterSize(w, outputBuffer)} }

// openOutput opens a file to append to.
func openOutput(name string) (*output, error) {
	o := &output{name: name}
	if err := o.open(); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *output) open() error {
	file, err := os.OpenFile(o.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	o.file, o.length = file, info.Size()
	o.w = bufio.NewWriterSize(file, outputBuffer)
	return nil
}

func (o *output) write(line []byte) error {
	o.length += int64(len(line))
	_, err := o.w.Write(line)
	return err
}

func (o *output) flush() error { return o.w.Flush() }

// save brings what was written to the disk, and tells how much it is.
func (o *output) save() (*SavedOutput, error) {
	if err := o.w.Flush(); err != nil || o.file == nil {
		return nil, err
	}
	info, err := o.file.Stat()
	if err != nil {
		return nil, err
	}
	s := &SavedOutput{Length: info.Size()}
	s.Device, s.Inode = parse.InodeOf(info)
	if info.Mode().IsRegular() {
		err = o.file.Sync()
	}
	return s, err
}

// reopen goes on in the file that has the name now.
func (o *output) reopen() error {
	if o.file == nil {
		return o.w.Flush()
	}
	if err := o.w.Flush(); err != nil {
		return err
	}
	old := o.file
	if err := o.open(); err != nil {
		return err // the old one is still open
	}
	return old.Close()
}

func (o *output) close() error {
	err := o.w.Flush()
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	return err
}

// cutOff cuts off what was written behind a checkpoint, whatever the file is called meanwhile.
func cutOff(name string, s *SavedOutput) error {
	if name == "" || s == nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() <= s.Length {
			continue
		}
		device, inode := parse.InodeOf(info)
		sameName := inode == 0 && e.Name() == filepath.Base(name)
		if sameName || inode != 0 && device == s.Device && inode == s.Inode {
			return os.Truncate(filepath.Join(filepath.Dir(name), e.Name()), s.Length)
		}
	}
	return nil
}

// exists tells whether there is something of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
