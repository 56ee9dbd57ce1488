package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"

	"shadow/logfile"
)

// Shards in an object store have the names that they have in a folder. A block is written to a temporary file first, and
// becomes an object when all of its part have been.

// objectOutput is an Output.
type objectOutput struct {
	put func(below string, content io.ReaderAt, size int64) error
}

// InObjects is the Output of a place in an object store, such as s3://bucket/shards.
func InObjects(ctx context.Context, name string) (Output, error) {
	put, err := logfile.ObjectWriter(ctx, name)
	return objectOutput{put}, err
}

// Create makes a temporary file, which has no name where the system lets it be removed.
func (o objectOutput) Create(shard, shards int, part string) (Target, error) {
	f, err := os.CreateTemp("", ".shadow-shard-*.tmp")
	if err != nil {
		return nil, err
	}
	t := &objectTarget{File: f, to: o, below: FolderOf(shard, shards) + "/part-" + part + Ending}
	t.unlinked = os.Remove(f.Name()) == nil
	return t, nil
}

type objectTarget struct {
	*os.File
	to       objectOutput
	below    string
	unlinked bool
}

func (t *objectTarget) Commit() error {
	info, err := t.Stat()
	if err == nil {
		err = t.to.put(t.below, t.File, info.Size())
	}
	if closed := t.Abort(); err == nil {
		err = closed
	}
	return err
}

func (t *objectTarget) Abort() error {
	err := t.Close()
	if !t.unlinked {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

// findObjects returns the blocks of a shard or a set by its name; nil if it is neither. A prefix is that of a set if the
// first object below it is a block.
func findObjects(name string) (blocks []Block, err error) {
	one := isShardName(path.Base(logfile.ObjectPath(name)))
	folder := name
	if one {
		folder = logfile.ObjectFolder(name)
	} else if !strings.HasSuffix(logfile.ObjectPath(name), "/") {
		return nil, nil
	}
	var found []logfile.Object
	err = logfile.EachObject(folder, func(o logfile.Object) bool {
		shard, block := path.Split(o.Below(folder))
		is := strings.HasPrefix(block, "part-") && strings.HasSuffix(block, Ending) && (one && shard == "" || !one && isShardName(path.Clean(shard)))
		if is {
			found = append(found, o)
		}
		return is || one || found != nil
	})
	if err != nil {
		return nil, err
	}
	if one && found == nil {
		return nil, incomplete("%s has no part of the shard", name)
	}
	window := max(frameWindow, min(mostWindow, allWindows/max(1, len(found))))
	for _, o := range found {
		w := &objectWindow{of: o, size: window}
		blocks = append(blocks, Block{Name: o.Name(), Size: o.Size(), Open: func() (File, error) { return nopCloser{w}, nil }})
	}
	return blocks, nil
}

const (
	allWindows  = 64 << 20 // bytes of all windows together, as long as each has
	frameWindow = 64 << 10
	mostWindow  = 4 << 20
)

// An objectWindow reads a block, which is read from its beginning to its end, with few requests.
type objectWindow struct {
	of   logfile.Object
	size int

	mu   sync.Mutex
	at   int64
	data []byte
}

// ReadAt implements io.ReaderAt.
func (w *objectWindow) ReadAt(p []byte, at int64) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at < w.at || at+int64(len(p)) > w.at+int64(len(w.data)) {
		n := min(int64(max(w.size, len(p))), w.of.Size()-at)
		if n < int64(len(p)) {
			return 0, fmt.Errorf("%s: has no %d bytes at %d", w.of.Name(), len(p), at)
		}
		w.data = append(w.data[:0], make([]byte, n)...)
		if k, err := w.of.ReadAt(w.data, at); k < len(w.data) {
			w.data = w.data[:0]
			return 0, err
		}
		w.at = at
	}
	return copy(p, w.data[at-w.at:]), nil
}
