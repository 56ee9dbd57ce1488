package logfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// readBuffer is the number of bytes of a compressed file, or of a pipe, that are read at once.
const readBuffer = 128 << 10

var (
	errShrunk   = errors.New("became shorter while it was being read")
	errGone     = errors.New("was gone, or replaced by another file, before it could be read")
	errReplaced = errors.New("was rotated or truncated before it could be read")

	// errRewritten says that a file has the size that it had, or more, and other content: it was truncated, and has grown.
	errRewritten = errors.New("was truncated or rewritten while it was being read: lines are missing, or were read in part")
)

// content is an open source, decompressed.
type content struct {
	io.ReadCloser
	codec *codec
	close func()
	raw   *limited // nil: not wanted
}

// openHeld opens the content to be read once, from its beginning to its end. Close may interrupt it.
func (in *Input) openHeld() (*content, error) {
	if in.stdin != nil {
		return openContent(&countingReader{in.stdin, &in.consumed}, func() {})
	}
	var raw io.Reader
	f, err := in.openFile()
	if err != nil {
		return nil, err
	}
	if err := in.hold(f); err != nil {
		return nil, err
	}
	if in.regular() {
		r := in.newReader(in.id.size)
		r.file, raw = f, r
		r.readAhead()
	} else {
		raw = &countingReader{f, &in.consumed}
	}
	return openContent(raw, in.release)
}

// openContent finds out how raw is compressed, and undoes it. After close of the content, or an error, raw is closed.
// With an error the content tells its codec and no more.
func openContent(raw io.Reader, closeRaw func()) (*content, error) {
	br := bufio.NewReaderSize(raw, readBuffer)
	head, _ := br.Peek(magicLen) // what went wrong goes wrong again
	c := codecOf(head)
	if c.open == nil {
		closeRaw()
		return &content{codec: c}, c.unsupported("FILE")
	}
	r, err := c.open(br)
	if err != nil {
		closeRaw()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &content{codec: c}, err
	}
	return &content{ReadCloser: r, codec: c, close: func() { r.Close(); closeRaw() }}, nil
}

