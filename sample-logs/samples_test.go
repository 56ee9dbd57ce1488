package samplelogs

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the sample logs again")

// TestSamples proves that the files of this folder are what the generator makes.
func TestSamples(t *testing.T) {
	var total int64
	for _, sample := range samples() {
		if *update {
			write(t, sample)
		}
		if got := read(t, sample.file); !bytes.Equal(got, sample.data) {
			t.Errorf("%s: the file differs from what the generator makes (go test ./sample-logs -update writes it)", sample.file)
		}
		info, err := os.Stat(sample.file)
		if err != nil {
			t.Fatal(err)
		}
		if total += info.Size(); info.Size() > 300_000 {
			t.Errorf("%s: %d bytes", sample.file, info.Size())
		}
	}
	if total > 1_000_000 {
		t.Errorf("%d bytes in all", total)
	}
}

func write(t *testing.T, s sample) {
	t.Helper()
	data := s.data
	if strings.HasSuffix(s.file, ".gz") {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		if _, err := zip.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		data = packed.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAddresses: small logs lie in the folder for everybody to see; no real address may be in them.
func TestAddresses(t *testing.T) {
	address := regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	agent := regexp.MustCompile(`(Chrome|Edg)/[0-9.]+`)
	documentation := regexp.MustCompile(`^(192\.0\.2|198\.51\.100|203\.0\.113)\.`)
	for _, sample := range samples() {
		for _, found := range address.FindAllString(agent.ReplaceAllString(string(sample.data), ""), -1) {
			if !documentation.MatchString(found) && found != "999.1.2.3" {
				t.Errorf("%s: %s", sample.file, found)
			}
		}
	}
}

// TestPlanted counts the lines of the actors: README.md promises them.
func TestPlanted(t *testing.T) {
	data := map[string]string{}
	for _, sample := range samples() {
		data[sample.file] = string(sample.data)
	}
	for _, c := range []struct {
		file, address string
		lines         int
	}{
		{"shop-combined.log", "203.0.113.201", 153},
		{"shop-combined.log", "203.0.113.202", 140},
		{"shop-combined.log", "203.0.113.203", 123},
		{"shop-combined.log", "203.0.113.204", 240},
		{"shop-combined.log", "203.0.113.205", 122},
		{"nginx-timed.log", "203.0.113.201", 134},
		{"nginx-timed.log", "203.0.113.203", 90},
		{"nginx-timed.log", "203.0.113.204", 90},
		{"api.json", "203.0.113.204", 120},
		{"api.json", "203.0.113.206", 198},
		{"vhosts.log", "203.0.113.202", 90},
		{"rotated/access.log.2.gz", "203.0.113.201", 60},
		{"rotated/access.log.1", "203.0.113.201", 60},
	} {
		if got := strings.Count(data[c.file], c.address+" ") + strings.Count(data[c.file], c.address+`"`); got != c.lines {
			t.Errorf("%s: %d lines of %s, want %d", c.file, got, c.address, c.lines)
		}
	}
}
