//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// What becomes of verdicts when Redis is in trouble: outside the spans that are marked degraded they are the Engine's.

// trouble judges a log, with something happening before some batches, and returns the host and one without Redis.
func trouble(t *testing.T, r *Conn, policies []policy.Policy, events map[int]func(h *host)) (got, want *host) {
	t.Helper()
	all := madeUp(t, 3, 10_000)
	batches := cuts(t, 3, all, 100)
	got, want = newHost(t, r, policies), newHost(t, nil, policies)
	var longest time.Duration
	for i, b := range batches {
		if event := events[i]; event != nil {
			event(got)
		}
		begin := time.Now()
		got.judge(all, b)
		longest = max(longest, time.Since(begin))
		want.judge(all, b)
	}
	if most := 5 * r.timeout; longest > most {
		t.Errorf("a batch took %v, more than %v", longest, most)
	}
	same(t, got, want)
	if got.degraded[len(all)-1] {
		t.Error("degraded to the end")
	}
	t.Logf("%d of %d requests degraded; longest batch %v", len(got.degraded), len(all), longest.Round(time.Millisecond))
	return got, want
}

// wantDegraded holds the number of degraded requests against what there should be.
func wantDegraded(t *testing.T, h *host, some bool) {
	t.Helper()
	if n := len(h.degraded); some && n == 0 || !some && n > 0 {
		t.Errorf("%d requests are degraded", n)
	}
}

