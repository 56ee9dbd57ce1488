//go:build unix && !nostore

package tail

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/redis"
	"shadow/internal/redis/redistest"
	"shadow/limit"

	"shadow/internal/logfile/follow"
)

// Tails that judge through a real Redis.

// A redisServer is one of the test's own.
type redisServer struct {
	*redistest.Server
	t        *testing.T
	limiters map[string]*redis.SharedLimiter // by host: of the tail that joined last
}

// recovered waits until all ask Redis again.
func (s *redisServer) recovered() {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		up := true
		for _, l := range s.limiters {
			up = up && l.Up()
		}
		if up {
			return
		}
	}
	s.t.Fatal("Redis is not asked again")
}

func startRedis(t *testing.T) *redisServer {
	t.Helper()
	return &redisServer{redistest.Start(t), t, map[string]*redis.SharedLimiter{}}
}

// join has a tail judge through the server, under a name of its own.
func (s *redisServer) join(o *Options, name string) { s.joinWithin(o, name, 10*time.Second, nil) }

// joinWithin does so too, with a tail that waits at most that long, and lets trips see its round trips.
func (s *redisServer) joinWithin(o *Options, name string, timeout time.Duration, trips *RedisMetrics) {
	joinAt(s.t, s.Address(), o, name, timeout, trips, func(l *redis.SharedLimiter) { s.limiters[name] = l })
}

// joinAt has a tail judge through the servers of an address. joined gets its limiter.
func joinAt(
	t *testing.T, at string, o *Options, name string, timeout time.Duration, trips *RedisMetrics, joined func(*redis.SharedLimiter),
) {
	o.NewRemote = func(saved json.RawMessage, behind func() bool) (Remote, error) {
		address, err := redis.ParseAddress(at)
		check(t, err)
		from, err := redis.ReadSaved(saved)
		check(t, err)
		conn := redis.Open(redis.Options{Address: address, Host: cmp.Or(from.Host, name), Timeout: timeout})
		watch := func(trip redis.RoundTrip) {
			if trips != nil {
				trips.See(trip.Took, trip.Err)
			}
		}
		limiter, err := redis.NewSharedLimiter(redis.SharedLimiterOptions{
			Redis: conn, Tables: o.Read.Tables, Policies: o.Policies, Lateness: limit.Hour, MaxLag: time.Hour,
			From: from, Behind: behind, Watch: watch,
		})
		check(t, err)
		joined(limiter)
		t.Cleanup(func() { limiter.Close(); conn.Close() })
		return limiter, nil
	}
}

// sharedLimits are of those that can be shared.
var sharedLimits = []string{"token:3/10s", "leaky:2/5s", "window:4/20s", "haproxy:5/10s", "token:3/10s,cooldown=5s"}

const mark = `,"degraded":true`

// The tail agrees with a replay through Redis as well: what is judged again after it was killed is answered as before and
// charged once, and tables that are made again change nothing.
func TestTailAgreesThroughRedis(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newSharedWorld(t, seed, startRedis(t))
			got, want := w.play()
			if got != want {
				t.Errorf("it differs from the replay first at\n%s", firstDifference(got, want))
			}
			if strings.Count(want, "\n") < 100 {
				t.Errorf("only %d would-blocks", strings.Count(want, "\n"))
			}
		})
	}
}

// With Redis killed and started empty now and then, would-blocks are marked, and are the same: with a single host nothing
// is lost. In the end none is marked any more.
func TestTailOutlivesRedis(t *testing.T) {
	s := startRedis(t)
	w := newSharedWorld(t, 7, s)
	w.trouble = func(turn int) {
		switch turn {
		case 20, 60:
			s.Kill()
		case 40, 80:
			s.Start()
			s.recovered()
		}
	}
	w.settle = func() { // the log goes on for one horizon past recovery, and behind it
		s.recovered()
		w.step(DefaultLinger)
		for _, p := range w.policies() {
			w.step(time.Duration(p.Horizon()) * time.Microsecond)
		}
		w.write(100)
	}
	got, want := w.play()
	if plain := strings.ReplaceAll(got, mark, ""); plain != want {
		t.Errorf("it differs from the replay first at\n%s", firstDifference(plain, want))
	}
	all, marked := strings.Count(got, "\n"), strings.Count(got, mark)
	if marked == 0 || marked > 9*all/10 {
		t.Errorf("%d of %d would-blocks are marked", marked, all)
	}
	if last := got[strings.LastIndexByte(got[:len(got)-1], '\n')+1:]; strings.Contains(last, mark) {
		t.Errorf("the last one is marked: %s", last)
	}
	var counted int64
	for _, p := range w.tail.Tally().Policies {
		counted += p.Degraded
	}
	if counted == 0 {
		t.Error("no request was counted as degraded")
	}
}

// A sharedWorld is a world whose tail judges through Redis.
type sharedWorld struct {
	*world
	trouble func(turn int)
	settle  func() // before the end
}

func newSharedWorld(t *testing.T, seed uint64, s *redisServer) *sharedWorld {
	w := &world{bench: newBench(t, sharedLimits...), r: seeded(t, seed), running: true}
	w.loses = true // as in agree
	w.change = func(o *Options) { o.From = follow.FromStart; s.join(o, "first") }
	w.start()
	w.change = func(o *Options) {
		o.Save = time.Duration(1+w.r.IntN(3)) * time.Second
		s.join(o, fmt.Sprint("again at ", w.now))
	}
	return &sharedWorld{w, func(int) {}, func() {}}
}

// play lets things happen, and returns the would-blocks of the tail and of a replay.
func (w *sharedWorld) play() (got, want string) {
	for turn := range 120 {
		w.trouble(turn)
		w.turn()
		if w.running && w.r.IntN(10) == 0 {
			check(w.t, w.tail.compact())
		}
	}
	w.append("access.log", w.held)
	if !w.running {
		w.start()
		w.running = true
	}
	w.step(time.Second)
	w.settle()
	w.step(time.Second)
	w.step(DefaultLinger + 20*time.Second)
	w.stop()
	want, _ = w.replayed(w.whole.Bytes())
	return w.told(), want
}

// A tail that has had something left to read for ten seconds has no time to ask Redis, and says so once.
func TestTailLags(t *testing.T) {
	b := newBench(t, "token:3/10s")
	b.start()
	defer b.stop()
	b.tail.progress.caughtUp = b.now.Add(-patience)
	if b.tail.behind() {
		t.Error("it lags too soon")
	}
	b.now = b.now.Add(time.Millisecond)
	for range 2 {
		if !b.tail.behind() {
			t.Error("it does not lag")
		}
	}
	if n := strings.Count(b.said.String(), "faster for 10s than requests are judged"); n != 1 {
		t.Errorf("it says %d times that it lags: %s", n, b.said.String())
	}
	if b.step(0); b.tail.behind() {
		t.Error("it lags though all is read")
	}
}
