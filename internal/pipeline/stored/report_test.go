//go:build !nostore

package stored

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/pipeline"
	"shadow/limit"
)

// nights stores two runs over sample logs in a database.
func nights(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "runs.duckdb")
	for _, log := range []string{"shop-combined.log", "vhosts.log"} {
		var out, errs bytes.Buffer
		r := &pipeline.Replay{
			Logs: pipeline.Logs{Caller: pipeline.Caller{Out: &out, Err: &errs, Started: time.Now()}}, Choice: pipeline.Choice{Limits: []string{"token:6/30s"}},
			Look: pipeline.Look{Output: "csv", Top: 3}, Keeping: pipeline.Keeping{DB: path}, Sweep: true,
		}
		if err := r.Run(t.Context(), []string{"../../../sample-logs/" + log}); err != nil {
			t.Fatal(err, errs.String())
		}
	}
	return path
}

// A report says what was stored and what has changed since; a page has curves; what is not there is an error.
func TestReport(t *testing.T) {
	path := nights(t)
	report := func(set func(*Report)) (string, error) {
		var out, errs bytes.Buffer
		r := &Report{
			Caller: pipeline.Caller{Out: &out, Err: &errs}, Look: pipeline.Look{Output: "json", Top: 3},
			Database: Database{Path: path}, Compare: ComparePrevious, Protect: DefaultProtect,
		}
		set(r)
		err := r.Run(t.Context())
		return out.String(), err
	}
	text, err := report(func(*Report) {})
	var answer struct {
		Policies []struct{ Requests int }
		History  struct {
			Runs []int
			Base []int `json:"base_runs"`
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	if err != nil || len(answer.Policies) != 1 || answer.Policies[0].Requests == 0 || len(answer.History.Runs) != 1 || len(answer.History.Base) != 1 {
		t.Errorf("%v, %+v", err, answer)
	}
	if text, err := report(func(r *Report) { r.Output = "html" }); err != nil || !strings.Contains(text, `id="explore"`) || !strings.Contains(text, "<dt>hits</dt>") {
		t.Errorf("%v, a page of %d bytes", err, len(text))
	}
	for name, c := range map[string]struct {
		set   func(*Report)
		usage bool
		text  string
	}{
		"no run":         {func(r *Report) { r.Selection.Run = "9" }, false, "there is no run 9: the database has 2, from 1 to 2"},
		"no number":      {func(r *Report) { r.Selection.Run = "x" }, true, "want the number of a run, or last"},
		"no day":         {func(r *Report) { r.Day = "2001-01-01" }, false, "no run has requests of 2001-01-01"},
		"none of both":   {func(r *Report) { r.Selection.Run, r.Since = "1", "2999-01-01" }, false, "of the runs that the other flags name: no run has requests since 2999-01-01"},
		"nothing to ask": {func(r *Report) { r.FailIf = []string{"newly_hit > 0"}; r.Compare = CompareNone }, true, "--fail-if"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := report(c.set); err == nil || !strings.Contains(err.Error(), c.text) || errors.As(err, new(*pipeline.UsageError)) != c.usage {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// Runs are deleted all or none, and merged once.
func TestRuns(t *testing.T) {
	path := nights(t)
	d := &Database{Path: path}
	var out bytes.Buffer
	if err := d.Delete(t.Context(), &out, "table", []string{"1", "7"}, 0); err == nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := d.Delete(t.Context(), &out, "table", nil, limit.Day); err != nil || out.String() != "no run was stored more than 24h ago\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	out.Reset()
	all := filepath.Join(t.TempDir(), "all.db")
	for _, want := range []string{"took in 2 runs", "took in 0 runs"} {
		if err := Merge(t.Context(), &out, "table", all, []string{path}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, %q", err, out.String())
		}
		out.Reset()
	}
	if err := d.Delete(t.Context(), &out, "table", []string{"last"}, 0); err != nil || !strings.HasPrefix(out.String(), "deleted run 2") {
		t.Errorf("%v, %q", err, out.String())
	}
	if runs, err := d.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Run != 1 {
		t.Errorf("%v, %+v", err, runs)
	}
}

// What is protected is written as it is read.
func TestProtect(t *testing.T) {
	for text, want := range map[string]string{
		"browsers=99.9%": "browsers=99.9%", "tool=5": "tools=5%", "unknowns=100%": "unknowns=100%",
		"birds=99%": "", "browsers": "", "browsers=": "", "browsers=101%": "",
	} {
		spare, err := ParseProtect(text)
		if (err != nil) != (want == "") || err == nil && FormatProtect(spare) != want {
			t.Errorf("%s is %s, %v; want %q", text, FormatProtect(spare), err, want)
		}
	}
}
