package logfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"shadow/internal/logfile/object"
)

// Objects are read as files are, with three differences: one cannot grow while it is read, it has no neighbours, and what
// is wrong with reading it fails the run (see object.Error).

// objects reaches the stores.
var objects = object.NewStore()

// IsObject reports whether a name is that of an object in a store, or stands for objects.
func IsObject(name string) bool { return object.IsName(name) }

// A file can be read: a file of the system, or an object.
type file interface {
	io.ReadSeekCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// stat looks at a file or an object.
func stat(name string) (fs.FileInfo, error) {
	if !IsObject(name) {
		return os.Stat(name)
	}
	info, err := objects.Stat(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return objectInfo{info}, nil
}

// open opens a file, or an object to be looked at (see objectFile).
func open(name string) (file, error) {
	if !IsObject(name) {
		return os.Open(name)
	}
	info, err := objects.Stat(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return &objectFile{info: info}, nil
}

// sameFile reports whether two files, or objects, are one.
func sameFile(x, y fs.FileInfo) bool {
	a, isObject := x.(objectInfo)
	b, areObjects := y.(objectInfo)
	if isObject || areObjects {
		return isObject && areObjects && a.Info == b.Info
	}
	return os.SameFile(x, y)
}

// An objectInfo is an object as a file.
type objectInfo struct{ object.Info }

func (i objectInfo) Name() string       { return path.Base(object.Path(i.Info.Name)) }
func (i objectInfo) Size() int64        { return i.Info.Size }
func (i objectInfo) Mode() fs.FileMode  { return 0o444 }
func (i objectInfo) ModTime() time.Time { return i.Modified }
func (i objectInfo) IsDir() bool        { return false }
func (i objectInfo) Sys() any           { return i.Info }

// An objectFile is an open object. Its pieces come with a request each, until readAhead is called.
type objectFile struct {
	info  object.Info
	head  []byte // its beginning, as far as it was read already
	at    int64
	ahead bool
	until int64 // where reading ahead ends
	lean  bool

	mu     sync.Mutex     // guards what follows
	reader *object.Reader // nil: is opened for the next byte
	closed bool
}

// readAhead has the object read from here to an offset, ranges in parallel. If lean, it holds no connection meanwhile.
func (f *objectFile) readAhead(until int64, lean bool) { f.ahead, f.until, f.lean = true, until, lean }

// open returns what reads ahead.
func (f *objectFile) open() (*object.Reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, fs.ErrClosed
	case f.reader == nil:
		f.reader = objects.Open(f.info, f.at, f.lean)
		f.reader.Until(f.until)
	}
	return f.reader, nil
}

// start asks for the first range.
func (f *objectFile) start() {
	if reader, err := f.open(); err == nil {
		reader.Start()
	}
}

// fill reads the beginning of the object, or all of it, with one request.
func (f *objectFile) fill(n int64) error {
	if n = min(n, f.info.Size); int64(len(f.head)) >= n {
		return nil
	}
	head := make([]byte, n)
	read, err := objects.ReadAt(f.info, head, 0)
	f.head = head[:read]
	return err
}

func (f *objectFile) Read(p []byte) (n int, err error) {
	switch {
	case f.at >= f.info.Size:
		return 0, io.EOF
	case f.at < int64(len(f.head)):
		n = copy(p, f.head[f.at:])
	case !f.ahead:
		if n, err = f.ReadAt(p, f.at); n > 0 && err == io.EOF {
			err = nil
		}
	default:
		var reader *object.Reader
		if reader, err = f.open(); err == nil {
			n, err = reader.Read(p)
		}
	}
	f.at += int64(n)
	return n, err
}

func (f *objectFile) ReadAt(p []byte, offset int64) (int, error) {
	if end := offset + int64(len(p)); end <= int64(len(f.head)) || int64(len(f.head)) == f.info.Size {
		n := copy(p, f.head[min(offset, int64(len(f.head))):])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	return objects.ReadAt(f.info, p, offset)
}

func (f *objectFile) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset != f.at && f.ahead {
		return 0, errors.New("logfile: an object is read from one place on")
	}
	f.at = offset
	return offset, nil
}

func (f *objectFile) Stat() (fs.FileInfo, error) { return objectInfo{f.info}, nil }

// Close may be called while another goroutine reads.
func (f *objectFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.reader != nil {
		return f.reader.Close()
	}
	return nil
}

// storeError returns why a store did not give what it has, nil if that is not what went wrong.
func storeError(err error) error {
	if err == nil || err == io.EOF {
		return nil
	}
	if failed, is := errors.AsType[*object.Error](err); is {
		return failed
	}
	return nil
}

// Beginnings of objects that are kept until they are read, so that a small object is asked for once.

const mostKept = 64 << 20 // bytes of all inputs

var keptHeads atomic.Int64 // bytes

// keepHead keeps the beginning of an object that was looked at, for Peek.
func (in *Input) keepHead(f *objectFile) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.head = f.head
	keptHeads.Add(int64(len(f.head)))
}

// keptHead returns the beginning that is kept, nil without one.
func (in *Input) keptHead() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.head
}

