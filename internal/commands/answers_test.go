package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
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
	asked := func(args ...string) *exec.Cmd {
		args = append(args, log.args...)
		return command(t, dir, append(args, "--quiet", "--output", "json")...)
	}
	ask := func(label string, args ...string) {
		digest(t, to, log.name+" "+label, asked(args...))
	}
	ask("replay", "replay", "--limit", "6/30s", "--limit", "window:60/1h", "--no-store")
	ask("band", "replay", "--limit", "6/30s", "--band", "--no-store")
	ask("sweep", "sweep", "--no-store")
	ask("network", "sweep", "--by", "client/24", "--no-store")
	ask("suggest", "suggest")
	ask("keys", "keys")
	ask("diff", "diff", "--limit", "token:6/30s", "--limit", "window:60/1h")
	var report struct {
		Policies []struct {
			Top []struct{ Client string } `json:"top_clients"`
		}
	}
	out, err := asked("replay", "--limit", "token:6/30s", "--top", "1", "--no-store").Output()
	must(t, err)
	must(t, json.Unmarshal(out, &report))
	if top := report.Policies[0].Top; len(top) > 0 {
		ask("explain", "explain", top[0].Client, "--limit", "6/30s")
	}
}

// digest writes a line for each part of an answer but those that describe the program rather than the log. It reads the
// answer as it comes. On Linux the peak memory of a program counts that of the process which starts it, and other tests
// measure it.
func digest(t *testing.T, to *bytes.Buffer, label string, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	answer := json.NewDecoder(out)
	answer.UseNumber()
	_, err = answer.Token()
	must(t, err)
	for answer.More() {
		name, err := answer.Token()
		must(t, err)
		sum := sha256.New()
		must(t, copyFigures(answer, sum))
		if !slices.Contains([]json.Token{"schema", "version", "command", "stored", "warnings"}, name) {
			fmt.Fprintf(to, "%s %s %x\n", label, name, sum.Sum(nil)[:8])
		}
	}
	_, err = io.Copy(io.Discard, out)
	must(t, err)
	must(t, cmd.Wait())
}

// copyFigures copies a value but for texts with blanks or slashes in them: sentences, and paths of files.
func copyFigures(answer *json.Decoder, to io.Writer) error {
	token, err := answer.Token()
	if err != nil {
		return err
	}
	if text, is := token.(string); !is || !strings.ContainsAny(text, " /") {
		fmt.Fprintln(to, token)
	}
	if _, opens := token.(json.Delim); opens {
		for answer.More() {
			if err := copyFigures(answer, to); err != nil {
				return err
			}
		}
		token, err = answer.Token()
		fmt.Fprintln(to, token)
	}
	return err
}
