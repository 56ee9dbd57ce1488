//go:build !nostore

package tail

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shadow/internal/request"
)

// The numbers as Prometheus wants them, and those of Redis.

// A metric is one without labels.
type metric struct {
	*prometheus.Desc
	kind  prometheus.ValueType
	value func(*numbers) float64
}

var plainMetrics = []metric{
	total("lines_total", "Lines read.", func(t *Tally) int64 { return t.Lines }),
	total("unreadable_lines_total", "Lines that are no request.", func(t *Tally) int64 { return t.Unreadable }),
	total("excluded_requests_total", "Requests that were left out by --exclude.", func(t *Tally) int64 { return t.Excluded }),
	total("late_requests_total", "Requests that came too late for their place in time.", func(t *Tally) int64 { return t.Late }),
	total("truncated_logs_total", "Times that a log was truncated; what was written to it since it was copied is lost.",
		func(t *Tally) int64 { return t.Truncated }),
	total("lost_files_total", "Files whose rest was never read.", func(t *Tally) int64 { return t.Lost }),
	total("requests_total", "Requests judged.", func(t *Tally) int64 { return t.Requests }),
	total("forgotten_keys_total", "Keys that were forgotten before their time, because of --max-keys.", func(t *Tally) int64 { return t.Forgotten }),
	gauge("lag_bytes", "Bytes of the logs that have not been read.", func(n *numbers) float64 { return float64(n.lagBytes) }),
	gauge("lag_seconds", "How long ago everything had been read.", func(n *numbers) float64 { return n.lag.Seconds() }),
	gauge("waiting_requests", "Requests that wait for older ones.", func(n *numbers) float64 { return float64(n.waiting) }),
	gauge("keys", "Keys that the limits remember.", func(n *numbers) float64 { return float64(n.keys) }),
	gauge("logs", "Logs that are followed.", func(n *numbers) float64 { return float64(n.logs) }),
	gauge("absent_logs", "Logs that are not there yet, or cannot be read, and patterns that match none.",
		func(n *numbers) float64 { return float64(n.absent) }),
	gauge("spool_batches", "Batches that wait for the database.", func(n *numbers) float64 { return float64(n.backlog.Batches) }),
	gauge("spool_bytes", "Bytes of the batches that wait for the database.", func(n *numbers) float64 { return float64(n.backlog.Bytes) }),
	gauge("spool_waiting_seconds", "For how long the database has taken nothing; 0 if it does.",
		func(n *numbers) float64 { return n.backlog.Hindered.Seconds() }),
	gauge("spool_full", "1 while nothing is read because too much waits for the database.", func(n *numbers) float64 { return oneIf(n.backlog.Full) }),
}

