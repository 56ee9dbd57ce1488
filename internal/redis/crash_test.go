//go:build !nostore

package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
)

// A host that was killed goes on from its last checkpoint: it counts on from there, asks again for what it has asked for
// since, in other batches, and is answered as before.

// A crash is a host that stops at one batch, having saved what it remembers at an earlier one.
type crash struct {
	t          *testing.T
	server     *server
	policies   []policy.Policy
	all        []sent
	batches    [][]int
	checkpoint int // batches
	crash      int

	local bool // whether the host decides by itself
	saved Saved
}

// newCrash is a host that judges a log up to the crash. trouble is called before each batch.
func newCrash(t *testing.T, all []sent, policies []policy.Policy, trouble func(c *crash, h *host, batch int)) *crash {
	c := &crash{t: t, server: startServer(t), policies: policies, all: all, batches: cuts(t, 6, all, 100), checkpoint: 40, crash: 60}
	before := c.host()
	for i, b := range c.batches[:c.crash] {
		if i == c.checkpoint {
			c.save(before)
		}
		trouble(c, before, i)
		before.judge(all, b)
	}
	return c
}

func (c *crash) save(h *host) {
	text, err := h.limiter.Save()
	if err == nil {
		c.saved, err = ReadSaved(text)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	h.limiter.Kept()
}

func (c *crash) host() *host {
	return newHost(c.t, c.server.open("h"), c.policies, func(o *SharedLimiterOptions) { o.Behind = func() bool { return c.local } })
}

// goOn judges all from the checkpoint on once more, and then the rest.
func (c *crash) goOn(all []sent) *host {
	c.local = true // brings the Engine, which remembers nothing yet, to where the checkpoint was
	after := c.host().play(c.all, c.batches[:c.checkpoint])
	c.local = false
	after.limiter.restore(c.saved)
	for i := range after.limiter.policies {
		after.limiter.policies[i].degraded = false
	}
	after.degraded = map[int]bool{}
	first := c.batches[c.checkpoint][0]
	for _, b := range cuts(c.t, 7, all[first:], 150) {
		for i := range b {
			b[i] += first
		}
		after.judge(all, b)
		c.save(after) // before it is where the other one has been
	}
	return after
}

func TestGoesOnAfterCrash(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(t, 6, 6000), limits(t, request.ByClient, ofEach...)
	c := newCrash(t, all, policies, func(*crash, *host, int) {})
	after := c.goOn(all)
	wantDegraded(t, after, false)
	same(t, after, newHost(t, nil, policies).play(all, cuts(t, 6, all, 100)))
}

// What was decided locally between the checkpoint and the crash has no answer in Redis, nor has what was asked before Redis
// came back empty. It is decided locally again, and said to be.
func TestGoesOnAfterTroubleAndCrash(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(t, 6, 6000), limits(t, request.ByClient, ofEach...)
	want := newHost(t, nil, policies).play(all, cuts(t, 6, all, 100))
	for name, trouble := range map[string]func(c *crash, h *host, batch int){
		"local": func(c *crash, _ *host, batch int) { c.local = batch >= 45 && batch < 50 },
		"emptied": func(c *crash, h *host, batch int) {
			if batch == 50 {
				c.server.Kill()
				c.server.Start()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := newCrash(t, all, policies, trouble).goOn(all)
			wantDegraded(t, after, true)
			excused := after.degraded
			after.degraded = map[int]bool{} // with one host nothing is lost
			same(t, after, want)
			t.Logf("%d requests degraded", len(excused))
			if excused[len(all)-1] {
				t.Error("degraded to the end")
			}
		})
	}
}

// A server that was started empty between requests is known for another one than before.
func TestGoesOnWithAnotherServer(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(t, 6, 6000), limits(t, request.ByClient, ofEach...)
	c := newCrash(t, all, policies, func(*crash, *host, int) {})
	c.server.Kill()
	c.server.Start()
	wantDegraded(t, c.goOn(all), true)
}

// Lines that came late before the crash find their places the second time, and others come in other batches. Nothing is
// charged twice for that: a window that refuses nothing has counted each request at most once.
func TestChargedOnceWhenLateLinesFindTheirPlace(t *testing.T) {
	t.Parallel()
	all, late := madeUp(t, 6, 6000), 0
	first := cuts(t, 6, all, 100)[40][0]
	begin := all[first].place // nothing is judged again that has its place before
	again := slices.Clone(all)
	for i := range all {
		switch q := &all[i]; {
		case i < first || q.at < max(begin, q.place-lateness):
			q.at = q.place
		case q.at < q.place:
			late++
		}
		again[i].at, again[i].place = all[i].at, all[i].at
	}
	slices.SortStableFunc(again, func(x, y sent) int { return cmp.Compare(x.place, y.place) })
	c := newCrash(t, all, limits(t, request.ByClient, "window:100000/24h"), func(*crash, *host, int) {})
	c.goOn(again)
	counts := map[int]int{}
	for _, q := range all {
		counts[q.client]++
	}
	missing := 0
	for client, want := range counts {
		got := c.charged(client)
		if missing += want - got; got > want {
			t.Errorf("client %d: Redis has charged %d requests of %d", client, got, want)
		}
	}
	if missing > late/5 || late < 20 {
		t.Errorf("%d requests were not charged; %d came late", missing, late)
	}
	t.Logf("%d requests came late, %d were not charged", late, missing)
}

// charged returns how many requests of a client a window has counted.
func (c *crash) charged(client int) int {
	c.t.Helper()
	redis := c.server.client()
	defer redis.Close()
	key := fmt.Sprintf("shadow:{window:100000/24h/window:100000/24h/client/10.0.0.%d}", client)
	kept, err := redis.HGet(context.Background(), key, "level").Int()
	if err != nil {
		c.t.Fatal(err)
	}
	out, _ := redis.HGet(context.Background(), key, "extra").Int()
	return kept - out
}
