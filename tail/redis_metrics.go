package tail

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RedisMetrics are how often Redis was asked, how long it took, how often there was no answer, and whether there is now.
// Any number of goroutines may use them.
type RedisMetrics struct {
	took   prometheus.Histogram
	failed prometheus.Counter
	up     prometheus.Gauge
	away   atomic.Pointer[time.Time] // since when there was no answer; nil: there was one
}

// NewRedisMetrics returns metrics of no round trip yet.
func NewRedisMetrics() *RedisMetrics {
	return &RedisMetrics{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shadow_redis_round_trip_seconds", Help: "How long Redis took to judge some requests, or to fail.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shadow_redis_errors_total", Help: "Round trips to Redis in which not all was answered.",
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
