package cache

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newFile makes a file in a folder that only its owner may read. It has no name where the file system can do that, so
// that nothing is left when the process is killed.
func newFile(dir string) (f *os.File, name string, err error) {
	if f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600); err == nil {
		return f, "", nil
	}
	return namedFile(dir)
}

// giveName gives a name to a file of newFile that has none.
func giveName(f *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

// openFile opens a file, and does not wait for what may be in its place.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}
