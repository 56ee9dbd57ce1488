package tail

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shadow/escape"
)

// Metrics are the running numbers for Prometheus. The tail leaves a copy of them now and then; whoever asks gets the latest
// one, so nobody who asks can hold up the tail. Clients are in no label: there are too many of them, and whoever may read
// metrics need not know who visits the site.

// Metrics show the numbers of a tail. Any number of goroutines may ask for them.
type Metrics struct{ latest atomic.Pointer[snapshot] }

// A snapshot is the numbers of one moment.
type snapshot struct {
	at       time.Time // when the tail last had its turn
	tally    Tally
	lagBytes int64
	lag      time.Duration
	waiting  int
	keys     int
	logs     int
	absent   int
	saved    time.Time // when the last checkpoint was written; the zero time: there is none to be
	backlog  Backlog
}

// How often numbers are left, and how often keys are counted, which takes longer.
const (
	showEvery  = time.Second
	countEvery = 10 * time.Second
)

// show leaves the numbers for Metrics.
func (t *Tail) show(now time.Time) {
	m := t.options.Metrics
	if m == nil || now.Sub(t.shown) < showEvery && !t.shown.IsZero() {
		return
	}
	if t.shown = now; t.counted.IsZero() || now.Sub(t.counted) >= countEvery {
		t.counted, t.keys = now, t.judge.Keys()
	}
	s := &snapshot{at: now, tally: t.tally.copy(), waiting: t.stream.Waiting(), keys: t.keys, logs: t.set.Followed(), absent: t.set.Absent()}
	if t.options.State != "" {
		s.saved = t.saved
	}
	s.lagBytes, s.lag = t.Lag(now)
	s.backlog = t.spool.backlog()
	m.latest.Store(s)
}

var (
	linesDesc      = describe("lines_total", "Lines read.")
	unreadableDesc = describe("unreadable_lines_total", "Lines that are no request.")
	excludedDesc   = describe("excluded_requests_total", "Requests that were left out by --exclude.")
	notHTTPDesc    = describe("not_http_lines_total", "Lines whose request is not HTTP, by status: no limiter sees them, and they are not judged without --not-http judge.", "status")
	lateDesc       = describe("late_requests_total", "Requests that came too late for their place in time.")
	requestsDesc   = describe("requests_total", "Requests judged.")
	refusedDesc    = describe("refused_requests_total", "Requests that a policy would have refused, by action and by what their agent claims to be.", "policy", "action", "class")
	delayedDesc    = describe("delayed_requests_total", "Requests that a policy would have kept waiting.", "policy")
	degradedDesc   = describe("degraded_requests_total", "Requests judged while the hosts that share a policy's limit might have decided otherwise together.", "policy")
	truncatedDesc  = describe("truncated_logs_total", "Times that a log was truncated; what was written to it since it was copied is lost.")
	lostDesc       = describe("lost_files_total", "Files of which the rest was never read.")
	isDegradedDesc = describe("degraded", "1 while a policy's verdicts are such, else 0.", "policy")
	lagBytesDesc   = describe("lag_bytes", "Bytes of the logs that have not been read.")
	lagDesc        = describe("lag_seconds", "How long ago everything had been read.")
	waitingDesc    = describe("waiting_requests", "Requests that wait for older ones.")
	keysDesc       = describe("keys", "Keys that the limits remember.")
	forgottenDesc  = describe("forgotten_keys_total", "Keys that were forgotten before their time, because of --max-keys.")
	logsDesc       = describe("logs", "Logs that are followed.")
	absentDesc     = describe("absent_logs", "Logs that are not there yet, or cannot be read, and patterns that match none.")
	savedDesc      = describe("checkpoint_timestamp_seconds", "When the last checkpoint was written; not there without --state.")
	spoolDesc      = describe("spool_batches", "Batches that wait for the database.")
	spoolBytesDesc = describe("spool_bytes", "Bytes of the batches that wait for the database.")
	hinderedDesc   = describe("spool_waiting_seconds", "For how long the database has taken nothing; 0 if it does.")
	spoolFullDesc  = describe("spool_full", "1 while nothing is read because too much waits for the database.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("shadow_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		linesDesc, unreadableDesc, excludedDesc, notHTTPDesc, lateDesc, truncatedDesc, lostDesc, requestsDesc,
		refusedDesc, delayedDesc, degradedDesc, isDegradedDesc, lagBytesDesc, lagDesc,
		waitingDesc, keysDesc, forgottenDesc, logsDesc, absentDesc, savedDesc, spoolDesc, spoolBytesDesc, hinderedDesc, spoolFullDesc,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	s := m.latest.Load()
	if s == nil {
		return
	}
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		put(d, prometheus.CounterValue, float64(n), labels...)
	}
	count(linesDesc, s.tally.Lines)
	count(unreadableDesc, s.tally.Unreadable)
	count(excludedDesc, s.tally.Excluded)
	for _, s := range s.tally.NotHTTP {
		count(notHTTPDesc, s.Lines, strconv.Itoa(int(s.Status)))
	}
	count(lateDesc, s.tally.Late)
	count(truncatedDesc, s.tally.Truncated)
	count(lostDesc, s.tally.Lost)
	count(requestsDesc, s.tally.Requests)
	count(forgottenDesc, s.tally.Forgotten)
	for _, p := range s.tally.Policies {
		name := label(p.Name)
		count(delayedDesc, p.Delayed, name)
		count(degradedDesc, p.Degraded, name)
		put(isDegradedDesc, prometheus.GaugeValue, oneIf(p.IsDegraded), name)
		for _, r := range p.labelled() {
			count(refusedDesc, r.Refused, name, r.Action, r.Class)
		}
	}
	put(lagBytesDesc, prometheus.GaugeValue, float64(s.lagBytes))
	put(lagDesc, prometheus.GaugeValue, s.lag.Seconds())
	put(waitingDesc, prometheus.GaugeValue, float64(s.waiting))
	put(keysDesc, prometheus.GaugeValue, float64(s.keys))
	put(logsDesc, prometheus.GaugeValue, float64(s.logs))
	put(absentDesc, prometheus.GaugeValue, float64(s.absent))
	if !s.saved.IsZero() {
		put(savedDesc, prometheus.GaugeValue, float64(s.saved.Unix()))
	}
	put(spoolDesc, prometheus.GaugeValue, float64(s.backlog.Batches))
	put(spoolBytesDesc, prometheus.GaugeValue, float64(s.backlog.Bytes))
	put(hinderedDesc, prometheus.GaugeValue, s.backlog.Hindered.Seconds())
	put(spoolFullDesc, prometheus.GaugeValue, oneIf(s.backlog.Full))
}

// maxActions is how many actions of a policy have labels of their own: those that were refused first. The others share one,
// so that whoever scans a site for paths cannot fill the memory of Prometheus.
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

// label is a text as a label may be: valid, and harmless for a terminal.
func label(text string) string { return escape.Visible(text) }

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
