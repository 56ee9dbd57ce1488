package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/logfile/object"
	"shadow/internal/logfile/object/objecttest"
)

// useStores gives a test stores that know nothing yet.
func useStores(t *testing.T) *objecttest.Server {
	t.Helper()
	before := objects
	objects = object.NewStore()
	objects.Wait = 1
	t.Cleanup(func() { objects = before })
	return objecttest.New(t)
}

func TestObjectsAreReadAsFilesAre(t *testing.T) {
	server := useStores(t)
	for _, size := range []int{0, 100, 300 << 10, 21 << 20} {
		content := logLike(t, size)
		for compression, compress := range compressors {
			if size > 1<<20 && compression != "" && compression != "gzip" {
				continue
			}
			stored := compress(t, content)
			server.Put(t, "a/access.log", stored)
			objects = object.NewStore()
			file, input := openInput(t, writeFile(t, "access.log", stored), nil), openInput(t, "s3://logs/a/access.log", nil)
			if file.Size() != input.Size() || file.Compression() != input.Compression() || file.id != input.id {
				t.Errorf("%s of %d bytes: is %v, %s; want %v, %s", compression, size, input.id, input.Compression(), file.id, file.Compression())
			}
			want, _ := file.Peek()
			if got, err := input.Peek(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of %d bytes: Peek returns %d bytes, %v; want %d", compression, size, len(got), err, len(want))
			}
			if got, want := readAll(t, input), readAll(t, file); got != want {
				t.Errorf("%s of %d bytes: has %d bytes, want %d", compression, size, len(got), len(want))
			}
			if file.Problem() != input.Problem() || input.Consumed() != int64(len(stored)) {
				t.Errorf("%s of %d bytes: problem %q, consumed %d of %d", compression, size, input.Problem(), input.Consumed(), len(stored))
			}
			if err := input.Next(new(Block)); err != io.EOF {
				t.Error(err)
			}
		}
	}
}

// A store that does not hand out what it has is an error, in whatever way the object is compressed.
func TestObjectsThatBreakAreErrors(t *testing.T) {
	server := useStores(t)
	content := randomLines(12 << 20) // which does not shrink much
	for compression, compress := range compressors {
		stored := compress(t, content)
		server.Put(t, "access.log", stored)
		for name, from := range map[string]int64{"beginning": 256 << 10, "middle": 256<<10 + 4<<20} {
			objects = object.NewStore()
			objects.Wait = 1
			if int64(len(stored)) <= from {
				t.Fatalf("%s has only %d bytes", compression, len(stored))
			}
			in := openInput(t, "s3://logs/access.log", nil)
			server.Fail(func(r objecttest.Request) error {
				if r.What != objecttest.Read || r.Offset < from {
					return nil
				}
				return objecttest.ErrBusy
			})
			var b Block
			var err error
			for err == nil {
				err = in.Next(&b)
			}
			server.Fail(nil)
			var failed *object.Error
			if !errors.As(err, &failed) || failed.Name != "s3://logs/access.log" || failed.Offset != from {
				t.Errorf("%s, %s: %v", compression, name, err)
			}
		}
	}
}

// randomLines returns lines that compress to more than half of their size.
func randomLines(n int) []byte {
	text := make([]byte, 0, n+20)
	for x := uint64(1); len(text) < n; {
		x = x*6364136223846793005 + 1442695040888963407
		text = append(strconv.AppendUint(text, x, 36), '\n')
	}
	return text
}

