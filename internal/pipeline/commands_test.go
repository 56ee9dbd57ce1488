package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/store/duck"
	"shadow/internal/suggest"
	"shadow/internal/traffic/who"
)

const shop = "../../sample-logs/shop-combined.log"

// Each question is answered as JSON without any flag: what is not said means what it means by default.
func TestQuestions(t *testing.T) {
	type question interface {
		Run(context.Context, []string) error
	}
	for name, c := range map[string]struct {
		ask  func(Logs) question
		path []any // to a part of the answer that must be there
	}{
		"sweep": {func(l Logs) question { return &Sweep{Logs: l, Keeping: Keeping{NoStore: true}, Output: "json"} }, []any{"curves", 0, "points", 0, "refused"}},
		"who is in a sweep": {func(l Logs) question {
			return &Sweep{Logs: l, Keeping: Keeping{NoStore: true}, Output: "json"}
		}, []any{"input", "identities", "people"}},
		"suggest": {func(l Logs) question {
			return &Suggest{Logs: l, Protect: []suggest.Goal{{Who: who.Browsers, Percent: 90_000_000}}, Output: "json"}
		}, []any{"answers", 0, "best"}},
		"suggest, held out": {func(l Logs) question {
			return &Suggest{Logs: l, Protect: []suggest.Goal{{Who: who.Everybody, Percent: 90_000_000}}, Holdout: DefaultHoldout, EachAction: true, Output: "json"}
		}, []any{"answers", 0, "rest", "clients"}},
		"keys": {func(l Logs) question { return &Keys{Logs: l, Refuse: []float64{50}, Output: "json"} }, []any{"answers", 0, "best"}},
		"keys of a limit": {func(l Logs) question {
			return &Keys{Logs: l, Limits: []string{"token:6/30s"}, Output: "json"}
		}, []any{"answers", 0, "keys", 0}},
		"diff": {func(l Logs) question {
			return &Diff{Replay{Logs: l, Choice: Choice{Limits: []string{"token:6/30s", "token:6/30s,burst=20"}}, Look: Look{Output: "json", Top: 3}}}
		}, []any{"clients"}},
		"explain": {func(l Logs) question {
			r := Replay{Logs: l, Choice: Choice{Limits: []string{"token:6/30s"}}, Look: Look{Output: "json", Top: 3}}
			return &Explain{Replay: r, Client: "203.0.113.201", Lines: true}
		}, []any{"policies", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if err := c.ask(Logs{Caller: called(&out, &errs)}).Run(t.Context(), []string{shop}); err != nil {
				t.Fatal(err)
			}
			var answer any
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			for _, step := range c.path {
				switch step := step.(type) {
				case string:
					answer = answer.(map[string]any)[step]
				case int:
					answer = answer.([]any)[step]
				}
				if answer == nil {
					t.Fatalf("no %v in %s", c.path, out.Bytes())
				}
			}
		})
	}
}

// What is resumed reads what is new; with other options it says so, and with nothing new it keeps nothing.
func TestResume(t *testing.T) {
	if !duck.Built {
		t.Skip("this build has no database")
	}
	log := burst(t)
	db := filepath.Join(t.TempDir(), "runs.duckdb")
	night := func(how string, limit string) (string, error) {
		var out, errs bytes.Buffer
		r := &Replay{
			Logs: Logs{Caller: called(&out, &errs)}, Choice: Choice{Limits: []string{limit}}, Look: Look{Output: "csv", Top: 3},
			Keeping: Keeping{DB: db}, Resume: how, ResumeAs: "replay",
		}
		err := r.Run(t.Context(), []string{log})
		return errs.String(), err
	}
	if said, err := night("on", "token:6/30s"); err != nil || said != "" {
		t.Fatal(said, err)
	}
	if said, err := night("on", "token:6/30s"); err != nil || said != "nothing has come to the logs since run 1: no run is stored\n" {
		t.Error(said, err)
	}
	if _, err := night("on", "token:7/30s"); err == nil || !strings.Contains(err.Error(), "  limits: token:6/30s by client, now token:7/30s by client\n") {
		t.Error(err)
	}
	text, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(log, append(text, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := night("anyway", "token:7/30s"); err != nil || said != "" {
		t.Error(said, err)
	}
}

// A preview shows what a line lacks, and goes on.
func TestPreview(t *testing.T) {
	var out, errs bytes.Buffer
	p := &Preview{Caller: called(&out, &errs), Lines: 1}
	if err := p.Run(t.Context(), []string{"../../sample-logs/broken.log"}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"broken.log\n  format combined: ", "\nline 1\n  time ", " cannot be read: column "} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
}

func noProblem([]policy.Default) error { return nil }

// A configuration is described, or all that is wrong with it.
func TestCheckConfig(t *testing.T) {
	for text, want := range map[string]string{
		"policies: {name: p, limits: {limit: 5/m, match: {method: POST}}}": "standard input\n  policy p",
		"": "standard input\n  says nothing\n",
		"policies: {name: p, limits: {limit: 5/moon}}\ntires: {}": "standard input has more than one problem:\n",
	} {
		var out bytes.Buffer
		if err := CheckConfig(strings.NewReader(text), &out, "table", "-", noProblem); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q is %q, want %q…", text, out.String(), want)
		}
	}
}
