package pipeline

import (
	"os"
	"regexp"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/traffic/evidence"
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
	for _, key := range []string{"assets", "referers", "rhythm", "haste", "errors", "sample", "hours", "agents"} {
		if said.Numbers[key] == nil {
			t.Error("the manual leaves out", key)
		}
	}
	if got := *evidenceRules(said); got != evidence.DefaultRules {
		t.Errorf("the manual says %+v, the defaults are %+v", got, evidence.DefaultRules)
	}
	said.Numbers["hours"][0], said.Numbers["referers"][1] = 20, 51
	if got := evidenceRules(said); got.Hours != 20 || got.Referers[1] != 51 {
		t.Errorf("the configuration does not count: %+v", got)
	}
}
