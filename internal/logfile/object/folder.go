package object

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
)

// A folder is a bucket whose objects are the files below it.
type folder string

// openFolder opens the folder of a name.
func openFolder(_ context.Context, n Name) (Bucket, error) {
	if info, err := os.Stat(n.Bucket); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("file://%s: there is no such folder", n.Bucket)
	}
	if n.Options != "" {
		return nil, fmt.Errorf("%s: unknown query parameter: files have no options", n)
	}
	return folder(n.Bucket), nil
}

// file returns the file of a key.
func (f folder) file(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

// Page implements Bucket: all files are one page. A folder that cannot be read is an error.
func (f folder) Page(ctx context.Context, prefix, delimiter string, _ []byte) (all []Listed, _ []byte, err error) {
	below, _ := path.Split(prefix)
	err = filepath.WalkDir(f.file(below), func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(string(f), name)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rest)
		if e.IsDir() {
			behind, inside := strings.CutPrefix(key+"/", prefix)
			if rest == "." || strings.HasPrefix(prefix, key+"/") || inside && (delimiter == "" || !strings.Contains(behind, delimiter)) {
				return nil
			}
			return fs.SkipDir
		}
		if !strings.HasPrefix(key, prefix) {
			return nil
		}
		info, err := os.Stat(name) // of what a link leads to
		if err == nil && info.Mode().IsRegular() {
			all = append(all, listedFile(key, info))
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Listed) int { return strings.Compare(a.Key, b.Key) })
	return all, nil, err
}

func listedFile(key string, info fs.FileInfo) Listed {
	version := fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())
	return Listed{Key: key, Size: info.Size(), Modified: info.ModTime(), Version: version}
}

// Stat implements Bucket.
func (f folder) Stat(_ context.Context, key string) (Listed, error) {
	info, err := os.Stat(f.file(key))
	switch {
	case err != nil:
		return Listed{}, err
	case !info.Mode().IsRegular():
		return Listed{}, fs.ErrNotExist
	}
	return listedFile(key, info), nil
}

// Open implements Bucket.
func (f folder) Open(_ context.Context, key, _ string, offset, n int64) (io.ReadCloser, Listed, error) {
	file, err := os.Open(f.file(key))
	if err != nil {
		return nil, Listed{}, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, Listed{}, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, offset, n), file}, listedFile(key, info), nil
}

// Explain implements Bucket: what fails once fails again.
func (folder) Explain(err error) (text error, again bool) {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing, false
	}
	return err, false
}
