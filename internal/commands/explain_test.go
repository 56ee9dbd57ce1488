package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSampleAccounts holds what explain and diff tell of the sample logs against sample-logs/expected.
func TestSampleAccounts(t *testing.T) {
	for name, args := range map[string][]string{
		"explain-scraper": {"explain", "203.0.113.201", "shop-combined.log", "--limit", "token:6/30s", "--lines", "--top", "5"},
		"explain-partner": {"explain", "203.0.113.206", "api.json", "--limit", "nginx:10r/s,burst=20", "--limit", "window:20/1s+token:60/1m", "--top", "5"},
		"explain-rotated": {"explain", "203.0.113.201", "rotated", "--limit", "token:6/30s", "--by", "site", "--lines", "--top", "5"},
		"explain-broken":  {"explain", "198.51.100.9", "broken.log", "--limit", "token:2/1m", "--lines", "--max-bad", "100"},
		"diff-burst":      {"diff", "shop-combined.log", "--limit", "token:6/30s", "--limit", "token:6/30s,burst=20", "--top", "5"},
		"diff-window":     {"diff", "nginx-timed.log", "--limit", "token:6/30s", "--limit", "window:6/30s", "--top", "5"},
		"diff-broken":     {"diff", "broken.log", "--limit", "token:2/1m", "--limit", "leaky:1/1m", "--max-bad", "100", "--output", "markdown"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "../../sample-logs", args...)
			golden := filepath.Join("../../sample-logs/expected", name+".txt")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("differs from %s (-update rewrites it):\n%s", golden, got)
			}
		})
	}
}
