package tail

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Opening a named pipe waits for somebody at its other end, perhaps for ever, and what has been a file a moment ago may be one
// now. So whatever is followed is opened without waiting, and looked at then.

// errNoFile says of a name that neither a file nor a named pipe has it.
var errNoFile = errors.New("is neither a file nor a named pipe")

// openAtOnce opens what has a name to be read.
func openAtOnce(name string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openFIFO takes in a named pipe, behind the files that had the name. It is opened to read and to write, if that is allowed,
// so that it does not end when one of its writers does.
func (l *log) openFIFO() error {
	var from io.Reader
	from, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		var f *os.File
		f, _, err = openAtOnce(l.path)
		from = &endless{f}
	}
	if err != nil {
		return err
	}
	l.pipe, l.lost = true, false
	l.files = append(l.files, openPipe(from, l.tail.wake, l.now))
	return nil
}

// openStdin takes in standard input.
func (l *log) openStdin(from io.Reader) {
	l.pipe, l.files = true, []generation{openPipe(from, l.tail.wake, l.now)}
}

// An endless is a named pipe that has no end: there may be another writer as soon as one is gone.
type endless struct{ fifo *os.File }

func (e *endless) Read(b []byte) (int, error) {
	for {
		n, err := e.fifo.Read(b)
		if n > 0 || err != io.EOF {
			return n, err
		}
		time.Sleep(tick) // nobody has it open to write
	}
}
