//go:build !nostore

package tail

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"shadow/internal/logfile/follow"
)

// scrape asks as Prometheus does, and returns the values by their names and labels.
func scrape(t *testing.T, m *Metrics, now func() time.Time, further ...prometheus.Collector) map[string]float64 {
	t.Helper()
	server := httptest.NewServer(m.handler("1.2.3", now, further...))
	defer server.Close()
	answer, err := http.Get(server.URL + "/metrics")
	check(t, err)
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	check(t, err)
	values := map[string]float64{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			key := strings.Join(append([]string{name}, labels...), " ")
			values[key] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// The numbers that Prometheus reads are those of the tally, and no client is among them.
func TestMetrics(t *testing.T) {
	b := newBench(t, "token:2/10s")
	m := new(Metrics)
	b.change = func(o *Options) { o.From, o.Metrics = follow.FromStart, m }
	for i := range 10 {
		b.append("access.log", line(1+i%2, b.now.Add(time.Duration(i)*time.Millisecond)))
	}
	b.append("access.log", "rubbish\n")
	b.append("access.log", strings.ReplaceAll(line(3, b.now), "/page0", "/\xff\"\\\\n"))
	b.start()
	b.step(0)
	b.step(10 * time.Second)
	b.append("access.log", "half a li")
	b.step(2 * time.Second)
	defer b.stop()
	values := scrape(t, m, func() time.Time { return b.now })
	for name, want := range map[string]float64{
		"shadow_build_info goversion=" + runtime.Version() + " version=1.2.3": 1,
		"shadow_lines_total":                                  12,
		"shadow_unreadable_lines_total":                       1,
		"shadow_requests_total":                               11,
		"shadow_late_requests_total":                          0,
		"shadow_waiting_requests":                             0,
		"shadow_keys":                                         3,
		"shadow_logs":                                         1,
		"shadow_lag_bytes":                                    9,
		"shadow_lag_seconds":                                  0,
		"shadow_clients_hit class=tool policy=token:2/10s":    2,
		"shadow_clients_hit class=browser policy=token:2/10s": 0,
		"shadow_worst_client_refused policy=token:2/10s":      3,
		"shadow_refused_requests_total action=/page1 class=tool policy=token:2/10s": 3,
		"shadow_refused_requests_total action=/page2 class=tool policy=token:2/10s": 3,
	} {
		if got, shown := values[name]; !shown || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, shown, want)
		}
	}
	for name := range values {
		if strings.Contains(name, "192.0.2.") {
			t.Errorf("a client is in a label: %s", name)
		}
	}
}

// The address itself names what there is; no other name is anything.
func TestLanding(t *testing.T) {
	handler := new(Metrics).handler("1.2.3", time.Now)
	for path, want := range map[string]int{"/": http.StatusOK, "/metrics": http.StatusOK, "/other": http.StatusNotFound} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if path == "/" && (!strings.Contains(w.Body.String(), `href="metrics"`) || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")) {
			t.Errorf("/ is %s", w.Body)
		}
	}
}

// Without --state there is no checkpoint whose age could alarm the user.
func TestCheckpointTime(t *testing.T) {
	for state, want := range map[string]bool{"state": true, "": false} {
		b := newBench(t, "token:2/10s")
		m := new(Metrics)
		b.change = func(o *Options) {
			if o.Metrics = m; state == "" {
				o.State, o.From = "", follow.FromEnd
			}
		}
		b.start()
		b.step(time.Hour)
		value, shown := scrape(t, m, func() time.Time { return b.now })["shadow_checkpoint_timestamp_seconds"]
		if shown != want || shown && time.Duration(b.now.Unix()-int64(value))*time.Second > time.Hour {
			t.Errorf("with state %q: %v (%v)", state, value, shown)
		}
		b.stop()
	}
}

// Labels are bounded and valid, whatever paths come.
func TestLabels(t *testing.T) {
	p := PolicyTally{Name: "p"}
	for i := range 1000 {
		p.By = append(p.By, Refusals{Action: "/" + strings.Repeat("x", i), Class: "tool", Refused: 1})
	}
	p.By = append(p.By, Refusals{Action: "/\xfe", Class: "tool", Refused: 1}, Refusals{Action: "/\xff", Class: "tool", Refused: 1})
	var sum int64
	for _, r := range p.labelled() {
		sum += r.Refused
	}
	if got := len(p.labelled()); got != maxActions+1 || sum != 1002 {
		t.Errorf("%d labels with %d requests, want %d with 1002", got, sum, maxActions+1)
	}
	p = PolicyTally{By: []Refusals{{Action: "/\xfe", Class: "tool", Refused: 1}, {Action: `/\xfe`, Class: "tool", Refused: 2}}}
	if all := p.labelled(); len(all) != 1 || all[0].Refused != 3 {
		t.Errorf("two actions of one label are %v", all)
	}
	p = PolicyTally{By: []Refusals{{Action: "/\x1b[31m\u202e\u200b\u0085é", Class: "tool", Refused: 1}}}
	if got, want := p.labelled()[0].Action, `/\x1b[31m\u202e\u200b\u0085é`; got != want {
		t.Errorf("the label is %q, want %q", got, want)
	}
}

func TestHealth(t *testing.T) {
	m := new(Metrics)
	now := time.Unix(1000, 0)
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		m.handler("1.2.3", func() time.Time { return now }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		text, _ := io.ReadAll(w.Body)
		return w.Code, string(text)
	}
	if code, text := ask(); code != 503 || text != "not yet begun\n" {
		t.Errorf("before the beginning: %d %q", code, text)
	}
	m.latest.Store(&numbers{at: now})
	if code, text := ask(); code != 200 || text != "ok\n" {
		t.Errorf("at work: %d %q", code, text)
	}
	now = now.Add(stalled + time.Second)
	if code, text := ask(); code != 503 || text != "stalled for 31 s\n" {
		t.Errorf("stalled: %d %q", code, text)
	}
}

// Without a checkpoint there is no age of one, which would be an alarm.
func TestNoCheckpointNoAge(t *testing.T) {
	for _, state := range []string{"", "state"} {
		b, m := newBench(t, "token:2/10s"), new(Metrics)
		b.change = func(o *Options) {
			o.Metrics = m
			if o.State = state; state != "" {
				o.State = b.path(state)
			}
		}
		b.start()
		b.step(time.Second)
		if _, shown := scrape(t, m, func() time.Time { return b.now })["shadow_checkpoint_timestamp_seconds"]; shown != (state != "") {
			t.Errorf("--state %q: %v", state, shown)
		}
		b.stop()
	}
}
