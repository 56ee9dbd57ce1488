package tail

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/logfile"
)

// A file is followed by its descriptor, so it does not matter what it is called or whether it still has a name. Whole lines
// are read at a place that is kept, and a line without its line feed is left for the next time:
//
//	aaaa\nbbbb\ncccc\ndd
//	     ^ Offset        read: bbbb\ncccc\n

// blockSize is how much is read at once, in bytes.
const blockSize = 512 << 10

var (
	// errTruncated says that a file begins again.
	errTruncated = errors.New("was truncated")

	// errCut says that a file has lost its end, as by a power failure: it begins as before.
	errCut = errors.New("was cut")

	// errUnsure says that a file had little or nothing in it when it was looked at last, and was written to since: it may have been
	// filled, copied and truncated in between.
	errUnsure = errors.New("may have been truncated")
)

// A generation is one of the files that a log consists of.
type generation interface {
	// next fills b with whole lines, and reports whether there were any.
	next(b *logfile.Block) (bool, error)
	// rest fills b with what has no line feed: the last line of a file to which nothing is added any more.
	rest(b *logfile.Block) bool
	// head is its beginning, in whole lines.
	head() []byte
	// saved is what to find it again by.
	saved() logfile.SavedFile
	// unread is how many bytes lie ahead, as far as is known.
	unread() int64
	// since is when something was last read.
	since() time.Time
	close()
}

// A file is a generation that is not compressed.
type file struct {
	handle *os.File
	info   fs.FileInfo // when it was looked at last
	id     logfile.Identity
	lines  []uint32 // see logfile.SavedFile
	blank  bool     // it was empty when it was found beside the log, so it may become a copy of another file
	at     logfile.Place
	size   int64
	read   time.Time
	now    func() time.Time

	stirred func() bool // whether there may be copies that nobody has looked at; nil: there are none
	doubted bool        // whether it is to be held against copies, whatever stirred says
}

// openFile opens a file to be read from a place.
func openFile(name string, at logfile.Place, now func() time.Time) (*file, error) {
	handle, info, err := openAtOnce(name)
	if err != nil {
		return nil, err
	}
	f := &file{handle: handle, info: info, at: at, size: info.Size(), read: now(), now: now}
	if !info.Mode().IsRegular() {
		err = errNoFile
	} else {
		f.id.Device, f.id.Inode = logfile.InodeOf(info)
		f.id = f.id.Emptied()
		err = f.learn()
	}
	if err != nil {
		_ = handle.Close()
		return nil, err
	}
	return f, nil
}

// skipToEnd goes to the end, and past the rest of a line that has begun.
func (f *file) skipToEnd() {
	f.at = logfile.Place{Offset: f.size}
	var last [1]byte
	if _, err := f.handle.ReadAt(last[:], f.size-1); f.size > 0 && err == nil {
		f.at.Skipping = last[0] != '\n'
	}
}

// look finds out whether the file has grown, or begins again.
func (f *file) look() error {
	info, err := f.handle.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	if f.size < f.at.Offset {
		return cmp.Or(f.check(), errCut)
	}
	changed := f.size != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())
	if !changed && f.size == f.at.Offset && !f.doubted {
		return nil
	}
	if f.blank || f.id.HeadBytes == 0 {
		return errUnsure
	}
	if f.doubted || changed && f.id.HeadBytes < logfile.HeadBlock && f.stirred != nil && f.stirred() {
		return cmp.Or(f.check(), errUnsure)
	}
	if err := f.learn(); err != nil {
		return err
	}
	f.info = info
	return nil
}

// refresh learns what is there now, unless the file has begun again.
func (f *file) refresh() error {
	info, err := f.handle.Stat()
	if err == nil {
		err = f.learn()
	}
	if err == nil {
		f.info, f.size, f.doubted = info, info.Size(), false
	}
	return err
}

// check holds the beginning of the file against what it was.
func (f *file) check() error {
	var block [logfile.HeadBlock]byte
	_, err := f.begin(&block)
	return err
}

// learn checks the beginning, and learns more of it while it is short.
func (f *file) learn() error {
	var block [logfile.HeadBlock]byte
	head, err := f.begin(&block)
	if err == nil && (len(head) > f.id.HeadBytes || f.lines == nil) {
		f.id.Learn(head)
		f.lines = logfile.LineSums(head)
	}
	return err
}

