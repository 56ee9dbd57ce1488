//go:build !nostore

package tail

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// stalled is the longest that the tail may have no turn and still count as healthy.
const stalled = 30 * time.Second

// buildInfo is shadow_build_info, a 1 that says by its labels which program runs.
func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shadow_build_info", Help: "Which program runs: always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
}

// landing is the page that a browser shows of the address.
const landing = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>shadow tail</title></head><body>
<h1>shadow tail</h1>
<p>This tail reports who a rate limit would block. It blocks no client.</p>
<ul><li><a href="metrics">metrics</a> for Prometheus</li><li><a href="healthz">healthz</a>: whether it works</li></ul>
</body></html>
`

// handler serves /metrics and /healthz, and / that names them. further are shown beside the numbers of the tail.
func (m *Metrics) handler(version string, now func() time.Time, further ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(append(further, m, buildInfo(version), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		s, now := m.latest.Load(), now()
		switch {
		case s == nil:
			http.Error(w, "not yet begun", http.StatusServiceUnavailable)
		case now.Sub(s.at) > stalled:
			http.Error(w, fmt.Sprintf("stalled for %.0f s", now.Sub(s.at).Seconds()), http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ok")
		}
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, landing) // who asked may be gone
	})
	return mux
}

// Listen serves the metrics at an address, with those of asking Redis unless they are nil, until stop is called; and a page
// below a path, unless it is nil. It returns where it listens.
func (m *Metrics) Listen(address, version string, redis *RedisMetrics, path string, page http.Handler) (at string, stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	var further []prometheus.Collector
	if redis != nil {
		further = append(further, redis)
	}
	bounded := &boundedListener{Listener: listener, max: max(2, min(maxConnections, maxFiles()/8)), open: map[net.Conn]bool{}}
	mux := http.NewServeMux()
	mux.Handle("/", m.handler(version, time.Now, further...))
	if page != nil {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // an answer may take minutes
			page.ServeHTTP(w, r)
		})
	}
	server := &http.Server{
		Handler: mux, ConnState: bounded.note, MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, // longer than between two scrapes
	}
	go func() { _ = server.Serve(bounded) }() // it ends with stop
	return listener.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
		defer cancel()
		_, _ = server.Shutdown(ctx), server.Close() // a connection without a request holds nothing up
	}, nil
}

// lastAnswers bounds the time for answers that are under way when a tail ends: less than until it is ended by force.
const lastAnswers = 200 * time.Millisecond

// Programs that may connect to --listen must not be able to take the file descriptors that the tail reads its logs
// with. There is room for a few connections. When there are too many, the one goes that has been without a request for
// longest; so a program that leaves connections open does not keep out those that ask.

// maxConnections is the most connections that are open at a time. A process with few file descriptors has room for
// less.
const maxConnections = 64

// A boundedListener accepts connections, and closes others for them.
type boundedListener struct {
	net.Listener
	max   int
	mu    sync.Mutex
	open  map[net.Conn]bool
	quiet []net.Conn // those of open that have no request, in the order in which they became so
}

// Accept returns the next connection, for which there is room.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.admit(c) {
			return c, nil
		}
		c.Close() //nolint:errcheck // it is given up
	}
}

// admit makes room for a connection. It reports false if all others have a request.
func (l *boundedListener) admit(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		if len(l.quiet) == 0 {
			return false
		}
		oldest := l.quiet[0]
		l.forget(oldest)
		oldest.Close() //nolint:errcheck // it is given up
	}
	l.open[c] = true
	l.quiet = append(l.quiet, c)
	return true
}

// note is the ConnState of the server.
func (l *boundedListener) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[c] {
		return
	}
	switch state {
	case http.StateActive:
		l.quiet = without(l.quiet, c)
	case http.StateIdle:
		l.quiet = append(l.quiet, c)
	case http.StateClosed, http.StateHijacked:
		l.forget(c)
	}
}

func (l *boundedListener) forget(c net.Conn) {
	delete(l.open, c)
	l.quiet = without(l.quiet, c)
}

func without(all []net.Conn, c net.Conn) []net.Conn {
	return slices.DeleteFunc(all, func(other net.Conn) bool { return other == c })
}
