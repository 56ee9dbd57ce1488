//go:build unix && !nostore

package tail

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
)

// A line that comes later than the log's own lateness, though not later than hosts may lag, makes a key begin again neither in
// Redis nor here: what is remembered here would else take the place of what Redis knows, sooner or later.
func TestLateLineForgetsNothing(t *testing.T) {
	for name, trouble := range map[string]func(b *bench, s *redisServer){
		"quiet":     func(*bench, *redisServer) {},
		"compacted": func(b *bench, _ *redisServer) { check(b.t, b.tail.compact()) },
		"restarted": func(b *bench, _ *redisServer) { b.stop(); b.start() },
		"emptied":   func(_ *bench, s *redisServer) { s.Kill(); s.Start() },
	} {
		t.Run(name, func(t *testing.T) {
			s := startRedis(t)
			b := newBench(t, "token:6/24h")
			b.change = func(o *Options) { o.From = follow.FromCheckpoint; s.join(o, "host") }
			b.start()
			write := func(n int) {
				for range n {
					b.append("access.log", line(1, b.now))
					b.step(time.Second)
				}
			}
			write(20)
			b.append("access.log", line(1, b.now.Add(-14*time.Second)))
			b.step(time.Second)
			trouble(b, s)
			write(20)
			b.step(6 * time.Second)
			b.step(6 * time.Second) // the clock of a log that was just opened goes on from here
			b.stop()
			told := strings.Split(strings.TrimSpace(b.told()), "\n")
			if admitted := 41 - len(told); admitted != 6 {
				t.Errorf("%d requests are admitted, want 6", admitted)
			}
			for _, text := range told {
				var e struct {
					RetryAfter float64 `json:"retry_after"`
				}
				check(t, json.Unmarshal([]byte(text), &e))
				if e.RetryAfter < 3*3600 || e.RetryAfter > 4*3600+7 {
					t.Fatalf("retry_after is wrong: %s", text)
				}
			}
			if n := b.tail.Tally().Late; n != 1 {
				t.Errorf("%d requests are late, want 1", n)
			}
		})
	}
}

// A tail that was degraded when it ended is degraded when it begins again, before anything is judged.
func TestDegradedFromTheCheckpoint(t *testing.T) {
	w := startTroubled(t)
	w.run(10)
	w.server.Kill()
	w.run(10)
	w.server.Start()
	w.stop()
	w.change = func(o *Options) {
		o.Metrics = w.metrics
		w.server.joinWithin(o, "host", patienceWithRedis, w.trips)
	}
	w.metrics = new(Metrics)
	w.start()
	defer w.stop()
	w.step(0)
	w.wantShown("after", map[string]float64{"shadow_degraded policy=window:4/20s": 1})
}
