//go:build unix && !nostore

package tail

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/replay"

	"shadow/internal/logfile/follow"
)

// Whatever becomes of Redis, the tail goes on at once, tells what a replay tells, marks what was decided without Redis and
// for one horizon after, and shows all that in its metrics.

// patienceWithRedis is the time-out of these tests.
const patienceWithRedis = 300 * time.Millisecond

// A troubledTail follows a log to which a request is written every 200 ms.
type troubledTail struct {
	*bench
	server  *redisServer
	metrics *Metrics
	trips   *RedisMetrics
	shelf   *shelf
	live    *Feed
	longest time.Duration // that a turn has taken
}

func startTroubled(t *testing.T) *troubledTail {
	w := &troubledTail{bench: newBench(t, "window:4/20s"), server: startRedis(t), metrics: new(Metrics), trips: NewRedisMetrics(), shelf: newShelf()}
	w.live = &Feed{Redis: w.trips}
	w.change = func(o *Options) {
		o.From, o.Metrics, o.Store, o.Feed = follow.FromStart, w.metrics, w.shelf, w.live
		w.server.joinWithin(o, "host", patienceWithRedis, w.trips)
	}
	w.start()
	return w
}

// run writes so many requests and has them judged.
func (w *troubledTail) run(requests int) {
	for i := range requests {
		w.append("access.log", line(1+i%2, w.now))
		begin := time.Now()
		w.step(200 * time.Millisecond)
		w.longest = max(w.longest, time.Since(begin))
	}
	w.step(5 * time.Second)
	w.step(time.Second) // all is judged, and shown
}

// shown are the metrics.
func (w *troubledTail) shown() map[string]float64 {
	return scrape(w.t, w.metrics, func() time.Time { return w.now }, w.trips)
}

// wait waits until Redis has been pinged, and is asked again.
func (w *troubledTail) wait() {
	w.t.Helper()
	for range 100 {
		time.Sleep(50 * time.Millisecond)
		if w.run(2); w.shown()["shadow_redis_up"] == 1 {
			return
		}
	}
	w.t.Fatal("Redis is not asked again")
}

func TestTailThroughTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end func(s *redisServer)
		silent     bool // Redis is back at once, so that nothing fails
	}{
		"killed":  {begin: (*redisServer).Kill, end: (*redisServer).Start},
		"paused":  {begin: func(s *redisServer) { s.Signal(syscall.SIGSTOP) }, end: func(s *redisServer) { s.Signal(syscall.SIGCONT) }},
		"full":    {begin: func(s *redisServer) { s.Do("CONFIG SET maxmemory 1") }, end: func(s *redisServer) { s.Do("CONFIG SET maxmemory 0") }},
		"emptied": {begin: func(s *redisServer) { s.Kill(); s.Start() }, end: func(*redisServer) {}, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := startTroubled(t)
			w.run(50)
			w.wantShown("before", map[string]float64{
				"shadow_redis_up": 1, "shadow_redis_errors_total": 0, "shadow_degraded policy=window:4/20s": 0,
				"shadow_degraded_requests_total policy=window:4/20s": 0,
			})
			w.wantSnapshot("before", false, false)
			c.begin(w.server)
			w.run(50)
			w.wantSnapshot("during", !c.silent, true)
			during := w.shown()
			if !c.silent && (during["shadow_redis_up"] != 0 || during["shadow_redis_errors_total"] == 0) || during["shadow_degraded policy=window:4/20s"] != 1 {
				t.Errorf("during the trouble the metrics are %v", during)
			}
			c.end(w.server)
			w.wait()
			w.now = w.now.Add(20 * time.Second) // one horizon
			w.run(50)
			w.run(50)
			w.wantShown("after", map[string]float64{"shadow_redis_up": 1, "shadow_degraded policy=window:4/20s": 0})
			w.wantSnapshot("after", false, false)
			if trips := w.shown()["shadow_redis_round_trip_seconds"]; trips < 20 {
				t.Errorf("the histogram has %v round trips", trips)
			}
			w.stop()
			w.compare()
			if most := 4 * patienceWithRedis; w.longest > most {
				t.Errorf("a turn took %v, more than %v", w.longest, most)
			}
		})
	}
}

func (w *troubledTail) wantShown(when string, want map[string]float64) {
	w.t.Helper()
	shown := w.shown()
	for name, value := range want {
		if got, is := shown[name]; !is || got != value {
			w.t.Errorf("%s the trouble %s is %v (%v), want %v", when, name, got, is, value)
		}
	}
}

// wantSnapshot wants the screen to hear of it, and not to hear that it began again with every batch.
func (w *troubledTail) wantSnapshot(when string, away, degraded bool) {
	w.t.Helper()
	g := w.live.Latest()
	since := g.Policies[0].Degraded
	if g.Redis.Away.IsZero() == away || since.IsZero() == degraded || degraded && w.now.Sub(since) < 5*time.Second {
		w.t.Errorf("%s the screen shows trouble %+v, %+v", when, g.Redis, g.Policies)
	}
}

// compare holds what was told against a replay: nothing is lost with one host.
func (w *troubledTail) compare() {
	w.t.Helper()
	want, _ := w.replayed(w.whole.Bytes())
	got := w.told()
	if plain := strings.ReplaceAll(got, mark, ""); plain != want {
		w.t.Errorf("it differs from the replay first at\n%s", firstDifference(plain, want))
	}
	all, marked := strings.Count(got, "\n"), strings.Count(got, mark)
	if marked == 0 || marked == all {
		w.t.Errorf("%d of %d would-blocks are marked", marked, all)
	}
	p := w.tail.Tally().Policies[0]
	if stored, want := w.shelf.degraded[p.Name], (replay.Degraded{Requests: p.Degraded, Refused: int64(marked)}); stored != want || w.shelf.marked != want.Refused {
		w.t.Errorf("stored as degraded are %+v and %d events, want %+v", stored, w.shelf.marked, want)
	}
}
