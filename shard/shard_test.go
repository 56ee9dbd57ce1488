package shard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/parse/detect"
	"shadow/request"
	"shadow/testneeds"
	"shadow/traffic"
	"shadow/traffic/ingest"
	"shadow/traffic/match"
)

func reading(t *testing.T) ingest.Options {
	t.Helper()
	o := ingest.Options{Tables: traffic.NewTables(), Format: detect.Choice{Format: "combined"}, Lateness: limit.Minute}
	var err error
	if o.Actions, err = match.NewActions(nil, o.Tables.Actions); err != nil {
		t.Fatal(err)
	}
	if o.Clients, err = match.ParseClientRule("addr", "", nil); err != nil {
		t.Fatal(err)
	}
	return o
}

func writeLog(t *testing.T, name string, lines int) string {
	t.Helper()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "192.0.2.%d - - [02/Mar/2026:10:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 %d \"-\" \"curl/8.%d\"\n", i%97, i/600%60, i/10%60, i%7, i, i%3)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pack packs a part of a log into a folder.
func pack(t *testing.T, dir, log string, part Part, change func(*Options)) error {
	t.Helper()
	o := Options{Read: reading(t), Names: []string{log}, Shards: 4, Part: part, Note: []byte(`{}`)}
	if change != nil {
		change(&o)
	}
	_, err := Pack(t.Context(), o, Dir(dir))
	return err
}

func openAll(t *testing.T, names ...string) (*Set, error) {
	t.Helper()
	blocks, err := Find(names)
	if err != nil {
		return nil, err
	}
	return Open(blocks)
}

// all reads all requests, and counts them.
func all(t *testing.T, s *Set) (n int, err error) {
	t.Helper()
	o := reading(t)
	source, err := s.Source(&o)
	if err != nil {
		return 0, err
	}
	for {
		b, err := source.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += b.Len()
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Files are for their owner only, as they hold addresses; nothing else is left in the folders.
func TestFilesAreTheOwners(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	log := writeLog(t, "a.log", 1000)
	must(t, pack(t, dir, log, Part{}, nil), pack(t, dir, log, Part{}, nil))
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 || !e.IsDir() && filepath.Base(path) != "part-all.shard" {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
	must(t, err)
	s, err := openAll(t, dir)
	must(t, err)
	if n, err := all(t, s); n != 1000 || err != nil {
		t.Errorf("%d requests, %v", n, err)
	}
}

// Whatever byte of a block is damaged or missing, it is refused: when it is opened, or when its requests are read.
func TestDamagedBlocksAreRefused(t *testing.T) {
	log, rng := writeLog(t, "a.log", 3000), testneeds.Rand(t, 20, 1)
	blocks := Memory{}
	_, err := Pack(t.Context(), Options{Read: reading(t), Names: []string{log}, Shards: 2, Note: []byte(`{}`)}, blocks)
	must(t, err)
	try := func(data []byte) error {
		s, err := Open([]Block{BytesBlock("0", data), BytesBlock("1", blocks[1])})
		if err == nil {
			_, err = all(t, s)
		}
		return err
	}
	must(t, try(blocks[0]))
	for range 300 {
		data := append([]byte(nil), blocks[0]...)
		what := "flipped"
		if i := rng.IntN(len(data)); rng.IntN(4) == 0 {
			data, what = data[:i], "cut"
		} else {
			data[i] ^= 1 << rng.IntN(8)
		}
		var damaged *DamagedError
		if err := try(data); !errors.As(err, &damaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// Blocks that are no set are refused, with the reason.
func TestRefusesWhatIsNoSet(t *testing.T) {
	log, other := writeLog(t, "a.log", 1000), writeLog(t, "b.log", 1000)
	for _, c := range []struct {
		name, want string
		make       func(dir string) error
	}{
		{"a part is missing", "lacks a part", func(dir string) error { return pack(t, dir, log, Part{Number: 1, Of: 2}, nil) }},
		{"parts overlap", "parts overlap", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{}, nil), pack(t, dir, log, Part{Number: 1, Of: 2}, nil))
		}},
		{"other logs", "different sets", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{Number: 1, Of: 2}, nil), pack(t, dir, other, Part{Number: 2, Of: 2}, nil))
		}},
		{"another key", "different sets", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{Number: 1, Of: 2}, nil),
				pack(t, dir, log, Part{Number: 2, Of: 2}, func(o *Options) { o.By = request.ByClient24 }))
		}},
		{"another number of shards", "different sets", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{Number: 1, Of: 2}, nil),
				pack(t, dir, log, Part{Number: 2, Of: 2}, func(o *Options) { o.Shards = 5 }))
		}},
		{"a shard without files", "has no part", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{}, nil), os.Remove(filepath.Join(dir, "002-of-4", "part-all.shard")))
		}},
		{"a part of one shard is missing", "shard 003-of-4 lacks a part", func(dir string) error {
			return errors.Join(pack(t, dir, log, Part{Number: 1, Of: 2}, nil), pack(t, dir, log, Part{Number: 2, Of: 2}, nil),
				os.Remove(filepath.Join(dir, "003-of-4", "part-2-of-2.shard")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, c.make(dir))
			if _, err := openAll(t, dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A log that changes between its parts is noticed.
func TestRefusesALogThatHasChanged(t *testing.T) {
	log, dir := writeLog(t, "a.log", 1000), t.TempDir()
	must(t, pack(t, dir, log, Part{Number: 1, Of: 2}, nil))
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("more\n")
	must(t, err, f.Close(), pack(t, dir, log, Part{Number: 2, Of: 2}, nil))
	if _, err := openAll(t, dir); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Error(err)
	}
}

func TestRefines(t *testing.T) {
	for _, c := range []struct {
		key, by string
		want    bool
	}{
		{"client", "client", true},
		{"client+action", "client", true},
		{"client+action", "action", true},
		{"client", "client/24", true},
		{"client/24", "client", false},
		{"client/28", "client/24", true},
		{"client/24", "client/28", false},
		{"client/24", "client/64", false},
		{"client/24/64", "client/24/48", true},
		{"client/24/48", "client/24/64", false},
		{"user", "user", true},
		{"user", "client", false},
		{"client", "user", false},
		{"client+user", "client", true},
		{"site", "client", false},
		{"action", "client", false},
		{"client", "asn", true},
		{"client+action", "client+action", true},
		{"client", "client+action", false},
	} {
		key, err := request.ParseKey(c.key)
		must(t, err)
		by, err := request.ParseKey(c.by)
		must(t, err)
		if got := Refines(key, by); got != c.want {
			t.Errorf("%s by %s: %v", c.key, c.by, got)
		}
	}
}

func TestParseParts(t *testing.T) {
	size := func(text string) (n int64, err error) { _, err = fmt.Sscan(text, &n); return n, err }
	for text, want := range map[string]string{"0-100": "0-to-100", "100-": "100-to-end", "-7": "0-to-7", "5-5": "", "9-3": "", "7": "", "x-3": "", "0-0": ""} {
		got, err := ParseRange(text, size)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("range %q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"3/8": "3-of-8", "1/1": "1-of-1", "0/8": "", "9/8": "", "3": "", "a/b": ""} {
		got, err := ParsePart(text)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("part %q: %q, %v", text, got, err)
		}
	}
}