// begin reads the beginning, which must be what it was.
func (f *file) begin(block *[logfile.HeadBlock]byte) ([]byte, error) {
	n, err := f.handle.ReadAt(block[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !f.id.Begins(block[:n]) {
		return nil, errTruncated
	}
	return block[:n], nil
}

// renew makes the file one of which nothing is known, and nothing was read.
func (f *file) renew() {
	f.id, f.lines, f.at = f.id.Emptied(), nil, logfile.Place{}
}

// is reports whether the file is one that was known.
func (f *file) is(id logfile.Identity) bool { return id.SameInode(f.id) && f.begins(id) }

// begins reports whether the file begins as one did that was known.
func (f *file) begins(id logfile.Identity) bool {
	if id.HeadBytes == 0 {
		return false
	}
	var block [logfile.HeadBlock]byte
	n, _ := f.handle.ReadAt(block[:], 0) // what cannot be read now is not known
	return id.Begins(block[:n])
}

func (f *file) next(b *logfile.Block) (bool, error) {
	if err := f.look(); err != nil {
		return false, err
	}
	for f.size > f.at.Offset {
		data, err := f.readAt(b.Data, blockSize)
		if err == nil {
			err = f.check() // should it have been truncated meanwhile, this is nothing that was ever in it in one piece
		}
		if err != nil || len(data) == 0 {
			return false, err
		}
		if f.at.Skipping {
			f.skip(data)
			continue
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		if end == 0 && len(data) == blockSize { // a line that is longer than a block
			if data, err = f.readAt(data, logfile.MaxLine+1); err != nil {
				return false, err
			}
			if end = bytes.LastIndexByte(data, '\n') + 1; end == 0 && len(data) > logfile.MaxLine {
				data = append(data, '\n')
				end, f.at.Skipping = len(data), true
			}
		}
		return f.take(b, data, end), nil
	}
	return false, nil
}

// readAt reads up to n bytes from the place on.
func (f *file) readAt(data []byte, n int) ([]byte, error) {
	n = int(min(int64(n), f.size-f.at.Offset))
	data = slices.Grow(data[:0], n+1)[:n]
	n, err := f.handle.ReadAt(data, f.at.Offset)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}

// skip goes to the end of an unwanted line, or of data.
func (f *file) skip(data []byte) {
	n := bytes.IndexByte(data, '\n') + 1
	f.at.Skipping = n == 0
	if n == 0 {
		n = len(data)
	}
	f.at.Offset += int64(n)
}

// take makes the first bytes of data the block.
func (f *file) take(b *logfile.Block, data []byte, end int) bool {
	b.Data, b.Offset = data[:end], f.at.Offset
	if end == 0 {
		return false
	}
	f.at.Offset += int64(end)
	if f.at.Skipping { // the line feed is ours
		f.at.Offset--
	}
	f.read = f.now()
	return true
}

func (f *file) rest(b *logfile.Block) bool {
	data, err := f.readAt(b.Data, logfile.MaxLine+1)
	if err != nil || f.at.Skipping {
		return false
	}
	return f.take(b, data, len(data))
}

// sampleBytes are enough to choose a format by.
const sampleBytes = 64 << 10

// head and peek leave it to next to say what cannot be read.
func (f *file) head() []byte {
	sample := make([]byte, sampleBytes)
	n, _ := f.handle.ReadAt(sample, 0)
	return wholeLines(sample[:n])
}

// isDeleted reports whether the file has no name any more.
func (f *file) isDeleted() bool {
	info, err := f.handle.Stat()
	return err == nil && isDeleted(info)
}

// peek is what comes next, in whole lines, behind what is not wanted of a line that was too long.
func (f *file) peek() (sample []byte) {
	for f.at.Skipping && f.size > f.at.Offset {
		if sample, _ = f.readAt(sample, blockSize); len(sample) == 0 {
			return nil
		}
		f.skip(sample)
	}
	if f.size <= f.at.Offset {
		return nil
	}
	for _, most := range []int{sampleBytes, logfile.MaxLine + 1} {
		if sample, _ = f.readAt(sample, most); bytes.IndexByte(sample, '\n') >= 0 || len(sample) < most {
			break
		}
	}
	return wholeLines(sample)
}

// overlong reports whether a line comes next that is too long to be read, whatever its format is.
func (f *file) overlong() bool { return len(f.peek()) == 0 && f.unread() > logfile.MaxLine }

func (f *file) saved() logfile.SavedFile {
	return logfile.SavedFile{Identity: f.id, Place: f.at, Lines: f.lines}
}
func (f *file) unread() int64    { return max(0, f.size-f.at.Offset) }
func (f *file) since() time.Time { return f.read }
func (f *file) close()           { _ = f.handle.Close() } // it was only read: nothing can be lost
