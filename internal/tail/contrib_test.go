//go:build !nostore

package tail

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
)

// exposed returns what Prometheus gets from a tail with everything: the names of metrics, and those of labels.
func exposed(t *testing.T) (metrics, labels map[string]bool) {
	t.Helper()
	s := newStored(t, "token:1/10s")
	with, m, trips := s.change, new(Metrics), NewRedisMetrics()
	s.change = func(o *Options) { with(o); o.From, o.Metrics = follow.FromStart, m }
	s.append("access.log", strings.Repeat(line(1, s.now), 3)+strings.Replace(line(1, s.now), "GET /page1 HTTP/1.1", "-", 1))
	s.start()
	defer s.stop()
	trips.See(time.Millisecond, errors.New("no answer"))
	s.step(0)
	s.step(10 * time.Second)
	s.step(2 * time.Second)
	metrics, labels = map[string]bool{}, map[string]bool{"instance": true, "job": true, "le": true} // which Prometheus adds, and histograms
	for key := range scrape(t, m, func() time.Time { return s.now }, trips) {
		words := strings.Split(key, " ")
		metrics[words[0]] = true
		for _, pair := range words[1:] {
			label, _, _ := strings.Cut(pair, "=")
			labels[label] = true
		}
	}
	return metrics, labels
}

// What contrib/ and the page ask for is there, and the page tells of all there is.
func TestContribAndPageNameMetricsThatThereAre(t *testing.T) {
	metrics, labels := exposed(t)
	told := map[string]bool{}
	for _, name := range []string{"../../contrib/tail/alerts.yml", "../../contrib/tail/grafana.json", "../../docs/tail.md"} {
		text, err := os.ReadFile(name)
		check(t, err)
		for _, metric := range regexp.MustCompile(`\bshadow_\w+`).FindAllString(string(text), -1) {
			metric = strings.TrimSuffix(strings.TrimSuffix(metric, "_bucket"), "_count") // of a histogram
			if !metrics[metric] {
				t.Errorf("%s: there is no metric %s", name, metric)
			}
			told[metric] = told[metric] || filepath.Ext(name) == ".md"
		}
		for _, list := range regexp.MustCompile(`(?:by|on) \(([\w, ]+)\)|\{(\w+)[=~]+|\$labels\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			for _, label := range regexp.MustCompile(`\w+`).FindAllString(strings.Join(list[1:], " "), -1) {
				if !labels[label] && filepath.Ext(name) != ".md" {
					t.Errorf("%s: there is no label %s", name, label)
				}
			}
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
	for metric := range metrics {
		if strings.HasPrefix(metric, "shadow_") && !told[metric] {
			t.Errorf("docs/tail.md does not tell of %s", metric)
		}
	}
}
