package pipeline

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A verdictLine is a line of a file of verdicts.
type verdictLine struct {
	File, Client, Action, Policy, Verdict string
	Line                                  int
	Time                                  time.Time
	Status                                int
	Wait                                  *float64
}

func readVerdicts(t *testing.T, path string) (all []verdictLine) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var v verdictLine
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// Verdicts name the lines that they are about, of plain and of compressed logs, whatever lies between the requests, and say as
// much as the report does.
func TestVerdicts(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 18, 0), people: map[string]bool{}}
	dir := t.TempDir()
	var names []string
	lines := map[string][]string{} // of each log
	requests := 0
	for i := range 3 {
		p.requests = nil
		for range 40 {
			p.visit(p.anywhere(60), webAgents[p.IntN(len(webAgents))], time.Duration(p.Int64N(int64(10*time.Minute))))
		}
		plain, err := os.ReadFile(p.write(t, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for line := range bytes.Lines(plain) {
			switch p.IntN(10) {
			case 0:
				text.WriteString("no request\n")
			case 1:
				text.WriteString("\n")
			}
			text.Write(line)
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.log", i))
		lines[name] = strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
		requests += len(p.requests)
		data := text.Bytes()
		if i == 1 {
			lines[name+".gz"] = lines[name]
			name += ".gz"
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(data)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			data = packed.Bytes()
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var out, errs bytes.Buffer
	var report struct {
		Policies []struct {
			Policy           string
			Refused, Delayed int
		}
	}
	path := filepath.Join(dir, "verdicts.jsonl")
	askJSON(t, func(l Logs) error {
		l.MaxBad = 100
		r := &Replay{Logs: l, Keeping: Keeping{NoStore: true}, Choice: Choice{Limits: []string{"6/30s", "nginx:1r/s,burst=5"}}, Verdicts: path}
		r.Output, r.Top = "json", 10
		return r.Run(t.Context(), names)
	}, Logs{Caller: called(&out, &errs)}, &out, &report)

	counts := map[string]map[string]int{}
	seen := map[string]bool{}
	latest := time.Time{}
	for _, v := range readVerdicts(t, path) {
		line := lines[v.File][v.Line-1]
		if at := v.Time.Format("[02/Jan/2006:15:04:05 +0000]"); !strings.HasPrefix(line, v.Client+" - - "+at) || !strings.Contains(line, fmt.Sprintf(`" %d `, v.Status)) {
			t.Fatalf("%+v is about the line %s", v, line)
		}
		if v.Time.Before(latest) {
			t.Fatalf("%+v comes after %v", v, latest)
		}
		latest = v.Time
		if key := fmt.Sprint(v.File, v.Line, v.Policy); seen[key] {
			t.Fatalf("%+v is there twice", v)
		} else {
			seen[key] = true
		}
		if counts[v.Policy] == nil {
			counts[v.Policy] = map[string]int{}
		}
		counts[v.Policy][v.Verdict]++
		if (v.Verdict == "passed") != (v.Wait != nil && *v.Wait == 0) {
			t.Fatalf("%+v waits otherwise", v)
		}
	}
	for _, policy := range report.Policies {
		c := counts[policy.Policy]
		if c["refused"] != policy.Refused || c["delayed"] != policy.Delayed || c["passed"]+c["delayed"]+c["refused"] != requests || policy.Refused == 0 {
			t.Errorf("%+v of %d requests, and verdicts %v", policy, requests, c)
		}
	}
	if len(report.Policies) != 4 || counts["nginx:1r/s,burst=5"]["delayed"] == 0 {
		t.Errorf("%+v", report.Policies)
	}
}

// What is not whole gets no name, and leaves nothing behind.
func TestVerdictsFail(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "verdicts.csv")
	if err := os.WriteFile(path, []byte("earlier\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	r := &Replay{
		Logs: Logs{Caller: called(&out, &errs)}, Choice: Choice{Limits: []string{"token:6/30s"}}, Keeping: Keeping{NoStore: true}, Verdicts: path,
	}
	r.Output, r.Format = "json", "no such format"
	if err := r.Run(t.Context(), []string{burst(t)}); err == nil {
		t.Error("an unknown format is none")
	}
	text, err := os.ReadFile(path)
	files, _ := os.ReadDir(dir)
	if err != nil || string(text) != "earlier\n" || len(files) != 1 {
		t.Errorf("%q, %v; %v", text, err, files)
	}
	r.Format, r.Verdicts = "", filepath.Join(dir, "nowhere", "v.csv")
	if err := r.Run(t.Context(), []string{burst(t)}); err == nil || !strings.Contains(err.Error(), "--verdicts: ") {
		t.Errorf("into no folder: %v", err)
	}
}
