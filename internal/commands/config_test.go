package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A limit with a scope does to a log what the same limit does to the lines of that scope.
func TestScopeIsAFilter(t *testing.T) {
	text, err := os.ReadFile("../../sample-logs/shop-combined.log")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listing := regexp.MustCompile(`"GET /(product|list)[/?]`)
	var filtered strings.Builder
	for line := range strings.Lines(string(text)) {
		if listing.MatchString(line) {
			filtered.WriteString(line)
		}
	}
	write("all.log", string(text))
	write("filtered.log", filtered.String())
	write("shadow.yaml", `policies:
  - {name: one, limits: {limit: "token:5/1m", match: {method: GET, regexp: "^/(product|list)(/|$)"}}}
  - name: two
    limits:
      - {limit: "token:5/1m", match: {method: GET, regexp: "^/(product|list)(/|$)"}}
      - {limit: "window:20/10m", match: {method: GET, path: [/product, /product/**, /list, /list/**]}}
`)
	whole := refusedBy(t, dir, "all.log")
	part := refusedBy(t, dir, "filtered.log", "--policy", "none", "--limit", "token:5/1m", "--limit", "token:5/1m+window:20/10m")
	if len(whole) != 2 || fmt.Sprint(whole) != fmt.Sprint(part) || whole[0] == "0" || whole[0] == whole[1] {
		t.Errorf("%q are refused with scopes, %q of the lines alone", whole, part)
	}
}

// refusedBy returns how many requests each policy refuses.
func refusedBy(t *testing.T, dir string, args ...string) (refused []string) {
	out := run(t, dir, append([]string{"replay", "--no-store", "--output", "csv"}, args...)...)
	for _, row := range regexp.MustCompile(`(?m)^[^,]+,client,policy,,,\d+,(\d+),`).FindAllSubmatch(out, -1) {
		refused = append(refused, string(row[1]))
	}
	return refused
}
