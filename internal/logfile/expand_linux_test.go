package logfile

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody takes away what root may do, from the test's thread only, until the test ends.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Fatal(err)
		}
		runtime.UnlockOSThread()
	})
}

func TestFilesThatMayNotBeReadSayWhatToDo(t *testing.T) {
	inTree(t)
	for _, name := range []string{"logs/access.log.1", "logs/site", "bare"} {
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(name, 0o755) }) // for RemoveAll
	}
	asNobody(t)
	for arg, name := range map[string]string{
		"logs/access.log.1": "logs/access.log.1",
		"logs/access.*":     "logs/access.log.1",
		"logs":              "logs/access.log.1",
		"logs/site":         "logs/site",
		"logs/site/x.log":   "logs/site/x.log",
		"logs/site/*.log":   "logs/site/*.log",
		"bare":              "bare",
	} {
		got, err := Expand([]string{arg})
		want := "logfile: " + name + ": permission denied; run shadow as a user who may read it, or pipe the log in: sudo cat … | shadow replay -"
		if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s\ngot  %v, %q\nwant %s", arg, err, got.Names, want)
		}
	}
	if _, err := OpenInput("logs/access.log.1", nil); err == nil || !strings.Contains(err.Error(), "permission denied; run shadow as") {
		t.Errorf("OpenInput: %v", err)
	}
}
