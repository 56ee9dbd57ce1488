package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shadow/policy"
	"shadow/request"
	"shadow/traffic/evidence"
	"shadow/traffic/match"
)

// The thresholds that the manual states are those by default, and those of the configuration go before them.
func TestEvidenceRules(t *testing.T) {
	text, err := os.ReadFile("../../docs/evidence.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)[1]
	config, err := policy.ParseConfig("shadow.yaml", example)
	if err != nil {
		t.Fatal(err)
	}
	said := &config.Evidence
	for _, stated := range []*int64{said.Assets, said.Rhythm, said.Haste, said.Errors, said.Sample, said.Hours, said.Agents} {
		if stated == nil {
			t.Error("the manual leaves a threshold out")
		}
	}
	if got := *evidenceRules(said); got != evidence.DefaultRules || said.Referers == nil {
		t.Errorf("the manual says %+v, the defaults are %+v", got, evidence.DefaultRules)
	}
	*said.Hours, said.Referers[1] = 20, 51
	if got := evidenceRules(said); got.Hours != 20 || got.Referers[1] != 51 {
		t.Errorf("the configuration does not count: %+v", got)
	}
}

// What the one takes the other takes, too.
func TestConfigValues(t *testing.T) {
	for _, text := range []string{
		"192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "::ffff:192.0.2.0/120", "::ffff:0:0/95", "private", "0.0.0.0/0", "::/0",
		"192.0.2.1/24", "192.0.2.300", "192.0.2.0/33", "fe80::1%eth0", "192.0.2", "", "1.2.3.4/", "01.2.3.4",
	} {
		_, here := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, "tiers: {a: {addresses: %q}}", text))
		_, there := match.NewTiers([]request.Tier{{Name: "a", Networks: []string{text}}}, nil)
		agree(t, "network", text, here, there)
	}
	for _, text := range []string{"200", "4xx", "5XX", "099", "0xx", "40", "1000", "xxx", "4x4", "599", "600", "6xx", "999", "+99"} {
		here := condition("count", "status", text)
		_, there := match.NewScopes([]request.Conditions{{Statuses: []string{text}}}, nil)
		agree(t, "status", text, here, there)
	}
	for _, text := range []string{"^/a", "(", "a{1001}", `\pL`} {
		here := condition("match", "regexp", text)
		_, there := match.NewScopes([]request.Conditions{{Regexps: []string{text}}}, nil)
		agree(t, "regexp", text, here, there)
	}
}

// condition is what policy finds wrong with a value.
func condition(scope, key, text string) error {
	_, err := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, "policies: {name: p, limits: {limit: 5/m, %s: {%s: %q}}}", scope, key, text))
	return err
}

func agree(t *testing.T, what, text string, here, there error) {
	t.Helper()
	if (here == nil) != (there == nil) {
		t.Errorf("%s %q: policy says %v, traffic %v", what, text, here, there)
	}
}

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

// refusedBy is how many requests each policy refuses.
func refusedBy(t *testing.T, dir string, args ...string) (refused []string) {
	out := run(t, dir, append([]string{"replay", "--no-store", "--output", "csv"}, args...)...)
	for _, row := range regexp.MustCompile(`(?m)^[^,]+,client,policy,,,\d+,(\d+),`).FindAllSubmatch(out, -1) {
		refused = append(refused, string(row[1]))
	}
	return refused
}
