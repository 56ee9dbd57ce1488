//go:build linux || darwin

package ingest

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

// More inputs than 16 bits can number are read, all of one time, with few descriptors.
func TestReaderOfVeryManyFiles(t *testing.T) {
	n := 70_000
	if testing.Short() {
		n = 3_000
	}
	dir := t.TempDir()
	names := make([]string, n)
	for i := range names {
		if i%1000 == 0 {
			check(t, os.Mkdir(fmt.Sprint(dir, "/", i/1000), 0o700))
		}
		names[i] = fmt.Sprintf("%s/%d/%05d.log", dir, i/1000, i)
		text := combined(0, "a", "/") + combined(i+1, "b", "/")
		check(t, os.WriteFile(names[i], []byte(text), 0o600))
	}
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	few := limit
	few.Cur = 100
	check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	got := read(t, readingOptions(t), names...)
	if len(got.rows) != 2*n || got.stats.Lines != int64(2*n) || len(got.stats.Inputs) != n || got.stats.Late != 0 {
		t.Errorf("%d rows of %d lines, %d inputs, %d late", len(got.rows), got.stats.Lines, len(got.stats.Inputs), got.stats.Late)
	}
	for _, in := range got.stats.Inputs {
		if in.Problem != "" || in.Lines != 2 {
			t.Fatalf("%s: %d lines, %s", in.Name, in.Lines, in.Problem)
		}
	}
}
