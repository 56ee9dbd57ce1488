//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"shadow/internal/request"
	"shadow/limit"
)

// Hosts that come and go leave nothing behind, and who is left alone is one host again.

// A guestbook is a key that several hosts ask for.
type guestbook struct {
	t      *testing.T
	server *server
	limit  *Limit
	hosts  map[string]*Conn
	look   *redis.Client
}

// idle is the time after which a host is gone.
const idleGuest = 100 * limit.Second

func newGuestbook(t *testing.T, text string) *guestbook {
	t.Helper()
	terms := Terms{Lateness: 70 * limit.Second, Idle: idleGuest, MaxLag: time.Hour}
	l, err := NewLimit("p", &limits(t, request.ByClient, text)[0].Parts[0], terms)
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	g := &guestbook{t: t, server: s, limit: l, hosts: map[string]*Conn{}, look: s.client()}
	t.Cleanup(func() { g.look.Close() })
	return g
}

// ask has a host ask for a request at each of some seconds.
func (g *guestbook) ask(host string, memory *limit.State, seconds ...limit.Time) *Call {
	g.t.Helper()
	if g.hosts[host] == nil {
		g.hosts[host] = g.server.open(host)
	}
	c := &Call{Limit: g.limit, Key: "k", Memory: memory}
	for _, s := range seconds {
		c.At = append(c.At, (1_700_000_000+s)*limit.Second)
	}
	c.Since = c.At[0]
	if err := g.hosts[host].Judge(context.Background(), []*Call{c}); err != nil || c.Err != nil {
		g.t.Fatal(err, c.Err)
	}
	return c
}

// fields returns the fields of the hash, and which host is the only one.
func (g *guestbook) fields() (names []string, sole string) {
	g.t.Helper()
	all, err := g.look.HGetAll(context.Background(), g.limit.key("k")).Result()
	if err != nil {
		g.t.Fatal(err)
	}
	return slices.Collect(maps.Keys(all)), all["sole"]
}

func (g *guestbook) want(sole string, hosts ...string) {
	g.t.Helper()
	names, got := g.fields()
	var records []string
	for _, name := range names {
		if host, is := strings.CutPrefix(name, "@"); is {
			records = append(records, host)
		}
	}
	slices.Sort(records)
	if !slices.Equal(records, hosts) || got != sole {
		g.t.Errorf("there are records of %v, and %q is the only host; want %v and %q", records, got, hosts, sole)
	}
	if listed := slices.Contains(names, "hosts"); listed != (sole == "") || listed != slices.Contains(names, "due") {
		g.t.Errorf("hosts are listed: %v", listed)
	}
}

func TestHostsGo(t *testing.T) {
	g := newGuestbook(t, "window:1000/30s")
	g.ask("a", nil, 0)
	g.want("a", "a")
	g.ask("b", nil, 10)
	g.want("", "a", "b")
	for s := limit.Time(20); s <= 110; s += 10 {
		g.ask("a", nil, s)
	}
	g.want("", "a", "b")
	g.ask("a", nil, 111) // b is 101 seconds back
	g.want("a", "a")
	g.ask("b", nil, 112)
	g.want("", "a", "b")
	g.ask("c", nil, 200)
	g.want("", "a", "b", "c")
	g.ask("d", nil, 250) // a was there at 111, b at 112
	g.want("", "c", "d")
	g.ask("a", nil, 251) // what has gone may come back
	g.want("", "a", "c", "d")
}

// Who is left alone is the only host once it knows what the others have sent: its memory may count then.
func TestAloneWhenTold(t *testing.T) {
	g := newGuestbook(t, "window:1000/30s")
	g.ask("a", nil, 0)
	g.ask("b", nil, 1)
	if c := g.ask("a", nil, 120); c.Snapshot == nil {
		t.Error("b was the last: a should get a snapshot")
	}
	g.want("", "a")
	if c := g.ask("a", nil, 120, 121); !c.Resync {
		t.Error("a may have lost its snapshot")
	}
	g.want("", "a")
	if c := g.ask("a", new(limit.State), 122); c.Snapshot == nil {
		t.Error("a wants a snapshot")
	}
	g.want("", "a")
	g.ask("a", nil, 123)
	g.want("a", "a")
	full := new(limit.State)
	limiter := limits(t, request.ByClient, "window:1000/30s")[0].Parts[0].Limiter
	for range 1000 {
		limiter.Charge(full, 1_700_000_124*limit.Second, false)
	}
	if c := g.ask("a", full, 125); len(c.Refused) != 1 {
		t.Error("the memory of a does not count")
	}
}

// However often a host begins under a new name, a key that goes on does not grow.
func TestManyStarts(t *testing.T) {
	g := newGuestbook(t, "token:6/30s")
	most := 0
	for n := range 200 {
		for i := range 3 {
			g.ask(fmt.Sprint("web1-", n), nil, limit.Time(10*n+i))
		}
		names, _ := g.fields()
		most = max(most, len(names))
	}
	if most > 12+2*int(idleGuest/limit.Second)/10+2 {
		t.Errorf("the key had %d fields", most)
	}
}
