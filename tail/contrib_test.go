package tail

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// What contrib/ and the page ask for are metrics that there are.
func TestContribAndPageNameMetricsThatThereAre(t *testing.T) {
	descriptions := make(chan *prometheus.Desc, 100)
	new(Metrics).Describe(descriptions)
	NewTrips().Describe(descriptions)
	close(descriptions)
	known := map[string]bool{}
	for d := range descriptions {
		known[regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1]] = false
	}
	for _, name := range []string{"../contrib/tail/alerts.yml", "../contrib/tail/grafana.json", "../docs/tail.md"} {
		text, err := os.ReadFile(name)
		check(t, err)
		for _, metric := range regexp.MustCompile(`\bshadow_\w+`).FindAllString(string(text), -1) {
			metric = strings.TrimSuffix(metric, "_bucket") // of a histogram
			if _, ok := known[metric]; !ok {
				t.Errorf("%s: there is no metric %s", name, metric)
			}
			known[metric] = known[metric] || filepath.Ext(name) == ".md"
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
	for metric, told := range known {
		if !told {
			t.Errorf("docs/tail.md does not tell of %s", metric)
		}
	}
}
