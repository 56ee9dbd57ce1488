package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/traffic/ingest"
)

// called is a caller whose reports are kept.
func called(out, errs *bytes.Buffer) Caller {
	return Caller{In: strings.NewReader(""), Out: out, Err: errs, Version: "1.0", Command: "test", Started: time.Now()}
}

// burst is a log of ten requests in a second, of one client, in a folder of its own.
func burst(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	line := `192.0.2.7 - - [19/Nov/2026:08:00:00 +0000] "GET /login HTTP/1.1" 200 5 "-" "Mozilla/5.0 Firefox/140.0"` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Fields that are not set mean what flags mean by default.
func TestReplay(t *testing.T) {
	var out, errs bytes.Buffer
	r := &Replay{Logs: Logs{Caller: called(&out, &errs)}, Choice: Choice{Limits: []string{"token:6/30s"}}, Keeping: Keeping{NoStore: true}}
	r.Output, r.Top = "json", 10
	if err := r.Run(t.Context(), []string{burst(t)}); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Input    struct{ Requests int }
		Policies []struct{ Requests, Refused, Clients int }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if p := report.Policies; len(p) != 1 || p[0].Requests != 10 || p[0].Refused != 4 || p[0].Clients != 1 || errs.Len() > 0 {
		t.Errorf("%+v, and %q", report, errs.String())
	}
}

// Errors say what they are to any caller.
func TestErrorsOfReplay(t *testing.T) {
	log := burst(t)
	broken := filepath.Join(t.TempDir(), "broken.log")
	text, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(broken, append(text, "no request\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set    func(*Replay)
		log    string
		target any
		text   string
	}{
		"no limit":       {func(r *Replay) { r.Limits = nil }, log, new(*UsageError), "which limit?"},
		"turned around":  {func(r *Replay) { r.Since, r.Until = "2026-11-20", "2026-11-19" }, log, new(*UsageError), "is not before --until"},
		"no action":      {func(r *Replay) { r.HarmAction = "logn" }, log, new(*UsageError), "did you mean"},
		"unreadable":     {func(r *Replay) { r.MaxBad = 5 }, broken, new(IncompleteError), "9.09 % of the lines"},
		"condition held": {func(r *Replay) { r.FailIf = []string{"refused > 3"} }, log, new(HeldError), "--fail-if refused > 3 holds for token:6/30s"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			r := &Replay{Logs: Logs{Caller: called(&out, &errs)}, Choice: Choice{Limits: []string{"token:6/30s"}}, Keeping: Keeping{NoStore: true}}
			r.Output, r.Top = "table", 10
			c.set(r)
			if err := r.Run(t.Context(), []string{c.log}); !errors.As(err, c.target) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("it ends with %v, want %T: …%s…", err, c.target, c.text)
			}
		})
	}
}

// Where limits count what is under way, a request that came too late or tells no time is told, and only there.
func TestUnderWayWarns(t *testing.T) {
	took := &ingest.Options{Took: true}
	for _, c := range []struct {
		options *ingest.Options
		stats   ingest.Stats
		want    int
	}{
		{took, ingest.Stats{}, 0},
		{took, ingest.Stats{Counts: ingest.Counts{Late: 1}}, 1},
		{took, ingest.Stats{Counts: ingest.Counts{Late: 1}, Untimed: 2}, 2},
		{new(ingest.Options), ingest.Stats{Counts: ingest.Counts{Late: 1}}, 0},
	} {
		if got := underWay(c.options, &c.stats); len(got) != c.want {
			t.Errorf("%+v: %q, want %d warnings", c.stats.Counts, got, c.want)
		}
	}
}
