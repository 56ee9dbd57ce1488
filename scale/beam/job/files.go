package job

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// Results are files in a folder, or objects below a prefix, that all workers can write:
//
//	found-00003-of-00016      what shard 3 was found to be: what a traffic.Carrier writes, compressed
//	requests-00003-of-00016   its requests, if they are kept: its blocks
//	run.json                  what was asked, and the names, sizes and checksums of the others
//
// The last one makes the results whole, and is written last. A worker that runs again writes the same bytes.

// RunFile is the name of the file that makes results whole.
const RunFile = "run.json"

// foundFile returns the name of what one shard was found to be.
func foundFile(shard, shards int) string { return fmt.Sprintf("found-%05d-of-%05d", shard, shards) }

// A File is one of the results.
type File struct {
	Name string
	Size int64
	Sum  string // SHA-256
}

// join returns a name in a folder.
func join(folder, name string) string { return strings.TrimSuffix(folder, "/") + "/" + name }

// write writes a file of the results. Where the file system can, the file gets its name when it is whole.
func write(ctx context.Context, folder, name string, text []byte) (f File, err error) {
	f = File{Name: name, Size: int64(len(text)), Sum: fmt.Sprintf("%x", sha256.Sum256(text))}
	fs, err := filesystem.New(ctx, folder)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, fs.Close()) }()
	to := join(folder, name)
	mover, moves := fs.(filesystem.Renamer)
	if moves = moves && !strings.Contains(folder, "://"); moves {
		to = join(folder, "."+name+".part")
	}
	w, err := fs.OpenWrite(ctx, to)
	if err != nil {
		return f, err
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err == nil && moves {
		err = mover.Rename(ctx, to, join(folder, name))
	}
	return f, err
}

// mostFile is the most bytes that a file of results may have.
const mostFile = 4 << 30

// Read returns the bytes of a file of the results, which must be as it was written.
func Read(ctx context.Context, folder string, f File) ([]byte, error) {
	if f.Name != path.Base(f.Name) || f.Size < 0 || f.Size > mostFile {
		return nil, fmt.Errorf("%s names a file %q of %d bytes, which is not one of its folder", RunFile, f.Name, f.Size)
	}
	data, err := readAll(ctx, join(folder, f.Name), f.Size)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); int64(len(data)) != f.Size || fmt.Sprintf("%x", sum) != f.Sum {
		return nil, fmt.Errorf("%s: is not what the pipeline has written: run it again", join(folder, f.Name))
	}
	return data, nil
}

// readAll reads a file of so many bytes, and one more if there are more.
func readAll(ctx context.Context, name string, size int64) (data []byte, err error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fs.Close()) }()
	r, err := fs.OpenRead(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(io.LimitReader(r, size+1))
	return text.Bytes(), err
}