// openFile opens the very file that OpenInput has seen, under the name that log rotation may have given it since.
func (in *Input) openFile() (file, error) {
	if o, ok := in.info.(objectInfo); ok {
		return &objectFile{info: o.Info, head: in.keptHead()}, nil
	}
	if in.info.Mode()&fs.ModeNamedPipe != 0 {
		return in.openPipe()
	}
	f, err := os.Open(in.name)
	if !in.regular() {
		return f, err
	}
	if err == nil {
		if in.isSame(f) {
			return f, nil
		}
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return in.openRenamed()
}

// openRenamed looks for the file among its neighbours, again as long as they are being renamed.
func (in *Input) openRenamed() (file, error) {
	for range looks {
		f, err := in.openAmong(filepath.Dir(in.name))
		if f != nil || err != nil {
			return f, err
		}
		time.Sleep(betweenLooks)
	}
	return nil, errGone
}

// openAmong opens the file if it has a name in a directory.
func (in *Input) openAmong(dir string) (file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errGone
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !os.SameFile(info, in.info) {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if in.isSame(f) {
			return f, nil
		}
		f.Close()
	}
	return nil, nil
}

func (in *Input) isSame(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && os.SameFile(info, in.info)
}

// fileReader reads the bytes that the file had when it was opened, and no further. Behind the last one it looks whether
// the file is still what it was: one that was truncated meanwhile may have grown again, beyond its old size too.
type fileReader struct {
	input *Input
	file  file  // nil: is opened for the next bytes
	left  int64 // bytes
	end   error // why there is no more; nil: there is
}

// newReader reads the last bytes of the file, so many of them.
func (in *Input) newReader(left int64) *fileReader {
	in.raw = &fileReader{input: in, left: left}
	if left == 0 {
		in.raw.end = io.EOF
	}
	return in.raw
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.end != nil {
		return 0, r.end
	}
	if r.file == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.input.consumed.Add(int64(n))
	switch {
	case err == io.EOF:
		r.end = errShrunk
		err = errShrunk
	case err == nil && r.left == 0:
		r.end = r.check()
	case storeError(err) != nil:
		r.end = err
	}
	return n, err
}

// open opens the file at the next byte.
func (r *fileReader) open() error {
	in := r.input
	f, err := in.openFile()
	if err == nil {
		err = in.hold(f)
	}
	if err == nil {
		_, err = f.Seek(in.stop()-r.left, io.SeekStart)
	}
	if err != nil {
		r.end = err
		return err
	}
	r.file = f
	r.readAhead()
	return nil
}

// readAhead has an object read ahead.
func (r *fileReader) readAhead() {
	if o, ok := r.file.(*objectFile); ok {
		o.readAhead(r.input.stop(), r.input.lean)
	}
}

// check reports in what way the file has changed, or io.EOF. What cannot be read any more was not changed, as far as is
// known.
func (r *fileReader) check() error {
	if _, ok := r.file.(*objectFile); ok { // each range was of the same version
		return io.EOF
	}
	if info, err := r.file.Stat(); err == nil && info.Size() < r.input.id.size {
		return errShrunk
	}
	if now, _, err := endsOf(r.file, r.input.id.size); err == nil && now != r.input.id {
		return errRewritten
	}
	return io.EOF
}

// countingReader counts what comes through a pipe.
type countingReader struct {
	io.Reader
	count *atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.count.Add(int64(n))
	return n, err
}

// A log that is read a second time goes on where the first time ended:
//
//	aaaa\nbbbb\ncccc\nddd      the first time: three lines. dddd is not yet written
//	               ^ Place
//	aaaa\nbbbb\ncccc\ndddd\n   the second time: one line
//
// So a last line without its line feed is left for the next time, as long as a server may write the rest.

// Follow makes reading begin at a place of the content, after decompression. last reports whether nothing will be added any
// more: then a last line without a line feed is a line all the same. Follow must be called before Next, and not for a pipe.
func (in *Input) Follow(from Place, last bool) error {
	if in.blocks != nil || !in.regular() {
		return errors.New("logfile: Follow after Next, or of a pipe")
	}
	in.start, in.skipping, in.last = from.Offset, from.Skipping, lastWaits
	if last {
		in.last = lastUnlessDamaged
	}
	if in.codec == plain {
		if in.start > in.id.size {
			in.blocks, in.problem = over{from}, errReplaced.Error()
		}
		in.start = min(in.start, in.id.size)
		in.consumed.Store(in.start)
	}
	return nil
}

// Expect makes the input end at once unless the file is still the one with an identity: between the look at a log and
// its opening it may have been rotated or truncated. It must be called before Next.
func (in *Input) Expect(id Identity) {
	if id == (Identity{}) || !in.regular() {
		return
	}
	f, err := in.openFile()
	if err != nil {
		return // Next says what is wrong
	}
	defer f.Close()
	if r, ok := look(in.name, f, in.info); !ok || !r.Is(id) || id.Inode != 0 && !id.SameInode(r.ID.Node) {
		in.blocks, in.problem = over{in.Place()}, errReplaced.Error()
	}
}

// over is an input of which no more is read, and where that ended.
type over struct{ place Place }

func (over) next(*Block) error { return io.EOF }

// Place returns where reading may go on another time. It is known when Next has returned io.EOF; before the first Next
// it is where reading begins.
func (in *Input) Place() Place {
	switch b := in.blocks.(type) {
	case *cutter:
		return b.place()
	case over:
		return b.place
	case *ahead:
		if b.place != (Place{}) { // it could be opened
			return b.place
		}
	}
	return Place{Offset: in.start, Skipping: in.skipping}
}

// cut cuts decompressed content from the place on where reading begins.
func (in *Input) cut(src io.Reader) *cutter {
	c := newCutter(src, in.start)
	c.last, c.skipping = in.last, in.skipping
	if in.start > 0 {
		_, c.err = io.CopyN(io.Discard, src, in.start)
	}
	return c
}

// openPipe opens a named pipe, which waits for a process that opens it for writing. Nothing interrupts that but a
// writer, so when Close is called meanwhile, we are that writer ourselves.
func (in *Input) openPipe() (*os.File, error) {
	opened := make(chan struct{})
	defer close(opened)
	go func() {
		select {
		case <-opened:
		case <-in.done:
			in.wakeReader(opened)
		}
	}()
	return os.Open(in.name)
}

// wakeReader opens the pipe for writing until the reader has noticed. It succeeds at once when the reader waits
// already, and fails when it is only about to.
func (in *Input) wakeReader(opened <-chan struct{}) {
	for {
		w, err := os.OpenFile(in.name, os.O_WRONLY|nonblock, 0)
		switch {
		case err == nil:
			w.Close()
		case os.IsNotExist(err):
			return
		}
		select {
		case <-opened:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
