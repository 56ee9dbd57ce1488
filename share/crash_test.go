package share

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/policy"
)

// A host that was killed goes on from its last checkpoint: it counts on from there, asks again for what it has asked for
// since, in other batches, and is answered as before.

// A crash is a host that stops at one batch, having saved what it remembers at an earlier one.
type crash struct {
	t          *testing.T
	server     *server
	policies   []policy.Policy
	all        []request
	batches    [][]int
	checkpoint int // batches
	crash      int

	local bool // whether the host decides by itself
	saved Saved
}

// newCrash is a host that judges a log up to the crash. trouble is told of each batch.
func newCrash(t *testing.T, all []request, policies []policy.Policy, trouble func(c *crash, h *host, batch int)) *crash {
	c := &crash{t: t, server: startServer(t), policies: policies, all: all, batches: cuts(6, all, 100), checkpoint: 40, crash: 60}
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
	text, err := h.referee.Save()
	if err == nil {
		c.saved, err = ReadSaved(text)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	h.referee.Kept()
}

func (c *crash) host() *host {
	return newHost(c.t, c.server.open("h"), c.policies, func(o *RefereeOptions) { o.Behind = func() bool { return c.local } })
}

// goOn judges all from the checkpoint on once more, and then the rest.
func (c *crash) goOn(all []request) *host {
	c.local = true // brings the Engine, which remembers nothing yet, to where the checkpoint was
	after := c.host().play(c.all, c.batches[:c.checkpoint])
	c.local = false
	after.referee.restore(c.saved)
	for i := range after.referee.policies {
		after.referee.policies[i].degraded = false
	}
	after.degraded = map[int]bool{}
	first := c.batches[c.checkpoint][0]
	for _, b := range cuts(7, all[first:], 150) {
		for i := range b {
			b[i] += first
		}
		after.judge(all, b)
	}
	return after
}

func TestGoesOnAfterCrash(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(6, 6000), limits(t, policy.ByClient, ofEach...)
	c := newCrash(t, all, policies, func(*crash, *host, int) {})
	after := c.goOn(all)
	wantDegraded(t, after, false)
	same(t, after, newHost(t, nil, policies).play(all, cuts(6, all, 100)))
}

// What was decided locally between the checkpoint and the crash has no answer in Redis, nor has what was asked before Redis
// came back empty. It is decided locally again, and said to be.
func TestGoesOnAfterTroubleAndCrash(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(6, 6000), limits(t, policy.ByClient, ofEach...)
	want := newHost(t, nil, policies).play(all, cuts(6, all, 100))
	for name, trouble := range map[string]func(c *crash, h *host, batch int){
		"local": func(c *crash, _ *host, batch int) { c.local = batch >= 45 && batch < 50 },
		"emptied": func(c *crash, h *host, batch int) {
			if batch == 50 {
				c.server.kill()
				c.server.start()
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

// A server that was started empty while nobody asked it is known for another one than before.
func TestGoesOnWithAnotherServer(t *testing.T) {
	t.Parallel()
	all, policies := madeUp(6, 6000), limits(t, policy.ByClient, ofEach...)
	c := newCrash(t, all, policies, func(*crash, *host, int) {})
	c.server.kill()
	c.server.start()
	wantDegraded(t, c.goOn(all), true)
}

// Lines that came late before the crash find their places the second time. Nothing is charged twice for that: a window
// that refuses nothing has counted every request once.
func TestChargedOnceWhenLateLinesFindTheirPlace(t *testing.T) {
	t.Parallel()
	all := madeUp(6, 6000)
	for i := range all {
		all[i].at = all[i].place
	}
	policies := limits(t, policy.ByClient, "window:100000/24h")
	first := cuts(6, all, 100)[40][0]
	again := slices.Clone(all)
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 { // neighbours change places, and so do the numbers of lines
		i := first + r.IntN(1000)
		again[i].client, again[i+1].client = again[i+1].client, again[i].client
	}
	c := newCrash(t, all, policies, func(*crash, *host, int) {})
	c.goOn(again)
	counts := map[int]int64{}
	for _, q := range all {
		counts[q.client]++
	}
	redis := c.server.client()
	defer redis.Close()
	for client, want := range counts {
		key := fmt.Sprintf("shadow:{window:100000/24h/window:100000/24h/client/10.0.0.%d}", client)
		kept, err := redis.HGet(context.Background(), key, "level").Int64()
		out, _ := redis.HGet(context.Background(), key, "extra").Int64()
		if got := kept - out; err != nil || got != want {
			t.Errorf("client %d: Redis has charged %d requests (%v), want %d", client, got, err, want)
		}
	}
}
