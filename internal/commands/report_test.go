package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportIsTheReplay: whatever the log and the limits, the report of a stored run is what the replay printed, in
// every format. Only evidence and harm are not kept.
func TestReportIsTheReplay(t *testing.T) {
	samples, err := filepath.Abs("../../sample-logs")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "shadow.yaml")
	if err := os.WriteFile(config, []byte(reportConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"shop-combined.log": {"--limit", "6/30s", "--config", config},
		"nginx-timed.log":   {"--limit", "nginx:1r/s,burst=5", "--limit", "cloudflare~:5/10s", "--limit", "token:3/10s+window:20/5m,cooldown=30s"},
		"api.json":          {"--limit", "token:5/10s,refill=step", "--by", "client+action"},
		"vhosts.log":        {"--limit", "window:60/1m", "--by", "host", "--since", "2026-03-02"},
		"rotated":           {"--limit", "traefik:1/s,burst=3", "--client", "addr/24,/64", "--exclude", "/static/**"},
		"broken.log":        {"--limit", "2..4/10s", "--max-bad", "100%", "--timezone", "Asia/Tokyo"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, format := range []string{"json", "table", "csv", "markdown"} {
				look := []string{"--output", format, "--db", "runs.db", "--top", "7"}
				if i == 1 {
					look = append(look, "--sort", "requests")
				}
				printed := string(run(t, dir, append(append([]string{"replay", filepath.Join(samples, name)}, args...), look...)...))
				again := string(run(t, dir, append([]string{"report", "--compare", "none"}, look...)...))
				if printed != again {
					t.Fatalf("%s: the replay printed\n%s\nthe report says\n%s", format, printed, firstDifference(printed, again))
				}
			}
		})
	}
}

// reportConfig has policies with names, scopes, several limits and a cooldown of their own.
const reportConfig = `
actions:
  - {name: login, prefix: /login}
policies:
  - name: guarded
    limits:
      - limit: token:20/30s,cooldown=1m
      - limit: window:3/1m
        match: {action: login}
        count: {action: login, status: [401, 403]}
      - limit: fixed:500/1m
        by: site
`

// firstDifference returns the text from the first line that differs on.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return strings.Join(b[i:min(i+10, len(b))], "\n")
		}
	}
	return "(it ends early)"
}
