//go:build !linux

package trace

import "os"

// newFile makes a file in a folder that only its owner may read.
func newFile(dir string) (f *os.File, name string, err error) { return namedFile(dir) }
