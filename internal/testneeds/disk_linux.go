package testneeds

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// SmallDisk returns a folder with room for so many kB, until the test ends. Only root may have one, and not in every
// container.
func SmallDisk(t testing.TB, kB int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dk", kB))
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("%s: %v", noMount, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}
