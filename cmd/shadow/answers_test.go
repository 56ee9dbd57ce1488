package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/testneeds"
)

// A change that makes the program faster or shorter must leave each figure as it is. testdata/answers holds, for sample
// logs and real logs, a digest of each part of each command's JSON. Texts do not count, only figures and names.
//
// A digest that differs says which part of which answer changed. If that is meant, -update writes the digests again.

// A kept is a log whose answers are on record.
type kept struct {
	name string
	args []string // the log, and how to read it
}

func TestSampleAnswersStay(t *testing.T) {
	root := testneeds.Root(t)
	var logs []kept
	for _, name := range []string{"shop-combined.log", "nginx-timed.log", "vhosts.log", "api.json", "broken.log", "rotated"} {
		args := []string{filepath.Join(root, "sample-logs", name), "--max-bad", "100%"}
		logs = append(logs, kept{name, args})
	}
	compareAnswers(t, "samples.txt", logs)
}

func TestRealAnswersStay(t *testing.T) {
	folder := testneeds.Shared(t, "logs")
	if testing.Short() {
		t.Skip("reads 400,000 lines, several times")
	}
	var logs []kept
	for _, name := range []string{
		"almhuette-2019", "elastic-apache", "hackers-basjes-2015", "imooc-2016", "nasa-1995-07-09", "netnea-2015-2016",
		"roadmap-nginx-2024", "sundog-2017", "zanbil-sample-2019",
	} {
		found, err := filepath.Glob(filepath.Join(folder, name, "*.gz"))
		must(t, err)
		logs = append(logs, kept{name, found})
	}
	compareAnswers(t, "real.txt", logs)
}

// compareAnswers asks each command about each log and compares with the digests on record.
func compareAnswers(t *testing.T, record string, logs []kept) {
	var got bytes.Buffer
	for _, log := range logs {
		writeAnswers(t, &got, log)
	}
	path := filepath.Join("testdata", "answers", record)
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Errorf("another answer: %s (line %d of %s)", line, i+1, path)
		}
	}
}

func writeAnswers(t *testing.T, to *bytes.Buffer, log kept) {
	t.Helper()
	dir := t.TempDir()
	ask := func(label string, args ...string) map[string]json.RawMessage {
		args = append(args, log.args...)
		out := run(t, dir, append(args, "--quiet", "--output", "json")...)
		var parts map[string]json.RawMessage
		must(t, json.Unmarshal(out, &parts))
		digest(t, to, log.name+" "+label, parts)
		return parts
	}
	replay := ask("replay", "replay", "--limit", "6/30s", "--limit", "window:60/1h", "--no-store")
	ask("band", "replay", "--limit", "6/30s", "--band", "--no-store")
	ask("sweep", "sweep", "--no-store")
	ask("network", "sweep", "--by", "client/24", "--no-store")
	ask("suggest", "suggest")
	ask("keys", "keys")
	ask("diff", "diff", "--limit", "token:6/30s", "--limit", "window:60/1h")
	var policies []struct {
		Top []struct{ Client string } `json:"top_clients"`
	}
	must(t, json.Unmarshal(replay["policies"], &policies))
	if len(policies[0].Top) > 0 {
		ask("explain", "explain", policies[0].Top[0].Client, "--limit", "6/30s")
	}
}

// digest writes a line for each part of an answer but those that tell of the program rather than of the log.
func digest(t *testing.T, to *bytes.Buffer, label string, parts map[string]json.RawMessage) {
	names := make([]string, 0, len(parts))
	for name := range parts {
		if !slices.Contains([]string{"version", "command", "stored", "warnings"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var part any
		must(t, json.Unmarshal(parts[name], &part))
		figures, err := json.Marshal(withoutTexts(part))
		must(t, err)
		sum := sha256.Sum256(figures)
		fmt.Fprintf(to, "%s %s %x\n", label, name, sum[:8])
	}
}

// withoutTexts removes what has blanks or slashes in it: sentences and paths of files.
func withoutTexts(part any) any {
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			part[name] = withoutTexts(value)
		}
	case []any:
		for i, value := range part {
			part[i] = withoutTexts(value)
		}
	case string:
		if strings.ContainsAny(part, " /") {
			return ""
		}
	}
	return part
}
