package follow

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"shadow/internal/logfile"
)

// A plain file is followed by its descriptor, so it does not matter what it is called or whether it still has a name. Whole
// lines are read at a place that is kept, and a line without its line feed is left for the next time:
//
//	aaaa\nbbbb\ncccc\ndd
//	     ^ Offset        read: bbbb\ncccc\n

var (
	// errTruncated says that a file begins again.
	errTruncated = errors.New("was truncated")

	// errCut says that a file has lost its end, as by a power failure: it begins as before.
	errCut = errors.New("was cut")

	// errUnsure says that a file had little or nothing in it when it was looked at last, and was written to since: it may have been
	// filled, copied and truncated in between.
	errUnsure = errors.New("may have been truncated")

	// errNoFile says of a name that neither a file nor a named pipe has it.
	errNoFile = errors.New("is neither a file nor a named pipe")
)

// A File is one of the files that a log consists of.
type File interface {
	// next fills b with whole lines, and reports whether there were any.
	next(b *logfile.Block) (bool, error)
	// rest fills b with what has no line feed: the last line of a file to which nothing is added any more.
	rest(b *logfile.Block) bool
	// head is its beginning, in whole lines.
	head() []byte
	// is reports whether it is a file that was looked at, which can be told of plain ones only.
	is(fs.FileInfo) bool
	// saved returns what to find it again by.
	saved() logfile.SavedFile
	// unread returns how many bytes lie ahead, as far as is known. measure finds out.
	unread() int64
	measure()
	// since returns when something was last read.
	since() time.Time
	close()
}

// A plain file is one that may grow.
type plain struct {
	logfile.SavedFile // what it is known by, and how far it has been read

	handle *os.File
	info   fs.FileInfo // when it was looked at last
	blank  bool        // it was empty when it was found beside the log, so it may become a copy of another file
	size   int64
	read   time.Time
	now    func() time.Time

	stirred func() bool // whether there may be copies that have not been looked at; nil: there are none
	doubted bool        // whether it is to be held against copies, whatever stirred says
	held    bool        // nothing is read for now: see copied.go
	left    bool        // see leave
}

// openPlain opens a file to be read from a place.
func openPlain(name string, at logfile.Place, now func() time.Time) (*plain, error) {
	handle, info, err := openAtOnce(name)
	if err != nil {
		return nil, err
	}
	f := &plain{handle: handle, info: info, size: info.Size(), read: now(), now: now}
	if !info.Mode().IsRegular() {
		err = errNoFile
	} else {
		f.Identity, f.Born = logfile.Identity{Node: logfile.NodeOf(info)}.Emptied(), logfile.Born(handle)
		err = f.learn()
	}
	f.Place = at // whether that stands is found when it is read on
	if err != nil {
		_ = handle.Close()
		return nil, err
	}
	return f, nil
}

// skipToEnd goes to the end, and past the rest of a line that has begun.
func (f *plain) skipToEnd() {
	f.Place = logfile.Place{Offset: f.size}.Marked(f.handle)
	var last [1]byte
	if _, err := f.handle.ReadAt(last[:], f.size-1); f.size > 0 && err == nil {
		f.Skipping = last[0] != '\n'
	}
}

// look finds out whether the file has grown, or begins again.
func (f *plain) look() error {
	info, err := f.handle.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	if f.size < f.Offset {
		return cmp.Or(f.check(), errCut)
	}
	changed := f.size != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())
	if !changed && f.size == f.Offset && !f.doubted {
		return nil
	}
	if f.blank || f.HeadBytes == 0 {
		return errUnsure
	}
	if f.doubted || changed && f.HeadBytes < logfile.HeadBlock && f.stirred != nil && f.stirred() {
		return cmp.Or(f.check(), errUnsure)
	}
	if err := f.learn(); err != nil {
		return err
	}
	f.info = info
	return nil
}

// refresh learns what is there now, unless the file has begun again.
func (f *plain) refresh() error {
	info, err := f.handle.Stat()
	if err == nil {
		err = f.learn()
	}
	if err == nil {
		f.info, f.size, f.doubted = info, info.Size(), false
	}
	return err
}

// check holds the beginning of the file, and what was read last, against what they were.
func (f *plain) check() error {
	_, err := f.begin(make([]byte, f.HeadBytes))
	return err
}

// learn checks the beginning, and learns more of it while it is short.
func (f *plain) learn() error {
	head, err := f.begin(make([]byte, logfile.HeadBlock))
	if err == nil && (len(head) > f.HeadBytes || f.Lines == nil) {
		f.Identity.Learn(head)
		f.Lines = logfile.LineSums(head)
	}
	return err
}

