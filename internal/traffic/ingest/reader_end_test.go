package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// settled waits until no more goroutines are left than there were.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// soon fails if f takes longer than a caller would wait.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s takes too long", what)
	}
}

// Whenever reading is cancelled, Next says so soon, and nothing stays behind.
func TestReaderIsCancelled(t *testing.T) {
	dir, rng := t.TempDir(), testneeds.Rand(t, 17, 18)
	text := strings.Join(busy(rng, 15_000, 20), "")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(text))
	check(t, w.Close())
	names := []string{write(t, dir, "a.log", text), write(t, dir, "b.log", text), write(t, dir, "c.log.gz", packed.String())}
	before := runtime.NumGoroutine()
	for i := range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		o := readingOptions(t)
		o.Batch, o.Lateness = 500, 0
		r, err := NewReader(ctx, names, nil, o)
		check(t, err)
		timer := time.AfterFunc(time.Duration(rng.IntN(30_000))*time.Microsecond, cancel)
		soon(t, "cancelling", func() {
			for err = nil; err == nil; {
				_, err = r.Next()
			}
			check(t, r.Close())
		})
		if ended := err == io.EOF; !ended && !errors.Is(err, context.Canceled) {
			t.Errorf("round %d: %v", i, err)
		}
		timer.Stop()
		cancel()
	}
	settled(t, before)
}

// Close ends reading wherever it stands, and may come twice.
func TestReaderIsClosedEarly(t *testing.T) {
	name := write(t, t.TempDir(), "a.log", strings.Join(busy(testneeds.Rand(t, 19, 20), 15_000, 20), ""))
	before := runtime.NumGoroutine()
	for batches := range 3 {
		o := readingOptions(t)
		o.Batch, o.Lateness = 500, 0
		r, err := NewReader(context.Background(), []string{name}, nil, o)
		check(t, err)
		for range batches {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		soon(t, "Close", func() { check(t, r.Close()) })
		check(t, r.Close())
	}
	settled(t, before)
}

// A pipe that is silent neither keeps Close waiting nor Next, once it is cancelled.
func TestReaderLeavesSilentPipes(t *testing.T) {
	from, to := io.Pipe()
	before := runtime.NumGoroutine()
	go io.WriteString(to, strings.Join(busy(testneeds.Rand(t, 21, 22), 6_000, 0), "")) // more than a block
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewReader(ctx, []string{"-"}, from, readingOptions(t))
	check(t, err)
	time.AfterFunc(20*time.Millisecond, cancel)
	soon(t, "Next", func() {
		if _, err := r.Next(); !errors.Is(err, context.Canceled) {
			t.Errorf("Next: %v", err)
		}
	})
	soon(t, "Close", func() { check(t, r.Close()) })
	to.Close()
	settled(t, before)
}

// What goes wrong with a file is said with its name: before reading as an error, while reading as a problem, after which
// the other inputs go on.
func TestReaderNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.log", combined(1, "c", "/")+combined(2, "c", "/"))
	for what, name := range map[string]string{
		"is not there":       filepath.Join(dir, "missing.log"),
		"is a directory":     dir,
		"is no log":          write(t, dir, "essay.txt", strings.Repeat("Once upon a time there was a log.\n", 100)),
		"cannot be unpacked": write(t, dir, "bad.log.gz", "\x1f\x8b\x08\x00nothing of the kind"),
	} {
		r, err := NewReader(context.Background(), []string{good, name}, nil, readingOptions(t))
		switch {
		case err != nil && !strings.Contains(err.Error(), name):
			t.Errorf("%s: %v", what, err)
		case err == nil:
			for err == nil {
				_, err = r.Next()
			}
			check(t, r.Close())
			problem := ""
			for _, in := range r.Stats().Inputs {
				if in.Name == name {
					problem = in.Problem
				}
			}
			if err != io.EOF || problem == "" {
				t.Errorf("%s: %v, problem %q", what, err, problem)
			}
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, strings.Join(busy(testneeds.Rand(t, 23, 24), 10_000, 0), ""))
	check(t, w.Close())
	cut := write(t, dir, "cut.log.gz", packed.String()[:packed.Len()/2])
	got := read(t, readingOptions(t), good, cut)
	if n := len(got.rows); n < 2000 || n > 9000 {
		t.Errorf("%d rows", n)
	}
	for _, in := range got.stats.Inputs {
		if (in.Name == cut) != strings.Contains(in.Problem, "truncated gzip") {
			t.Errorf("%s: problem %q", in.Name, in.Problem)
		}
	}
}

// A file that a directory stands for is passed over when it is no log; for one that was named that is an error.
func TestReaderPassesOver(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.log", combined(1, "c", "/"))
	essay := write(t, dir, "essay.txt", strings.Repeat("Once upon a time there was a log.\n", 100))
	o := readingOptions(t)
	o.Guessed = map[string]string{good: dir, essay: dir}
	got := read(t, o, good, essay)
	if len(got.rows) != 1 || len(got.stats.Passed) != 1 || !strings.Contains(got.stats.Passed[0].Error(), essay) {
		t.Errorf("%d rows, passed over: %v", len(got.rows), got.stats.Passed)
	}
	_, err := NewReader(context.Background(), []string{essay}, nil, o)
	if want := dir + ": the one file that could be a log by its name is none that can be read: " + essay; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("nothing but an essay: %v", err)
	}
	other := write(t, dir, "other.txt", "It was a dark and stormy night.\n")
	o.Guessed[other] = dir
	_, err = NewReader(context.Background(), []string{essay, other}, nil, o)
	if want := dir + ": none of the 2 files that could be logs by their names can be read; the first is " + essay; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("nothing but essays: %v", err)
	}
}

// Bytes that have been read, as they lie on disk, never step back and add up to the size.
func TestReaderProgress(t *testing.T) {
	dir := t.TempDir()
	text := strings.Join(busy(testneeds.Rand(t, 25, 26), 15_000, 0), "")
	names := []string{write(t, dir, "a.log", text), write(t, dir, "b.log", text)}
	o := readingOptions(t)
	o.Batch, o.Lateness = 1000, 0
	r, err := NewReader(context.Background(), names, nil, o)
	check(t, err)
	defer r.Close()
	var last int64
	for err == nil {
		read, size := r.Progress()
		if size != int64(2*len(text)) || read < last || read > size {
			t.Fatalf("%d of %d bytes, %d before", read, size, last)
		}
		last = read
		_, err = r.Next()
	}
	if read, size := r.Progress(); read != size || err != io.EOF {
		t.Errorf("%d of %d bytes at the end, %v", read, size, err)
	}
	piped, err := NewReader(context.Background(), []string{"-"}, strings.NewReader(text), o)
	check(t, err)
	if _, size := piped.Progress(); size != 0 {
		t.Errorf("a pipe has %d bytes", size)
	}
	check(t, piped.Close())
	check(t, os.Remove(names[0]))
}
