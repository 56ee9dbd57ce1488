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

	"shadow/scale/beam/rows"
)

// Results are files in a folder, or objects below a prefix, that all workers can write:
//
//	clients-00003-of-00016.parquet   what shard 3 found of clients
//	hits-00003-of-00016.parquet      which of them each policy refused
//	tallies.parquet                  what all shards add up to
//	run.parquet                      what was asked, and the names, sizes and checksums of the others
//
// The last one makes the results whole, and is written last. A worker that runs again writes the same bytes.

// RunFile is the name of the file that makes results whole, TalliesFile that of the sums.
const (
	RunFile     = "run.parquet"
	TalliesFile = "tallies.parquet"
)

// shardFile returns the name of what one shard found.
func shardFile(what string, shard, shards int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.parquet", what, shard, shards)
}

// isShardFile reports whether a name is one of these.
func isShardFile(name, what string) bool {
	var shard, shards int
	n, err := fmt.Sscanf(name, what+"-%d-of-%d.parquet", &shard, &shards)
	return err == nil && n == 2 && name == shardFile(what, shard, shards)
}

// A File is one of the results.
type File struct {
	Name string
	Size int64
	Sum  string // SHA-256
}

// join returns a name in a folder.
func join(folder, name string) string { return strings.TrimSuffix(folder, "/") + "/" + name }

// write writes rows as a file of the results. Where the file system can, the file gets its name when it is whole.
func write[T any](ctx context.Context, folder, name string, of []T) (f File, err error) {
	var text bytes.Buffer
	if err := rows.Append(&text, of); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(text.Bytes())
	f = File{Name: name, Size: int64(text.Len()), Sum: fmt.Sprintf("%x", sum)}
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
	_, err = w.Write(text.Bytes())
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
