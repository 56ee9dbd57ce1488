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

// blocksOf returns the blocks of a part of a log, by shard.
func blocksOf(t *testing.T, log string, part Part, change func(*Options)) [][]byte {
	t.Helper()
	o := Options{Read: reading(t), Names: []string{log}, Shards: 4, Part: part}
	if change != nil {
		change(&o)
	}
	blocks, _, err := Pack(t.Context(), o)
	must(t, err)
	return blocks
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

// All shards together have each request once, however many parts the log was packed in.
func TestPartsAreWhole(t *testing.T) {
	log := writeLog(t, "a.log", 1000)
	for of := 1; of < 5; of++ {
		var parts [][][]byte
		for number := 1; number <= of; number++ {
			parts = append(parts, blocksOf(t, log, Part{Number: number, Of: of}, nil))
		}
		total := 0
		for shard := range parts[0] {
			var blocks [][]byte
			for _, p := range parts {
				blocks = append(blocks, p[shard])
			}
			s, err := Open(blocks)
			must(t, err)
			n, err := all(t, s)
			must(t, err)
			total += n
		}
		if total != 1000 {
			t.Errorf("%d parts: %d requests", of, total)
		}
	}
}

// Whatever byte of a block is damaged or missing, it is refused.
func TestDamagedBlocksAreRefused(t *testing.T) {
	rng := testneeds.Rand(t, 20, 1)
	block := blocksOf(t, writeLog(t, "a.log", 3000), Part{Number: 1, Of: 1}, nil)[0]
	_, err := Open([][]byte{block})
	must(t, err)
	for range 300 {
		data, what := append([]byte(nil), block...), "flipped"
		if i := rng.IntN(len(data)); rng.IntN(4) == 0 {
			data, what = data[:i], "cut"
		} else {
			data[i] ^= 1 << rng.IntN(8)
		}
		if _, err := Open([][]byte{data}); !errors.Is(err, errDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// Blocks that are no set are refused, with the reason.
func TestRefusesWhatIsNoSet(t *testing.T) {
	log, other := writeLog(t, "a.log", 1000), writeLog(t, "b.log", 1000)
	part := func(number, of int) Part { return Part{Number: number, Of: of} }
	first := blocksOf(t, log, part(1, 2), nil)
	second := func(change func(*Options)) []byte { return blocksOf(t, log, part(2, 2), change)[0] }
	for name, c := range map[string]struct {
		want   string
		blocks [][]byte
	}{
		"nothing at all":           {"there is no block", nil},
		"a part is missing":        {"missing", first[:1]},
		"a part is there twice":    {"twice", [][]byte{first[0], first[0]}},
		"other logs":               {"have changed", [][]byte{first[0], blocksOf(t, other, part(2, 2), nil)[0]}},
		"another shard":            {"have changed", [][]byte{first[0], first[1]}},
		"another key":              {"have changed", [][]byte{first[0], second(func(o *Options) { o.By = request.ByClient24 })}},
		"another number of shards": {"have changed", [][]byte{first[0], second(func(o *Options) { o.Shards = 5 })}},
	} {
		if _, err := Open(c.blocks); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A log that changes between its parts is noticed.
func TestRefusesALogThatHasChanged(t *testing.T) {
	log := writeLog(t, "a.log", 1000)
	first := blocksOf(t, log, Part{Number: 1, Of: 2}, nil)[0]
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("more\n")
	must(t, err, f.Close())
	second := blocksOf(t, log, Part{Number: 2, Of: 2}, nil)[0]
	if _, err := Open([][]byte{first, second}); err == nil || !strings.Contains(err.Error(), "changed") {
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
