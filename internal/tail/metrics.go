package tail

import (
	"sync/atomic"
	"time"

	"shadow/internal/escape"
)

// Metrics are the running numbers for Prometheus. The tail leaves a copy of them now and then, and a program that asks
// gets the latest one, so that none can hold up the tail. Clients are in no label: there are too many of them, and
// those who may read metrics need not know who visits the site.

// Metrics show the numbers of a tail. Any number of goroutines may ask for them.
type Metrics struct{ latest atomic.Pointer[numbers] }

// numbers holds the numbers of one moment.
type numbers struct {
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
	hits     []hit
}

// How often numbers are left, and how often keys are counted, which takes longer.
const (
	showEvery  = time.Second
	countEvery = 10 * time.Second
)

// A metricsTimer is when that was last done, and how many keys there were.
type metricsTimer struct {
	shown, counted time.Time
	keys           int
}

// showMetrics leaves the numbers for Metrics.
func (t *Tail) showMetrics(now time.Time) {
	m, last := t.options.Metrics, &t.metrics
	if m == nil || now.Sub(last.shown) < showEvery && !last.shown.IsZero() {
		return
	}
	if last.shown = now; last.counted.IsZero() || now.Sub(last.counted) >= countEvery {
		last.counted, last.keys = now, t.judge.Keys()
	}
	t.events.feed.advance(now)
	n := &numbers{
		at: now, tally: t.tally.copy(), waiting: t.stream.Waiting(), keys: last.keys, logs: t.set.Followed(), absent: t.set.Absent(),
		backlog: t.spool.backlog(), hits: t.events.feed.hits(),
	}
	if t.options.State != "" {
		n.saved = t.saves.at
	}
	n.lagBytes, n.lag = t.Lag(now)
	m.latest.Store(n)
}

// label is a text as a label may be: valid, and harmless for a terminal.
func label(text string) string { return escape.Visible(text) }
