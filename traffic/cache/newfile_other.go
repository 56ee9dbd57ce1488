//go:build !linux

package cache

import (
	"errors"
	"os"
)

// newFile makes a file in a folder that only its owner may read.
func newFile(dir string) (f *os.File, name string, err error) { return namedFile(dir) }

// giveName is for files that have none: there are none here.
func giveName(*os.File, string) error { return errors.ErrUnsupported }

// openFile opens a file.
func openFile(path string) (*os.File, error) { return os.Open(path) }