// Copies among objects are found as among files.
func TestCopiesOfObjects(t *testing.T) {
	server := useStores(t)
	dir := t.TempDir()
	text := manyDifferentLines(600_000)
	gz := compressors["gzip"](t, text)
	var names, urls []string
	for _, f := range []struct {
		name    string
		content []byte
	}{
		{"a/access.log", text},
		{"b/access.log", text},
		{"b/access.log.gz", gz},
		{"c/access.log", text[:len(text)/2]},
		{"d/access.log", text[:900]},
		{"e/access.log", append(bytes.Clone(text[:len(text)-3]), "x\n"...)},
	} {
		path := filepath.Join(dir, f.name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.content, 0o644)); err != nil {
			t.Fatal(err)
		}
		server.Put(t, f.name, f.content)
		names, urls = append(names, path), append(urls, "s3://logs/"+f.name)
	}
	want, err := FindCopies(t.Context(), names)
	if err != nil || len(want.Found) < 4 {
		t.Fatalf("%+v, %v", want, err)
	}
	got, err := FindCopies(t.Context(), urls)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Found {
		c := &got.Found[i]
		c.Name, c.Of = filepath.Join(dir, strings.TrimPrefix(c.Name, "s3://logs/")), filepath.Join(dir, strings.TrimPrefix(c.Of, "s3://logs/"))
	}
	if !slices.Equal(got.Found, want.Found) {
		t.Errorf("%+v, want %+v", got.Found, want.Found)
	}
	objects = object.NewStore()
	objects.Wait = 1
	server.Fail(func(r objecttest.Request) error { // what cannot be read to its end is no copy
		if strings.HasPrefix(r.Key, "c/") && r.Offset == 4<<20 {
			return errors.New("access denied")
		}
		return nil
	})
	got, err = FindCopies(t.Context(), []string{urls[0], urls[3]})
	if err != nil || len(got.Found) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func manyDifferentLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%012d a line\n", i)
	}
	return b.Bytes()
}

// A moment is found in an object as in a file, large or small, read block by block or ahead.
func TestMomentsInObjects(t *testing.T) {
	server := useStores(t)
	for _, n := range []int{10, 20_000, 600_000} {
		text := manyDifferentLines(n)
		server.Put(t, "access.log", text)
		for _, lean := range []bool{false, true} {
			objects = object.NewStore()
			file, in := openInput(t, writeFile(t, "access.log", text), nil), openInput(t, "s3://logs/access.log", nil)
			for _, in := range []*Input{file, in} {
				if lean {
					in.HoldNothing()
				}
				err := in.SkipTo(func(line []byte) (older, known bool) {
					i, err := strconv.Atoi(string(line[:12]))
					return i < n*2/3, err == nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if file.Consumed() != in.Consumed() || n > 1000 && file.Consumed() == 0 {
				t.Errorf("%d lines: begins at %d, want %d", n, in.Consumed(), file.Consumed())
			}
			if got, want := restOf(t, in), restOf(t, file); got != want {
				t.Errorf("%d lines: has %d bytes, want %d", n, len(got), len(want))
			}
		}
	}
}

func restOf(t *testing.T, in *Input) string {
	t.Helper()
	var all []byte
	var b Block
	err := in.Next(&b)
	for ; err == nil; err = in.Next(&b) {
		all = append(all, b.Data...)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return string(all)
}

// How often a store is asked is what people pay for.
func TestRequestsOfObjects(t *testing.T) {
	server := useStores(t)
	server.Put(t, "other.log", []byte("other\n"))
	for name, c := range map[string]struct {
		size, want int
		compress   string
	}{
		"small": {100 << 10, 2, ""}, "large": {9 << 20, 1 + 2 + 3, ""}, "small gzip": {100 << 10, 3, "gzip"},
	} {
		content := compressors[c.compress](t, randomLines(c.size))
		server.Put(t, "access.log", content)
		objects = object.NewStore()
		if _, err := Expand([]string{"s3://logs/"}); err != nil {
			t.Fatal(err)
		}
		server.Asked()
		if _, err := FindCopies(t.Context(), []string{"s3://logs/access.log", "s3://logs/other.log"}); err != nil {
			t.Fatal(err)
		}
		looks := len(server.Asked()) - 1 // at the other one
		in := openInput(t, "s3://logs/access.log", nil)
		if _, err := in.Peek(); err != nil {
			t.Fatal(err)
		}
		restOf(t, in)
		asked := server.Asked()
		if looks+len(asked) != c.want {
			t.Errorf("%s: %d and %d requests, want %d: %v", name, looks, len(asked), c.want, asked)
		}
	}
}
