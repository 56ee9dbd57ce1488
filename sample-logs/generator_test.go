package samplelogs

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

var combined = regexp.MustCompile(
	`^([0-9a-f.:]+) - (\S+) \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000)\] "(GET|POST) (\S+) HTTP/[12]\.[01]" (\d{3}) (\d+) "([^"]*)" "([^"]+)"$`)

func generate(t *testing.T, c Config) []byte {
	t.Helper()
	var log bytes.Buffer
	size, err := New(c).WriteTo(&log)
	if err != nil {
		t.Fatal(err)
	}
	if size != int64(log.Len()) {
		t.Fatalf("WriteTo says %d bytes, wrote %d", size, log.Len())
	}
	return log.Bytes()
}

// TestShape holds what the benchmarks are promised: numbers of clients, agents and paths, lines out of order, length.
func TestShape(t *testing.T) {
	log := generate(t, Config{Lines: 400_000, Seed: 1})
	clients, agents, paths := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var newest time.Time
	back, lines := 0, strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
	for _, line := range lines {
		m := combined.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a combined line: %s", line)
		}
		clients[m[1]], paths[m[5]], agents[m[9]] = true, true, true
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[3])
		if err != nil {
			t.Fatal(err)
		}
		switch step := newest.Sub(at); {
		case step <= 0:
			newest = at
		case step > 3*time.Second:
			t.Fatalf("%v back: %s", step, line)
		default:
			back++
		}
	}
	is := func(what string, got, low, high int) {
		if got < low || got > high {
			t.Errorf("%s: %d, want %d to %d", what, got, low, high)
		}
	}
	is("lines", len(lines), 400_000, 400_000)
	is("clients", len(clients), 50_000, 50_000)
	is("agents", len(agents), 265, 265)
	is("paths", len(paths), 1_980, 2_000)
	is("lines out of order", back, 1_800, 2_200)
	is("bytes a line", len(log)/len(lines), 218, 226)
}

func TestSeed(t *testing.T) {
	small := Config{Lines: 5_000, Seed: 7, Clients: 300}
	first := generate(t, small)
	if !bytes.Equal(first, generate(t, small)) {
		t.Error("one seed, two logs")
	}
	small.Seed = 8
	if bytes.Equal(first, generate(t, small)) {
		t.Error("two seeds, one log")
	}
}

func TestTargets(t *testing.T) {
	distinct := map[string]bool{}
	for _, target := range newSite().targets {
		distinct[target.path] = true
	}
	if len(distinct) != pathCount {
		t.Errorf("%d distinct paths, want %d", len(distinct), pathCount)
	}
}
