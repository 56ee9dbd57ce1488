package shard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/limit"
	"shadow/parse/detect"
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

// A packed holds what some parts of a log were packed into, by the name of the shard and the part.
type packed map[string][]byte

// pack adds the blocks of a part of a log.
func (p packed) pack(t *testing.T, log string, part Part, change func(*Options)) {
	t.Helper()
	o := Options{Read: reading(t), Names: []string{log}, Shards: 4, Part: part}
	if change != nil {
		change(&o)
	}
	blocks, _, err := Pack(t.Context(), o)
	must(t, err)
	for i, b := range blocks {
		p[fmt.Sprintf("%d of %s", i, part)] = b
	}
}

func (p packed) open() (*Set, error) {
	var blocks []Block
	for name, data := range p {
		blocks = append(blocks, Block{name, data})
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

// All blocks together have each request once, however many parts the log was packed in.
func TestPartsAreWhole(t *testing.T) {
	log := writeLog(t, "a.log", 1000)
	for of := 1; of < 5; of++ {
		p := packed{}
		for number := 1; number <= of; number++ {
			p.pack(t, log, Part{Number: number, Of: of}, nil)
		}
		s, err := p.open()
		must(t, err)
		if n, err := all(t, s); n != 1000 || err != nil {
			t.Errorf("%d parts: %d requests, %v", of, n, err)
		}
	}
}

// Whatever byte of a block is damaged or missing, it is refused: when it is opened, or when its requests are read.
func TestDamagedBlocksAreRefused(t *testing.T) {
	log, rng := writeLog(t, "a.log", 3000), testneeds.Rand(t, 20, 1)
	blocks, _, err := Pack(t.Context(), Options{Read: reading(t), Names: []string{log}, Shards: 2})
	must(t, err)
	try := func(data []byte) error {
		s, err := Open([]Block{{"0", data}, {"1", blocks[1]}})
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
	first, second := Part{Number: 1, Of: 2}, Part{Number: 2, Of: 2}
	for _, c := range []struct {
		name, want string
		make       func(packed)
	}{
		{"nothing at all", "there is no shard", func(packed) {}},
		{"a part is missing", "lacks a part", func(p packed) { p.pack(t, log, first, nil) }},
		{"parts overlap", "parts overlap", func(p packed) { p.pack(t, log, Part{}, nil); p.pack(t, log, first, nil) }},
		{"other logs", "different sets", func(p packed) { p.pack(t, log, first, nil); p.pack(t, other, second, nil) }},
		{"another key", "different sets", func(p packed) {
			p.pack(t, log, first, nil)
			p.pack(t, log, second, func(o *Options) { o.By = request.ByClient24 })
		}},
		{"another number of shards", "different sets", func(p packed) {
			p.pack(t, log, first, nil)
			p.pack(t, log, second, func(o *Options) { o.Shards = 5 })
		}},
		{"a part of one shard is missing", "shard 3 lacks a part", func(p packed) {
			p.pack(t, log, first, nil)
			p.pack(t, log, second, nil)
			delete(p, "3 of "+second.String())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := packed{}
			c.make(p)
			if _, err := p.open(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A log that changes between its parts is noticed.
func TestRefusesALogThatHasChanged(t *testing.T) {
	log, p := writeLog(t, "a.log", 1000), packed{}
	p.pack(t, log, Part{Number: 1, Of: 2}, nil)
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("more\n")
	must(t, err, f.Close())
	p.pack(t, log, Part{Number: 2, Of: 2}, nil)
	if _, err := p.open(); err == nil || !strings.Contains(err.Error(), "changed") {
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
