package tail

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"

	"shadow/logfile"
)

// A pipe is the only generation of a log that cannot be read again: standard input, or a named pipe. A goroutine reads it,
// since a read may wait for ever. When nobody takes what it has read, it waits, and so does in the end whoever writes.
type pipe struct {
	chunks chan []byte
	queued atomic.Int64 // bytes in chunks
	held   []byte       // whole lines, and the beginning of one

	skipping bool // inside a line of which no more is wanted
	over     bool
	read     time.Time
	now      func() time.Time
}

// What is read at a time, and how many of those may wait: 16 MB, more than is judged in a breath, so that a pipe is never
// what a tail waits for, and its writer seldom waits for the tail.
const (
	pipeChunk  = 64 << 10
	pipeChunks = 256
)

func openPipe(r io.Reader, wake chan<- struct{}, now func() time.Time) *pipe {
	p := &pipe{chunks: make(chan []byte, pipeChunks), read: now(), now: now}
	go p.run(r, wake)
	return p
}

func (p *pipe) run(r io.Reader, wake chan<- struct{}) {
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
}

// rouse wakes whoever waits.
func rouse(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// fill takes what has come, until there is a block of whole lines or no more.
func (p *pipe) fill() {
	for !p.over && (len(p.held) < blockSize || bytes.IndexByte(p.held, '\n') < 0) {
		select {
		case chunk, more := <-p.chunks:
			p.queued.Add(int64(-len(chunk)))
			p.hold(chunk)
			p.over = !more
		default:
			return
		}
	}
}

// hold holds what has come. Of a line that is longer than MaxLine it keeps so much that its length tells.
func (p *pipe) hold(chunk []byte) {
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

func (p *pipe) rest(*logfile.Block) bool { return false }

func (p *pipe) head() []byte {
	p.fill()
	if p.over {
		return p.held
	}
	return wholeLines(p.held)
}

// ended reports whether everything has been read.
func (p *pipe) ended() bool { return p.over && len(p.held) == 0 }

func (p *pipe) saved() logfile.SavedFile { return logfile.SavedFile{} }
func (p *pipe) unread() int64            { return p.queued.Load() + int64(len(p.held)) }
func (p *pipe) since() time.Time         { return p.read }
func (p *pipe) close()                   {}
