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
	var newest, at time.Time
	stamp := ""
	back, lines := 0, strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
	for i, line := range lines {
		if i%50 == 0 && !combined.MatchString(line) {
			t.Fatalf("not a combined line: %s", line)
		}
		quoted := strings.Split(line, `"`) // client and stamp, request, status and size, referer, a blank, agent
		clients[strings.Fields(quoted[0])[0]] = true
		paths[strings.Fields(quoted[1])[1]] = true
		agents[quoted[5]] = true
		if s := strings.Fields(quoted[0])[3]; s != stamp { // most lines repeat it
			stamp = s
			at = parseStamp(t, stamp)
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

func parseStamp(t *testing.T, stamp string) time.Time {
	t.Helper()
	at, err := time.Parse("[02/Jan/2006:15:04:05", stamp)
	if err != nil {
		t.Fatal(err)
	}
	return at
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
