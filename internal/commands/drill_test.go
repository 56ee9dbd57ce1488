package commands

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/report"
)

// unlimited returns a server that refuses nothing.
func unlimited(t *testing.T) (target string) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	return server.URL
}

// With --anonymize a drill sends requests as they are, and names no one in its report.
func TestDrillStaysUnnamed(t *testing.T) {
	dir := t.TempDir()
	text := strings.ReplaceAll(peopleLog()[:3000], "GET /health", "GET /dave@example.com?from=10.11.12.13")
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(text[:strings.LastIndex(text, "\n")+1]), 0o600))
	words := []string{"drill", "log", "--limit", "window:1/1m", "--by", "site", "--until", "2026-03-02T10:00:04Z", "--methods", "all", "--target", unlimited(t)}
	if named := namedBy(t, dir, words, "addr", "json", ""); named == "" {
		t.Error("it names no one without --anonymize either")
	}
	for i, output := range outputsOf(t, words) {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			for _, by := range []string{"addr", "user"} {
				if named := namedBy(t, dir, words, by, output, report.Anonymizations()[i%2]); named != "" {
					t.Errorf("--client %s --output %s: %s", by, output, named)
				}
			}
		})
	}
}
