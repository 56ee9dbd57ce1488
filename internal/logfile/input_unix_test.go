//go:build unix

package logfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func makeFIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A named pipe is what bash's <(…) passes.
func TestInputReadsNamedPipes(t *testing.T) {
	lines := logLike(t, 3*peekSize)
	for compression, compress := range compressors {
		path := makeFIFO(t)
		if got, err := Expand([]string{path, path}); err != nil || len(got.Names) != 1 || got.Names[0] != path {
			t.Errorf("Expand gives %q, %v", got.Names, err)
		}
		go os.WriteFile(path, compress(t, lines), 0)
		in := openInput(t, path, nil)
		head, err := in.Peek()
		if err != nil || len(head) == 0 {
			t.Errorf("%q: Peek gives %d bytes, %v", compression, len(head), err)
		}
		if err := in.SkipTo(olderThan(5)); err != nil {
			t.Errorf("%q: SkipTo: %v", compression, err)
		}
		if readAll(t, in) != string(lines) || in.Problem() != "" || in.Compression() != compression || in.Size() != -1 {
			t.Errorf("%q: read something else; problem %q, compression %q, size %d", compression, in.Problem(), in.Compression(), in.Size())
		}
	}
}

// Close frees what reading holds, wherever it stands.
func TestCloseLeavesNothingBehind(t *testing.T) {
	lines := logLike(t, 5*blockSize)
	goroutines, descriptors := runtime.NumGoroutine(), countDescriptors(t)
	for _, compress := range compressors {
		path := writeFile(t, "access.log", compress(t, lines))
		for blocks := range 4 {
			in := openInput(t, path, nil)
			var b Block
			for range blocks {
				if err := in.Next(&b); err != nil {
					t.Fatal(err)
				}
			}
			in.Close()
			if err := in.Close(); err != nil {
				t.Errorf("closed twice: %v", err)
			}
			if err := in.Next(&b); err != fs.ErrClosed {
				t.Errorf("Next after Close: %v", err)
			}
		}
	}
	settles(t, goroutines, descriptors)
}

// Reading to the end frees the descriptor without Close, and inputs that are only open or peeked at hold none.
func TestOnlyReadingHoldsDescriptors(t *testing.T) {
	goroutines, descriptors := runtime.NumGoroutine(), countDescriptors(t)
	for i := range 50 {
		path := writeFile(t, "access.log", manyLines(1000))
		if i%2 == 0 {
			path = writeFile(t, "access.log.gz", gzipped(t, manyLines(1000)))
		}
		in, err := OpenInput(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close() // so that no finalizer closes the file before it is counted
		if _, err := in.Peek(); err != nil {
			t.Fatal(err)
		}
		if n := countDescriptors(t); n != descriptors {
			t.Fatalf("%d descriptors, want %d", n, descriptors)
		}
		readAll(t, in)
	}
	settles(t, goroutines, descriptors)
}

// A pipe without a writer keeps Next waiting, but not longer than until Close.
func TestCloseWakesNext(t *testing.T) {
	goroutines, descriptors := runtime.NumGoroutine(), countDescriptors(t)
	named := makeFIFO(t)
	writer, err := os.OpenFile(named, os.O_RDWR, 0) // so that opening it to read does not wait
	if err != nil {
		t.Fatal(err)
	}
	stdin, stdinWriter := io.Pipe()
	for _, name := range []string{named, "-"} {
		in := openInput(t, name, stdin)
		failed := make(chan error)
		go func() { failed <- in.Next(new(Block)) }()
		time.Sleep(10 * time.Millisecond)
		in.Close()
		select {
		case err := <-failed:
			if err != fs.ErrClosed {
				t.Errorf("%s: Next returns %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: Next still waits", name)
		}
	}
	stdinWriter.Close() // the only thing that ends a read of standard input
	writer.Close()
	settles(t, goroutines, descriptors)
}

// A pipe that is not open for writing yet is waited for, until Close.
func TestCloseWakesOpeningOfAPipe(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	in := openInput(t, makeFIFO(t), nil)
	failed := make(chan error)
	go func() { failed <- in.Next(new(Block)) }()
	time.Sleep(20 * time.Millisecond)
	in.Close()
	if err := <-failed; err != fs.ErrClosed {
		t.Errorf("Next returns %v", err)
	}
	settles(t, goroutines, countDescriptors(t))
}

// settles waits until there are no more goroutines and descriptors than before.
func settles(t *testing.T, goroutines, descriptors int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if runtime.NumGoroutine() <= goroutines && countDescriptors(t) <= descriptors {
			return
		}
	}
	t.Errorf("%d goroutines, %d descriptors; there were %d, %d", runtime.NumGoroutine(), countDescriptors(t), goroutines, descriptors)
}

// countDescriptors returns how many files this process has open.
func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Inputs that hold nothing can be read block by block in turn, with fewer descriptors than there are inputs.
func TestInputsThatHoldNothing(t *testing.T) {
	lines := manyLines(60_000) // more than a block
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var all []*Input
	for range 300 {
		in := openInput(t, writeFile(t, "access.log", lines), nil)
		in.HoldNothing()
		all = append(all, in)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	few := limit
	few.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	got, blocks := make([]int, len(all)), 0
	var b Block
	for more := true; more; {
		more = false
		for i, in := range all {
			if in.Next(&b) == nil {
				got[i] += len(b.Data)
				more = true
				blocks++
			}
		}
	}
	for i, in := range all {
		if got[i] != len(lines) || in.Problem() != "" {
			t.Fatalf("read %d bytes of %d; problem %q", got[i], len(lines), in.Problem())
		}
	}
	if blocks < 2*len(all) {
		t.Errorf("only %d blocks", blocks)
	}
}
