package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/store/duck"
)

// A judgedLog holds the figures of a report that do not depend on how clients are called, nor on sizes and times of answers.
type judgedLog struct {
	Requests, Clients int64
	Identities        any
	Policies          []map[string]any
	Refused           []string // of each policy: of how many requests of a client how many, in order of these numbers
}

// judgedAs replays a log, and returns what is comparable.
func judgedAs(t *testing.T, dir, log string, more ...string) (j judgedLog) {
	t.Helper()
	var report struct {
		Input struct {
			Requests, Clients int64
			ByIdentity        any `json:"by_identity"`
		}
		Policies []map[string]any
	}
	args := []string{"replay", log, "--no-store", "--output", "json", "--top", "100000", "--max-bad", "100%", "--evidence"}
	for _, limit := range traceLimits {
		args = append(args, "--limit", limit)
	}
	must(t, json.Unmarshal(run(t, dir, append(args, more...)...), &report))
	j.Requests, j.Clients, j.Identities = report.Input.Requests, report.Input.Clients, report.Input.ByIdentity
	for _, p := range report.Policies {
		for _, what := range []string{"top_clients", "top_actions"} {
			var texts []string
			for _, row := range p[what].([]any) {
				row := row.(map[string]any)
				is, _ := row["identity"].(map[string]any)
				texts = append(texts, fmt.Sprint(row["requests"], row["refused"], is["identity"], row["first_refused"], row["last_refused"]))
			}
			slices.Sort(texts)
			j.Refused = append(j.Refused, what+strings.Join(texts, " "))
		}
		kept := map[string]any{}
		for _, figure := range []string{"policy", "requests", "refused", "clients_hit", "by_identity", "worst_minute", "delayed"} {
			kept[figure] = p[figure]
		}
		j.Policies = append(j.Policies, kept)
	}
	return j
}

var traceLimits = []string{"6/30s", "leaky:3/10s", "fixed:20/1m", "nginx:1r/s,burst=4", "token:30/1h"}

// A trace is judged as the log that it was made of, whatever the format, the order of the lines and the key.
func TestTraceIsJudgedAsItsLog(t *testing.T) {
	t.Parallel()
	if !duck.Built {
		t.Skip("no database in this program")
	}
	samples, err := filepath.Abs("../../sample-logs")
	must(t, err)
	logs, err := filepath.Glob(samples + "/*.log*")
	must(t, err)
	real, err := filepath.Glob("../../../shared/logs/*/*.gz")
	must(t, err)
	keys := []string{"client", "client+action", "site"}
	for i, log := range append(logs, real[:min(len(real), 8)]...) {
		log, err := filepath.Abs(log)
		must(t, err)
		of := keys
		if i >= len(logs) {
			of = keys[i%2 : i%2+1]
		}
		for _, by := range of {
			dir := t.TempDir()
			if strings.HasSuffix(log, "/empty.log") || by == "site" && strings.HasSuffix(log, "/broken.log") {
				continue // a request of another year comes where it is let in, which a trace does not know
			}
			want := judgedAs(t, dir, log, "--trace", "out.parquet", "--by", by)
			got := judgedAs(t, dir, "out.parquet", "--by", by)
			if w, g := fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got); w != g {
				t.Errorf("%s by %s: the trace is judged otherwise\n%.3000s\n%.3000s", log, by, w, g)
			}
		}
	}
}

// No trace names a person, also where a path does.
func TestTraceNamesNoPerson(t *testing.T) {
	t.Parallel()
	if !duck.Built {
		t.Skip("no database in this program")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(peopleLog()+
		`203.0.113.9 - - [02/Mar/2026:12:00:00 +0000] "GET /of/dorothea HTTP/1.1" 200 5 "-" "dorothea's own"`+"\n"), 0o644))
	run(t, dir, strings.Fields("replay log --limit 2/1m --no-store --max-bad 100% --quiet --trace t.parquet")...)
	lines := run(t, dir, strings.Fields("doctor parse t.parquet --lines 100000 --output json")...)
	for _, name := range append([]string{"dorothea", "miller", "203.0.113.9"}, people...) {
		if bytes.Contains(bytes.ToLower(lines), []byte(name)) {
			t.Errorf("the trace has %s", name)
		}
	}
	if !bytes.Contains(lines, []byte("client-")) {
		t.Errorf("no client in\n%.1000s", lines)
	}
}
