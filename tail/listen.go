package tail

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// stalled is how long the tail may have no turn and still count as healthy.
const stalled = 30 * time.Second

// Handler serves /metrics and /healthz. further are shown beside the numbers of the tail.
func (m *Metrics) Handler(now func() time.Time, further ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(append(further, m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { m.health(w, now()) })
	return mux
}

// health says ok as long as the tail has its turns.
func (m *Metrics) health(w http.ResponseWriter, now time.Time) {
	s := m.latest.Load()
	switch {
	case s == nil:
		http.Error(w, "not yet begun", http.StatusServiceUnavailable)
	case now.Sub(s.at) > stalled:
		http.Error(w, fmt.Sprintf("stalled for %.0f s", now.Sub(s.at).Seconds()), http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, "ok")
	}
}

// Listen serves the handler at an address until stop is called.
func Listen(address string, h http.Handler) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	bounded := newBoundedListener(listener)
	server := &http.Server{
		Handler: h, ConnState: bounded.note, MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, // longer than between two scrapes
	}
	go func() { _ = server.Serve(bounded) }() // it ends with stop
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // the process ends anyway
	}, nil
}
