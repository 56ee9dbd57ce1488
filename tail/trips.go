package tail

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Trips are the metrics of asking Redis: how often, how long it took, and how often there was no answer.
type Trips struct {
	took   prometheus.Histogram
	failed prometheus.Counter
}

// NewTrips returns Trips of which there was none yet.
func NewTrips() *Trips {
	return &Trips{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "shadow_redis_round_trip_seconds", Help: "How long Redis took to judge some requests, or to fail.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "shadow_redis_errors_total", Help: "Round trips to Redis in which not all was answered.",
		}),
	}
}

// See takes in a round trip.
func (s *Trips) See(took time.Duration, err error) {
	s.took.Observe(took.Seconds())
	if err != nil {
		s.failed.Inc()
	}
}

// Describe implements prometheus.Collector.
func (s *Trips) Describe(to chan<- *prometheus.Desc) {
	s.took.Describe(to)
	s.failed.Describe(to)
}

// Collect implements prometheus.Collector.
func (s *Trips) Collect(to chan<- prometheus.Metric) {
	s.took.Collect(to)
	s.failed.Collect(to)
}