// begin reads the beginning, which must be what it was, as must be what was read last: a log that was truncated may begin
// as before.
func (f *plain) begin(block []byte) ([]byte, error) {
	n, err := f.handle.ReadAt(block, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !f.Identity.Begins(block[:n]) || !f.Stands(f.handle) {
		return nil, errTruncated
	}
	return block[:n], nil
}

// isShort reports whether no whole line is in it yet, nor so much of one that it can be told by it.
func (f *plain) isShort() bool { return len(f.Lines) == 0 && f.HeadBytes < logfile.HeadBlock }

// renew makes the file one of which nothing is known, and nothing was read.
func (f *plain) renew() {
	f.Identity, f.Lines, f.Place = f.Identity.Emptied(), nil, logfile.Place{}
}

// was reports whether the file is one that was known.
func (f *plain) was(id logfile.Identity) bool { return id.SameInode(f.Node) && f.begins(id) }

// begins reports whether the file begins as one did that was known.
func (f *plain) begins(id logfile.Identity) bool {
	if id.HeadBytes <= 0 || id.HeadBytes > logfile.HeadBlock {
		return false
	}
	block := make([]byte, id.HeadBytes)
	n, _ := f.handle.ReadAt(block, 0) // what cannot be read now is not known
	return id.Begins(block[:n])
}

func (f *plain) next(b *logfile.Block) (bool, error) {
	if err := f.look(); err != nil || f.size <= f.Offset || f.held {
		return false, err
	}
	at, err := logfile.Cut(b, f.handle, f.Place, f.size, false)
	if err == nil {
		at = at.Marked(f.handle)
		err = f.check() // should it have been truncated meanwhile, this is nothing that was ever in it in one piece
	}
	if err != nil {
		return false, err
	}
	return f.take(b, at), nil
}

func (f *plain) rest(b *logfile.Block) bool {
	at, err := logfile.Cut(b, f.handle, f.Place, f.size, true)
	return err == nil && f.take(b, at.Marked(f.handle))
}

// take goes on to a place, and reports whether there are lines before it.
func (f *plain) take(b *logfile.Block, at logfile.Place) bool {
	f.Place = at
	if len(b.Data) == 0 {
		return false
	}
	f.read = f.now()
	return true
}

// sampleBytes are enough to choose a format by.
const sampleBytes = 64 << 10

// head and peek leave it to next to say what cannot be read.
func (f *plain) head() []byte {
	sample := make([]byte, sampleBytes)
	n, _ := f.handle.ReadAt(sample, 0)
	return wholeLines(logfile.TrimBeginning(sample[:n]))
}

// peek returns what comes next, in whole lines, behind what is not wanted of a line that was too long. Nothing is shown
// of another one.
func (f *plain) peek() []byte {
	var b logfile.Block
	at, err := logfile.Cut(&b, f.handle, f.Place, f.size, false)
	if len(b.Data) == 0 && err == nil {
		f.Place = at.Marked(f.handle) // the rest of a line that was too long
	}
	switch sample := wholeLines(b.Data[:min(len(b.Data), sampleBytes)]); {
	case len(sample) > 0:
		return sample
	case len(b.Data) > logfile.MaxLine+1:
		return nil
	}
	return b.Data
}

// isDeleted reports whether the file has no name any more.
func (f *plain) isDeleted() bool {
	info, err := f.handle.Stat()
	return err == nil && logfile.IsDeleted(info)
}

func (f *plain) measure() {
	if info, err := f.handle.Stat(); err == nil {
		f.size = info.Size()
	}
}

func (f *plain) saved() logfile.SavedFile { return f.SavedFile }
func (f *plain) is(info fs.FileInfo) bool { return os.SameFile(f.info, info) }
func (f *plain) unread() int64            { return max(0, f.size-f.Offset) }
func (f *plain) since() time.Time         { return f.read }
func (f *plain) close()                   { _ = f.handle.Close() } // it was only read: nothing can be lost

// wholeLines returns data up to its last line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }

// A compressed file is one that log rotation has compressed before it was read to its end. It does not grow.
type compressed struct {
	*logfile.Input
	set   *Set
	first []byte
	id    logfile.Identity
	at    logfile.Place
	over  bool
	read  time.Time
}

func (c *compressed) next(b *logfile.Block) (bool, error) {
	if c.over {
		return false, nil
	}
	if c.Next(b) != nil {
		c.over = true
		if problem := c.Problem(); problem != "" {
			c.set.Say("%s: %s; it was read up to byte %d", c.Name(), problem, c.at.Offset)
			c.set.Lost()
		}
		return false, nil
	}
	c.at, c.read = b.End(), c.set.Now()
	return true, nil
}

// rest has nothing to hand over: next has handed over the last line whether it had a line feed or not.
func (c *compressed) rest(*logfile.Block) bool { return false }
func (c *compressed) head() []byte             { return wholeLines(c.first) }
func (c *compressed) is(fs.FileInfo) bool      { return false }
func (c *compressed) saved() logfile.SavedFile { return logfile.SavedFile{Identity: c.id, Place: c.at} }
func (c *compressed) since() time.Time         { return c.read }
func (c *compressed) measure()                 {}
func (c *compressed) close()                   { _ = c.Close() }

// unread returns 1 until the end has been seen: how much lies ahead is not known.
func (c *compressed) unread() int64 {
	if c.over {
		return 0
	}
	return 1
}

// open opens a sibling as a file of the log. One that was empty and has been filled since is looked at again.
func (l *Log) open(r logfile.Sibling, at logfile.Place) (File, error) {
	if r.Compressed {
		input, err := logfile.OpenInput(r.Path, nil)
		if err != nil {
			return nil, err
		}
		if err = logfile.ErrMoved; input.Is(r.Info) {
			err = input.Follow(at, true)
		}
		if err != nil {
			_ = input.Close() // it was only read
			return nil, err
		}
		return &compressed{Input: input, set: l.set, first: r.Head, id: r.ID, at: at, read: l.set.Now()}, nil
	}
	f, err := openPlain(r.Path, at, l.set.Now)
	if err == nil && !(os.SameFile(f.info, r.Info) && (f.HeadBytes == 0) == (r.ID.HeadBytes == 0) && f.HeadBytes >= r.ID.HeadBytes &&
		(r.ID.HeadBytes == 0 || f.begins(r.ID))) {
		f.close()
		err = logfile.ErrMoved
	}
	return f, err
}