// recovered waits until the host asks Redis again.
func recovered(h *host) {
	h.t.Helper()
	for range 1000 {
		if h.limiter.Up() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Fatal("Redis is not asked again")
}

func TestKilled(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	got, _ := trouble(t, s.open("h"), limits(t, request.ByClient, ofEach...), map[int]func(*host){
		20: func(*host) { s.Kill() },
		40: func(h *host) { s.Start(); recovered(h) },
		90: func(*host) { s.Kill() },
		99: func(h *host) { s.Start(); recovered(h) },
	})
	wantDegraded(t, got, true)
}

// A server that is started again between two batches fails no command, and has forgotten everything.
func TestRestartedEmpty(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	got, _ := trouble(t, s.open("h"), limits(t, request.ByClient, ofEach...), map[int]func(*host){
		50: func(*host) { s.Kill(); s.Start() },
	})
	wantDegraded(t, got, true)
}

func TestPaused(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	got, _ := trouble(t, s.openWithin("h", time.Second), limits(t, request.ByClient, ofEach[:4]...), map[int]func(*host){
		20: func(*host) { s.Signal(syscall.SIGSTOP) },
		60: func(h *host) { s.Signal(syscall.SIGCONT); recovered(h) },
	})
	wantDegraded(t, got, true)
}

func TestScriptsFlushed(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c := s.client()
	defer c.Close()
	flush := func(*host) { c.ScriptFlush(context.Background()) }
	got, _ := trouble(t, s.open("h"), limits(t, request.ByClient, ofEach...), map[int]func(*host){
		20: flush, 40: flush, 60: flush,
	})
	wantDegraded(t, got, false)
}

func TestMemoryFull(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--maxmemory-policy", "noeviction")
	c := s.client()
	defer c.Close()
	memory := func(bytes string) {
		if err := c.ConfigSet(context.Background(), "maxmemory", bytes).Err(); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := trouble(t, s.open("h"), limits(t, request.ByClient, ofEach...), map[int]func(*host){
		20: func(*host) { memory("1") },
		40: func(h *host) { memory("0"); recovered(h) },
	})
	wantDegraded(t, got, true)
}

// A span of degradation ends one horizon after Redis is back.
func TestSpanEndsOneHorizonAfter(t *testing.T) {
	s := startServer(t)
	policies := limits(t, request.ByClient, "window:6/30s")
	restarts := 0
	h := newHost(t, s.open("h"), policies, func(o *SharedLimiterOptions) {
		o.Watch = func(trip RoundTrip) {
			if trip.Restarted {
				restarts++
			}
		}
	})
	var all []sent
	for i := range 200 {
		at := limit.Time(i) * limit.Second
		all = append(all, sent{at: at, place: at})
	}
	for i := range all {
		switch i {
		case 50:
			s.Kill()
		case 60:
			s.Start()
			recovered(h)
		}
		h.judge(all, []int{i})
	}
	if restarts != 1 {
		t.Errorf("it was told %d times that Redis was restarted", restarts)
	}
	// Redis misses the requests up to 59 s, and is met as another server at 60 s.
	for i := range all {
		if want := i >= 50 && i <= 60+30; h.degraded[i] != want {
			t.Errorf("at %d s: degraded %v, want %v", i, h.degraded[i], want)
		}
	}
}

// While the log grows faster than Redis judges, nothing waits for it.
func TestBehind(t *testing.T) {
	s := startServer(t)
	policies := limits(t, request.ByClient, ofEach...)
	all := madeUp(t, 4, 5000)
	behind := false
	h := newHost(t, s.open("h"), policies, func(o *SharedLimiterOptions) { o.Behind = func() bool { return behind } })
	want := newHost(t, nil, policies)
	for i, b := range cuts(t, 4, all, 100) {
		behind = i >= 10 && i < 20
		h.judge(all, b)
		want.judge(all, b)
	}
	wantDegraded(t, h, true)
	same(t, h, want)
}

// What was charged is not charged again, however the requests are cut when they come again, and is answered as before.
func TestChargedOnce(t *testing.T) {
	s := startServer(t)
	for _, text := range ofEach {
		part := &limits(t, request.ByClient, text)[0].Parts[0]
		l, err := NewLimit(text, part, openEnded)
		if err != nil {
			t.Fatal(err)
		}
		r := s.open("h")
		var at []limit.Time
		for i := range 60 {
			at = append(at, limit.Time(i)*limit.Second/2)
		}
		ask := func(from, to int) (refused []int) {
			c := &Call{Limit: l, Key: "k", At: at[from:to]}
			if err := r.Judge(context.Background(), []*Call{c}); err != nil {
				t.Fatal(err)
			}
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			for _, i := range c.Refused {
				refused = append(refused, from+int(i))
			}
			return refused
		}
		first := append(ask(0, 20), ask(20, 40)...)
		again := append(append(ask(0, 13), ask(13, 25)...), ask(25, 50)...)
		again = append(again, ask(50, 60)...)
		var state limit.State
		want := part.Limiter.Refuse(nil, &state, at)
		if fmt.Sprint(again) != fmt.Sprint(want) {
			t.Errorf("%s: refused %v, want %v", text, again, want)
		}
		if n := len(first); fmt.Sprint(again[:n]) != fmt.Sprint(first) {
			t.Errorf("%s: answered %v, then %v", text, first, again)
		}
	}
}

// An answer that is not kept any more is refused, and nothing is charged.
func TestForgottenAnswer(t *testing.T) {
	s := startServer(t)
	part := &limits(t, request.ByClient, "window:2/30s")[0].Parts[0]
	l, err := NewLimit("p", part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	r := s.open("h")
	ask := func(number limit.Time) *Call {
		c := &Call{Limit: l, Key: "k", At: []limit.Time{number}, Since: number}
		if err := r.Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	ask(1)
	if c := ask(2); c.Err != nil || len(c.Refused) != 0 {
		t.Errorf("the second request: %v, refused %v", c.Err, c.Refused)
	}
	if c := ask(1); c.Err != errForgotten {
		t.Errorf("the first request again: %v, want %v", c.Err, errForgotten)
	}
	if c := ask(3); c.Err != nil || len(c.Refused) != 1 {
		t.Errorf("the third request: %v, refused %v", c.Err, c.Refused)
	}
}

// Should the log grow too fast in the middle of a large batch, the rest of it does not wait either.
func TestBehindInTheMiddle(t *testing.T) {
	s := startServer(t)
	policies := limits(t, request.ByClient, "token:6/30s", "window:6/30s")
	all := madeUp(t, 4, 5*mostAtOnce)
	trips := 0
	h := newHost(t, s.open("h"), policies, func(o *SharedLimiterOptions) {
		o.Behind = func() bool { return trips >= 2 }
		o.Watch = func(RoundTrip) { trips++ }
	})
	want := newHost(t, nil, policies)
	whole := cuts(t, 4, all, 1)
	h.judge(all, slices.Concat(whole...))
	want.judge(all, slices.Concat(whole...))
	if trips != 2 {
		t.Errorf("%d round trips, want 2", trips)
	}
	wantDegraded(t, h, true)
	same(t, h, want)
}

// A server that was never met counts as one that goes away.
func TestNeverMet(t *testing.T) {
	t.Parallel()
	a, err := ParseAddress("unix://" + t.TempDir() + "/nobody")
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: 300 * time.Millisecond})
	defer r.Close()
	var trips []RoundTrip
	h := newHost(t, r, limits(t, request.ByClient, "token:3/10s"), func(o *SharedLimiterOptions) {
		o.Watch = func(trip RoundTrip) { trips = append(trips, trip) }
	})
	all := madeUp(t, 3, 10)
	h.judge(all, cuts(t, 3, all, 1)[0])
	if len(trips) != 1 || trips[0].Err == nil {
		t.Errorf("round trips: %+v", trips)
	}
	wantDegraded(t, h, true)
}
