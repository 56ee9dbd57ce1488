package logfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What happens to a log while it is being replayed, most of it done by logrotate.

func TestInputEndsWhereTheFileEndedWhenItWasOpened(t *testing.T) {
	lines := manyLines(20_000)
	path := writeFile(t, "access.log", lines)
	in := openInput(t, path, nil)
	appendTo(t, path, "one more line\n")
	if readAll(t, in) != string(lines) || in.Problem() != "" {
		t.Errorf("read something else; problem %q", in.Problem())
	}
	if in.Consumed() != in.Size() || in.Size() != int64(len(lines)) {
		t.Errorf("consumed %d of %d", in.Consumed(), in.Size())
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestInputIsReadOnWhenItIsDeleted(t *testing.T) {
	lines := logLike(t, 5*blockSize)
	for compression, compress := range compressors {
		path := writeFile(t, "access.log", compress(t, lines))
		in := openInput(t, path, nil)
		var b Block
		if err := in.Next(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		got := string(b.Data)
		for in.Next(&b) == nil {
			got += string(b.Data)
		}
		if got != string(lines) || in.Problem() != "" {
			t.Errorf("%q: read something else; problem %q", compression, in.Problem())
		}
	}
}

func TestInputIsFoundAgainWhenItWasRotated(t *testing.T) {
	lines := manyLines(100)
	for compression, compress := range compressors {
		path := writeFile(t, "access.log", compress(t, lines))
		in := openInput(t, path, nil)
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a new day\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if head, err := in.Peek(); err != nil || string(head) != string(lines) {
			t.Errorf("%q: Peek gives %d bytes, %v", compression, len(head), err)
		}
		if readAll(t, in) != string(lines) || in.Problem() != "" {
			t.Errorf("%q: read something else; problem %q", compression, in.Problem())
		}
	}
}

func TestInputThatIsGoneSaysSo(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return replace(path, "another file\n") },
		"moved": func(path string) error {
			return os.Rename(path, filepath.Join(filepath.Dir(filepath.Dir(path)), "moved"))
		},
	} {
		for compression, compress := range compressors {
			path := writeFile(t, "access.log", compress(t, manyLines(100)))
			in := openInput(t, path, nil)
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if err := in.SkipTo(olderThan(5)); err != nil {
				t.Errorf("%s, %q: SkipTo: %v", name, compression, err)
			}
			if got := readAll(t, in); got != "" || in.Problem() != errGone.Error() {
				t.Errorf("%s, %q: read %d bytes; problem %q", name, compression, len(got), in.Problem())
			}
		}
	}
}

// replace puts a new file in the place of another, as editors do.
func replace(path, content string) error {
	if err := os.WriteFile(path+".new", []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// logrotate's copytruncate empties the file under our hands, and the server goes on writing to it.
func TestInputThatIsTruncatedSaysSo(t *testing.T) {
	lines := logLike(t, 6*blockSize)
	other := bytes.ToUpper(logLike(t, 7*blockSize))
	for compression, compress := range compressors {
		stored, others := compress(t, lines), compress(t, other)
		for name, change := range map[string]func(f *os.File) error{
			"to nothing":                         func(f *os.File) error { return f.Truncate(0) },
			"to less than was read":              func(f *os.File) error { return f.Truncate(1000) },
			"to more than was read":              func(f *os.File) error { return f.Truncate(int64(len(stored)) - 10) },
			"and has grown to its size and more": func(f *os.File) error { return rewrite(f, 0, others) },
			"and has grown again from its middle": func(f *os.File) error {
				return rewrite(f, int64(len(stored)-len(stored)/8), others)
			},
		} {
			for when, read := range map[string]int{"before it is read": 0, "while it is read": 1} {
				t.Run(compression+"/"+name+"/"+when, func(t *testing.T) {
					path := writeFile(t, "access.log", stored)
					in := openInput(t, path, nil)
					var got []byte
					var b Block
					for range read {
						if err := in.Next(&b); err != nil {
							t.Fatal(err)
						}
						got = append(got, b.Data...)
					}
					f, err := os.OpenFile(path, os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					if err := change(f); err != nil {
						t.Fatal(err)
					}
					for in.Next(&b) == nil {
						got = append(got, b.Data...)
					}
					if in.Problem() == "" && !bytes.Equal(got, lines) {
						t.Errorf("read %d bytes of %d without a word", len(got), len(lines))
					}
				})
			}
		}
	}
}

// rewrite truncates a file and writes something else from there.
func rewrite(f *os.File, at int64, text []byte) error {
	if err := f.Truncate(at); err != nil {
		return err
	}
	_, err := f.WriteAt(text, at)
	return err
}

func TestOpenInputRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:                               "logfile: " + dir + ": is a directory, not a log",
		filepath.Join(dir, "gone", "log"): "file does not exist: there is no directory " + filepath.Join(dir, "gone"),
	} {
		if _, err := OpenInput(name, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want … %s", name, err, want)
		}
	}
}

func TestPipeThatBreaksSaysSo(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, "one\ntwo\n")
		w.CloseWithError(io.ErrClosedPipe)
	}()
	in := openInput(t, "-", r)
	if got := readAll(t, in); got != "one\ntwo\n" || !strings.HasPrefix(in.Problem(), "cannot be read: ") {
		t.Errorf("read %q; problem %q", got, in.Problem())
	}
}

// Between the look at a log and its opening it may be rotated or truncated: then where reading was to go on means nothing.
func TestInputThatIsAnotherFileByNow(t *testing.T) {
	first, second := logLike(t, 10_000), bytes.ToUpper(logLike(t, 20_000))
	for name, change := range map[string]func(path string) error{
		"rotated": func(path string) error { return replace(path, string(second)) },
		"truncated": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			return rewrite(f, 0, second)
		},
		"cut": func(path string) error { return os.Truncate(path, 5000) },
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "access.log", first)
			r, ok := SiblingAt(path)
			if !ok {
				t.Fatal("cannot be looked at")
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			in := openInput(t, path, nil)
			if err := in.Follow(Place{Offset: 9000}, true); err != nil {
				t.Fatal(err)
			}
			in.Expect(r.ID)
			if got := readAll(t, in); got != "" || in.Problem() != errReplaced.Error() {
				t.Errorf("read %d bytes; problem %q", len(got), in.Problem())
			}
		})
	}
}

// A log that is emptied between its opening and the first look at its content says so at once: a caller may never ask
// for more.
func TestInputThatIsEmptiedBeforeItIsPeekedSaysSo(t *testing.T) {
	for compression, compress := range compressors {
		path := writeFile(t, "access.log", compress(t, manyLines(100)))
		in := openInput(t, path, nil)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if head, err := in.Peek(); err != nil || len(head) > 0 || in.Problem() != errShrunk.Error() {
			t.Errorf("%q: Peek gives %d bytes, %v; problem %q", compression, len(head), err, in.Problem())
		}
	}
}
