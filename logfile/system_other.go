//go:build !unix

package logfile

import (
	"io/fs"
	"path/filepath"
)

// fileKey is the same for all names of a file, apart from hard links.
func fileKey(name string, _ fs.FileInfo) any {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return name
}

// InodeOf is 0 where there are no inodes: files are told apart by their beginnings alone.
func InodeOf(fs.FileInfo) (device, inode uint64) { return 0, 0 }
