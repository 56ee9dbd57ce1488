//go:build !nostore

package redis

import (
	"context"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/limit"
)

// What docs/redis.md says of what lies in Redis.
func TestLayout(t *testing.T) {
	s := startServer(t)
	c := s.client()
	defer c.Close()
	ctx := context.Background()
	policies := limits(t, request.ByClientAction, "window:6/30s")
	h := newHost(t, s.open("web1"), policies)
	var all []sent
	for i := range 1000 {
		at := 1_700_000_000*limit.Second + limit.Time(i)*limit.Second
		all = append(all, sent{at: at, place: at, client: 7, action: 2})
	}
	h.play(all, cuts(t, 1, all, 20))

	const key = "shadow:{window:6/30s/window:6/30s/client+action/10.0.0.7/a2}"
	fields, err := c.HGetAll(ctx, key).Result()
	if err != nil || len(fields) == 0 {
		t.Fatalf("there is no %s: %v", key, c.Keys(ctx, "*").Val())
	}
	if fields["sole"] != "web1" || fields["at"] != "999000000" || fields["latest"] != "999000000" || fields["cell"] != "1700000000" {
		t.Errorf("the hash has %v", fields)
	}
	if n := len(fields); n > 10+6 {
		t.Errorf("the hash has %d fields, though only 6 times can matter: %v", n, fields)
	}
	if ttl, most := c.PTTL(ctx, key).Val(), 30*time.Second+time.Hour; ttl > most+time.Millisecond || ttl < most-time.Minute {
		t.Errorf("Redis forgets it in %v, want %v", ttl, most)
	}
	if n := c.DBSize(ctx).Val(); n != 1 {
		t.Errorf("%d keys, want one", n)
	}
}

// A name of any length, of any bytes, makes a key; long ones go by their hash.
func TestLongNames(t *testing.T) {
	l, err := NewLimit("p", &limits(t, request.ByClient, "token:6/30s")[0].Parts[0], openEnded)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 5000)
	if a, b := l.key(long), l.key(long+"y"); a == b || len(a) > 200 {
		t.Errorf("long names become %q and %q", a, b)
	}
	if got, want := l.key("client/a}b{c"), "shadow:{p/token:6/30s/client/a}b{c}"; got != want {
		t.Errorf("key %q, want %q", got, want)
	}
}

// A key that Redis has forgotten, and the Engine by then, too, begins from nothing.
func TestExpired(t *testing.T) {
	s := startServer(t)
	part := &limits(t, request.ByClient, "window:1/50ms")[0].Parts[0]
	l, err := NewLimit("p", part, Terms{Lateness: limit.Second, Idle: 2 * limit.Second, MaxLag: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := s.open("h")
	for i := range 3 {
		c := &Call{Limit: l, Key: "k", At: []limit.Time{0, 1}, Places: placesFrom(2*i, 2)}
		if err := r.Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		if len(c.Refused) != 1 || c.Refused[0] != 1 {
			t.Errorf("refused %v, want the second", c.Refused)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// The clock of Redis goes by the time at which requests come, whatever the log says.
func TestRedisClock(t *testing.T) {
	s := startServer(t)
	a, err := ParseAddress(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Clock: RedisClock})
	defer r.Close()
	for _, text := range []string{"window:2/300ms", "token:2/300ms", "nginx:6r/s,burst=1,nodelay", "token:2/200ms,cooldown=300ms"} {
		l, err := NewLimit(text, &limits(t, request.ByClient, text)[0].Parts[0], openEnded)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(first int) int {
			at := []limit.Time{0, limit.Hour, 0, limit.Day} // hours apart, says the log
			c := &Call{Limit: l, Key: "k", At: at, Places: placesFrom(first, 4)}
			if err := r.Judge(context.Background(), []*Call{c}); err != nil {
				t.Fatal(err)
			}
			return len(at) - len(c.Refused)
		}
		now, at := ask(0), ask(4)
		time.Sleep(400 * time.Millisecond)
		later := ask(8)
		if now != 2 || at != 0 || later != 2 {
			t.Errorf("%s: admitted %d, at once %d more, and %d after a while; want 2, 0 and 2", text, now, at, later)
		}
	}
}
