//go:build linux || darwin

package traffic

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Rotations of years are hundreds of files. A file is open only while its time is being read.
func TestReaderOfManyFiles(t *testing.T) {
	dir, n := t.TempDir(), 300
	var names []string
	for i := range n {
		text := combined(100*i, "a", "/") + combined(100*i+50, "b", "/") + combined(100*i+99, "c", "/")
		names = append(names, write(t, dir, fmt.Sprintf("access.log.%d", n-i), text))
	}
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	free, err := os.Open(dir) // the lowest descriptor that is free
	check(t, err)
	few := limit
	few.Cur = uint64(free.Fd()) + 30
	check(t, free.Close())
	check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	got := read(t, readingOptions(t), names...)
	if len(got.rows) != 3*n || !strings.HasPrefix(got.rows[3*n-1], fmt.Sprint(100*n-1)) {
		t.Errorf("%d rows", len(got.rows))
	}
	for _, in := range got.stats.Inputs {
		if in.Problem != "" || in.Lines != 3 {
			t.Errorf("%s: %d lines, %s", in.Name, in.Lines, in.Problem)
		}
	}
}
