package follow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"shadow/internal/logfile"
)

// Opening a named pipe waits for a process at its other end, perhaps forever, and what has been a file a moment ago may
// be one now. So all that is followed is opened without waiting, and looked at then.

// pipePoll is the time between two looks at an endless pipe without a writer.
const pipePoll = 250 * time.Millisecond

// openAtOnce opens what has a name to be read.
func openAtOnce(name string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
func (l *Log) openFIFO() error {
	var from io.Reader
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	from = f
	if errors.Is(err, fs.ErrPermission) {
		f, _, err = openAtOnce(l.path)
		from = &endless{f}
	}
	if err != nil {
		return err
	}
	l.lose()
	if !l.begun { // a file that follows is read from its start
		l.know()
	}
	l.pipe, l.begun, l.lost = true, true, false
	p := openPipe(from, l.set.Wake, l.set.Now)
	p.fifo = f
	l.files = append(l.files, p)
	return nil
}

// leavesPipe reports whether the named pipe of the log has lost its name. It is read until it has been quiet for long.
func (l *Log) leavesPipe() bool {
	if n := len(l.files); n > 0 {
		p, ok := l.files[n-1].(*pipe)
		if ok && (p.fifo == nil || p.hasName(l.path)) {
			return false
		}
	}
	l.pipe = false
	return true
}

// hasName reports whether a named pipe has a name, as far as can be told.
func (p *pipe) hasName(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	ours, err := p.fifo.Stat()
	return err == nil && os.SameFile(ours, info)
}

// openStdin takes in standard input. Of a file all is there: it is never silent, however slow the disk is.
func (l *Log) openStdin() {
	p := openPipe(l.set.Stdin, l.set.Wake, l.set.Now)
	if f, ok := l.set.Stdin.(fs.File); ok {
		info, err := f.Stat()
		p.waits = err == nil && info.Mode().IsRegular()
	}
	l.pipe, l.files = true, []File{p}
}

// An endless is a named pipe that has no end: there may be another writer as soon as one is gone.
type endless struct{ fifo *os.File }

func (e *endless) Read(b []byte) (int, error) {
	for {
		n, err := e.fifo.Read(b)
		if n > 0 || err != io.EOF {
			return n, err
		}
		time.Sleep(pipePoll) // no process has it open to write
	}
}

// A pipe is a file of a log that cannot be read again: standard input, or a named pipe. A goroutine reads it,
// since a read may wait forever. When what it has read is not taken, it waits, and so does in the end the writer.
type pipe struct {
	chunks chan []byte
	queued atomic.Int64 // bytes in chunks
	held   []byte       // whole lines, and the beginning of one
	waits  bool         // whether to wait for lines, as for those of a file
	fifo   *os.File     // nil: standard input

	skipping bool // inside a line of which no more is wanted
	over     bool
	read     time.Time
	now      func() time.Time
}

// The bytes that are read at a time, and how many such chunks may wait: 16 MB, more than is judged between two looks,
// so that the caller never waits for a pipe, and its writer seldom waits.
const (
	pipeChunk  = 64 << 10
	pipeChunks = 256
	pipeBlock  = 512 << 10 // bytes of lines that are handed over at once
)

func openPipe(r io.Reader, wake chan<- struct{}, now func() time.Time) *pipe {
	p := &pipe{chunks: make(chan []byte, pipeChunks), read: now(), now: now}
	go func() {
		defer rouse(wake)
		defer close(p.chunks)
		for {
			chunk := make([]byte, pipeChunk)
			n, err := r.Read(chunk)
			if n > 0 {
				p.queued.Add(int64(n))
				p.chunks <- chunk[:n]
				rouse(wake)
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// fill takes what has come, until there is a block of whole lines or no more. Of a line that is longer than MaxLine it keeps so
// much that its length tells.
func (p *pipe) fill() {
	for !p.over && (len(p.held) < pipeBlock || bytes.IndexByte(p.held, '\n') < 0) {
		chunk, some := p.take()
		if !some {
			return
		}
		if p.skipping {
			_, rest, ended := bytes.Cut(chunk, []byte("\n"))
			p.skipping, chunk = !ended, rest
		}
		p.held = append(p.held, chunk...)
		if len(p.held) > logfile.MaxLine && bytes.IndexByte(p.held, '\n') < 0 {
			p.held = append(p.held[:logfile.MaxLine+1], '\n')
			p.skipping = true
		}
	}
}

// take takes the next of what has come; false if there is nothing yet.
func (p *pipe) take() (chunk []byte, some bool) {
	var open bool
	if p.waits {
		chunk, open = <-p.chunks
	} else {
		select {
		case chunk, open = <-p.chunks:
		default:
			return nil, false
		}
	}
	p.queued.Add(int64(-len(chunk)))
	p.over = !open
	return chunk, true
}

func (p *pipe) next(b *logfile.Block) (bool, error) {
	p.fill()
	end := bytes.LastIndexByte(p.held, '\n') + 1
	if p.over {
		end = len(p.held)
	}
	if end == 0 {
		return false, nil
	}
	b.Data = append(b.Data[:0], p.held[:end]...)
	p.held = append(p.held[:0], p.held[end:]...)
	p.read = p.now()
	return true, nil
}

func (p *pipe) head() []byte {
	p.fill()
	if p.over {
		return p.held
	}
	return wholeLines(p.held)
}

// rest hands over the beginning of a line whose end will not come.
func (p *pipe) rest(b *logfile.Block) bool {
	b.Data = append(b.Data[:0], p.held...)
	p.held = p.held[:0]
	return len(b.Data) > 0
}

func (p *pipe) close() {
	if p.fifo != nil {
		_ = p.fifo.Close() // it was only read
	}
}

func (p *pipe) is(fs.FileInfo) bool      { return false }
func (p *pipe) saved() logfile.SavedFile { return logfile.SavedFile{} }
func (p *pipe) unread() int64            { return p.queued.Load() + int64(len(p.held)) }
func (p *pipe) measure()                 {}
func (p *pipe) since() time.Time         { return p.read }

// Ended reports whether the log is a pipe to which nothing is added any more.
func (l *Log) Ended() bool {
	if !l.pipe || len(l.files) == 0 {
		return false
	}
	p, ok := l.files[len(l.files)-1].(*pipe)
	return ok && p.over
}
