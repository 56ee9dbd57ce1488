//go:build !nostore

package tail

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
	"shadow/internal/testneeds"
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

// A dashboard is the part of it that asks.
type dashboard struct {
	Panels []struct {
		Title   string
		Type    string
		Targets []struct{ Expr string }
	}
}

// Each question of the dashboard has an answer of a Prometheus that scrapes a tail; the figures of its first row are
// those of the tail.
func TestDashboardAsksPrometheus(t *testing.T) {
	program := testneeds.Program(t, "prometheus")
	text, err := os.ReadFile("../../contrib/tail/grafana.json")
	check(t, err)
	var board dashboard
	check(t, json.Unmarshal(text, &board))

	s := newStored(t, "token:1/10s")
	with, m, trips := s.change, new(Metrics), NewRedisMetrics()
	s.change = func(o *Options) { with(o); o.From, o.Metrics = follow.FromStart, m }
	s.append("access.log", line(9, s.now))
	s.start()
	defer s.stop()
	registered := m.handler("1.2.3", func() time.Time { return s.now }, trips)
	scraped := httptest.NewServer(registered)
	defer scraped.Close()

	address := freeAddress(t)
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 500ms}\nscrape_configs: [{job_name: shadow, static_configs: [{targets: ['%s']}]}]\n",
		strings.TrimPrefix(scraped.URL, "http://"))
	check(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	prometheus := exec.Command(program, "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address="+address)
	prometheus.Dir = dir
	check(t, prometheus.Start())
	defer func() { _ = prometheus.Wait() }()         // it was killed
	defer func() { _ = prometheus.Process.Kill() }() // it may have ended

	empty, deadline := []string{"all"}, time.Now().Add(time.Minute)
	for len(empty) > 0 && time.Now().Before(deadline) {
		for client := range 3 { // one of them sends most
			s.append("access.log", strings.Repeat(line(client, s.now), 2+2*client)+"rubbish\n")
		}
		trips.See(time.Millisecond, errors.New("no answer"))
		s.step(time.Second)
		time.Sleep(500 * time.Millisecond)
		empty = nil
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				values, err := ask(address, target.Expr)
				switch {
				case err != nil:
					empty = append(empty, fmt.Sprintf("%s: %v", panel.Title, err))
				case len(values) == 0:
					empty = append(empty, panel.Title+": "+target.Expr)
				case panel.Type == "stat" && !strings.Contains(panel.Title, "Browsers") && values[0] <= 0:
					empty = append(empty, panel.Title+": nothing is refused")
				}
			}
		}
	}
	for _, text := range empty {
		t.Error(text)
	}
	if clients, err := ask(address, `sum(shadow_clients_hit)`); err != nil || clients[0] != 3 {
		t.Errorf("%v clients are hit, %v", clients, err)
	}
}

// freeAddress returns one of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// ask returns the values that answer a question of the dashboard.
func ask(address, question string) (values []float64, err error) {
	question = strings.NewReplacer("$instance", ".+", "$policy", "token:1/10s", "$__rate_interval", "30s").Replace(question)
	answer, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(question))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil || found.Error != "" {
		return nil, fmt.Errorf("%s: %s, %w", question, found.Error, err)
	}
	for _, r := range found.Data.Result {
		var value float64
		if _, err := fmt.Sscan(fmt.Sprint(r.Value[1]), &value); err == nil {
			values = append(values, value)
		}
	}
	return values, nil
}
