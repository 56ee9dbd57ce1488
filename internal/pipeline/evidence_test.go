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