// dropHead forgets it.
func (in *Input) dropHead() {
	in.mu.Lock()
	defer in.mu.Unlock()
	keptHeads.Add(-int64(len(in.head)))
	in.head = nil
}

// dropPeeked keeps what was kept only if it is the whole object, and there is room.
func (in *Input) dropPeeked() {
	if int64(len(in.keptHead())) < in.id.size || keptHeads.Load() > mostKept {
		in.dropHead()
	}
}

// Prefetch begins to read an object that is read soon, if there is room: stores take their time for the first byte. It
// may be called instead of Next, and for any input.
func (in *Input) Prefetch() {
	if !in.isObject() || in.blocks != nil || in.closed() || int64(len(in.keptHead())) == in.id.size || !objects.HasRoom() {
		return
	}
	in.begin()
	if r := in.raw; in.codec == plain && r.end == nil && r.open() == nil {
		if o, ok := r.file.(*objectFile); ok {
			o.start()
		}
	}
}

// isObject reports whether the input is one.
func (in *Input) isObject() bool {
	_, ok := in.info.(objectInfo)
	return ok
}

// looksAtOnce is the number of names that are looked at before what is not needed of them is dropped.
const looksAtOnce = 256

// ObjectsAtOnce is the number of objects that are looked at at a time: a store takes its time for each, and serves many
// at once.
const ObjectsAtOnce = 32

// lookAtAll returns what can be read of names, in their order.
func lookAtAll(names []string) (all []Sibling) {
	found, is := make([]Sibling, len(names)), make([]bool, len(names))
	hands := 1
	if slices.ContainsFunc(names, IsObject) {
		hands = ObjectsAtOnce
	}
	var next atomic.Int64
	var looking sync.WaitGroup
	for range hands {
		looking.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(names)); i = next.Add(1) - 1 {
				found[i], is[i] = SiblingAt(names[i])
			}
		})
	}
	looking.Wait()
	for i, r := range found {
		if is[i] {
			all = append(all, r)
		}
	}
	return all
}

// addObjects takes in the objects that a name stands for. Below a prefix, as in a directory, what is no log by its name
// is left out.
func (e *expansion) addObjects(arg string) error {
	prefix := object.Parse(arg).IsPrefix()
	found, before := false, len(e.left)
	err := objects.Expand(context.Background(), arg, func(info object.Info) error {
		key := fileKey{path: info.Name}
		if prefix && !IsLog(path.Base(object.Path(info.Name))) {
			e.left = append(e.left, leftOut{arg, info.Name, key})
			return nil
		}
		found = true
		e.once(key, info.Name)
		if prefix {
			e.Guessed[info.Name] = arg
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("logfile: %w", err)
	}
	if left := e.left[before:]; !found {
		return fmt.Errorf("logfile: %s: none of the %d objects there is a log, by its name; to read one nevertheless, name it (%s)",
			arg, len(left), left[0].name)
	}
	return nil
}

// statGrowing looks at a file that may be read on from where reading stopped.
func statGrowing(name string) (fs.FileInfo, error) {
	if IsObject(name) {
		return nil, errors.New("an object does not grow, and is not read on another time")
	}
	return os.Stat(name)
}

// onDisk returns the path of a file that is named as an object, whose version is no more than its time; else it is the
// name.
func onDisk(name string) string {
	if n := object.Parse(name); IsObject(name) && n.Scheme == "file" {
		return n.Bucket + n.Key
	}
	return name
}

// below returns the name of a file as seen from the directory, or from the prefix of its name.
func below(dir, name string) string {
	if IsObject(name) {
		return strings.TrimPrefix(object.Path(name), object.Path(dir))
	}
	return strings.TrimPrefix(name, filepath.Clean(dir)+string(filepath.Separator))
}
