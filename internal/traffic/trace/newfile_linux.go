package trace

import (
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