// Those with labels, and one that is not always there.
var (
	notHTTPDesc    = describe("not_http_lines_total", "Lines whose request is not HTTP, by status: no limiter sees them, and they are not judged without --not-http judge.", "status")
	refusedDesc    = describe("refused_requests_total", "Requests that a policy would have refused, by action and by what their agent claims to be.", "policy", "action", "class")
	delayedDesc    = describe("delayed_requests_total", "Requests that a policy would have kept waiting.", "policy")
	degradedDesc   = describe("degraded_requests_total", "Requests judged while the hosts that share a policy's limit might have decided otherwise together.", "policy")
	hitDesc        = describe("clients_hit", "Clients that a policy would have refused in the last five minutes, by what their agent claims to be.", "policy", "class")
	worstDesc      = describe("worst_client_refused", "Requests of one client that a policy would have refused in the last five minutes: of the one refused most.", "policy")
	isDegradedDesc = describe("degraded", "1 while a policy's verdicts are such, else 0.", "policy")
	savedDesc      = describe("checkpoint_timestamp_seconds", "When the last checkpoint was written; not there without --state.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("shadow_"+name, help, labels, nil)
}

func total(name, help string, value func(*Tally) int64) metric {
	return metric{describe(name, help), prometheus.CounterValue, func(n *numbers) float64 { return float64(value(&n.tally)) }}
}

func gauge(name, help string, value func(*numbers) float64) metric {
	return metric{describe(name, help), prometheus.GaugeValue, value}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, m := range plainMetrics {
		to <- m.Desc
	}
	for _, d := range []*prometheus.Desc{notHTTPDesc, refusedDesc, delayedDesc, degradedDesc, hitDesc, worstDesc, isDegradedDesc, savedDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	n := m.latest.Load()
	if n == nil {
		return
	}
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		put(d, prometheus.CounterValue, float64(n), labels...)
	}
	for _, m := range plainMetrics {
		put(m.Desc, m.kind, m.value(n))
	}
	for _, s := range n.tally.NotHTTP {
		count(notHTTPDesc, s.Lines, strconv.Itoa(int(s.Status)))
	}
	for i, p := range n.tally.Policies {
		name := label(p.Name)
		put(worstDesc, prometheus.GaugeValue, float64(n.hits[i].worst), name)
		for class, clients := range n.hits[i].clients {
			put(hitDesc, prometheus.GaugeValue, float64(clients), name, request.Class(class).String())
		}
		count(delayedDesc, p.Delayed, name)
		count(degradedDesc, p.Degraded, name)
		put(isDegradedDesc, prometheus.GaugeValue, oneIf(p.IsDegraded), name)
		for _, r := range p.labelled() {
			count(refusedDesc, r.Refused, name, r.Action, r.Class)
		}
	}
	if !n.saved.IsZero() {
		put(savedDesc, prometheus.GaugeValue, float64(n.saved.Unix()))
	}
}

// maxActions is the most actions of a policy that have labels of their own: those that were refused first. The others
// share one, so that a client that scans a site for paths cannot fill the memory of Prometheus.
const (
	maxActions   = 100
	otherActions = "(other)"
)

// labelled are the refused requests by labels, each pair of which occurs once.
func (p *PolicyTally) labelled() []Refusals {
	var all PolicyTally
	all.begin()
	own := map[string]bool{}
	for _, r := range p.By {
		action := label(r.Action)
		if !own[action] && len(own) == maxActions {
			action = otherActions
		} else {
			own[action] = true
		}
		all.By[all.place(pair{action, r.Class})].Refused += r.Refused
	}
	slices.SortFunc(all.By, func(x, y Refusals) int {
		return cmp.Or(strings.Compare(x.Action, y.Action), strings.Compare(x.Class, y.Class))
	})
	return all.By
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// RedisMetrics are the metrics of asking Redis: how often, how long it took, how often there was no answer, and whether there is now.
// Any number of goroutines may use them.
type RedisMetrics struct {
	took   prometheus.Histogram
	failed prometheus.Counter
	up     prometheus.Gauge
	away   atomic.Pointer[time.Time] // since when there was no answer; nil: there was one
}

// NewRedisMetrics returns RedisMetrics of which there was none yet.
func NewRedisMetrics() *RedisMetrics {
	return &RedisMetrics{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shadow_redis_round_trip_seconds", Help: "How long Redis took to judge some requests, or to fail.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shadow_redis_errors_total", Help: "Round trips to Redis with a part unanswered.",
		}),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "shadow_redis_up", Help: "1 if Redis answered when it was last asked, else 0.",
		}),
	}
}

// See takes in a round trip.
func (s *RedisMetrics) See(took time.Duration, err error) {
	s.took.Observe(took.Seconds())
	if err != nil {
		s.failed.Inc()
	}
	s.Reach(err)
}

// Reach takes in whether Redis answers.
func (s *RedisMetrics) Reach(err error) {
	s.up.Set(oneIf(err == nil))
	switch {
	case err == nil:
		s.away.Store(nil)
	case s.away.Load() == nil:
		now := time.Now()
		s.away.Store(&now)
	}
}

// Away is since when Redis has not answered, the zero time if it did when it was last asked.
func (s *RedisMetrics) Away() (since time.Time) {
	if at := s.away.Load(); at != nil {
		since = *at
	}
	return since
}

// Describe implements prometheus.Collector.
func (s *RedisMetrics) Describe(to chan<- *prometheus.Desc) {
	s.took.Describe(to)
	s.failed.Describe(to)
	s.up.Describe(to)
}

// Collect implements prometheus.Collector.
func (s *RedisMetrics) Collect(to chan<- prometheus.Metric) {
	s.took.Collect(to)
	s.failed.Collect(to)
	s.up.Collect(to)
}
