//go:build !nostore

package redis

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// A host that asks now and then gets the state that all hosts together have made: with it, the host decides as Redis
// does, and knows how long a client has to wait.
func TestSnapshots(t *testing.T) {
	s := startServer(t)
	for name, limits := range twins {
		t.Run(name, func(t *testing.T) {
			hosts := [2]*Conn{s.open("a" + name), s.open("b" + name)}
			for i, text := range slices.Concat(limits, []string{limits[0] + ",cooldown=20s"}) {
				rng := testneeds.Rand(t, uint64(i), 3)
				snapshots := playSnapshots(t, hosts, text, rng)
				if snapshots < 20 {
					t.Errorf("%s: only %d snapshots", text, snapshots)
				}
			}
		})
	}
}

// playSnapshots has two hosts ask for one key, at random, and returns how many snapshots they got.
func playSnapshots(t *testing.T, hosts [2]*Conn, text string, rng *rand.Rand) (snapshots int) {
	t.Helper()
	part := parseLimit(t, text)
	shared, err := NewLimit("snapshot", part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	now := 1_700_000_000 * limit.Second
	var truth limit.State
	var own [2]limit.State
	var place [2]limit.Time
	for range 200 {
		i := rng.IntN(2)
		c := &Call{Limit: shared, Key: "k", Alone: place[i] == 0}
		if c.Alone {
			c.Memory = new(limit.State)
		}
		for range 1 + rng.IntN(8) {
			place[i] = max(place[i]+1, now)
			c.At, c.Places = append(c.At, now), append(c.Places, place[i])
			now += max(0, randomStep(rng, part.Spec))
		}
		if err := hosts[i].Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		if c.Snapshot != nil {
			snapshots++
			own[i] = *c.Snapshot
		}
		for j, at := range c.At {
			wait := part.Limiter.Wait(&truth, at)
			if got := part.Limiter.Wait(&own[i], at); got != wait || (wait > 0) != slices.Contains(c.Refused, int32(j)) {
				t.Fatalf("%s: at %d the wait is %d by the last snapshot, %d by all requests; Redis refused %v",
					text, at, got, wait, c.Refused)
			}
			part.Limiter.Charge(&truth, at, wait > 0)
			part.Limiter.Charge(&own[i], at, wait > 0)
		}
	}
	return snapshots
}

// A host that is answered a second time may have lost the snapshot of the first: the answer says so.
func TestSnapshotAgain(t *testing.T) {
	s := startServer(t)
	shared, err := NewLimit("snapshot", parseLimit(t, "token:6/30s"), openEnded)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *Conn, first int, memory *limit.State) *Call {
		t.Helper()
		c := &Call{Limit: shared, Key: "k", At: []limit.Time{limit.Second}, Places: placesFrom(first, 1), Memory: memory, Alone: memory != nil}
		if err := r.Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := s.open("a"), s.open("b")
	ask(a, 0, nil)
	if c := ask(b, 0, nil); c.Snapshot == nil {
		t.Error("another host has been there: it should return a snapshot")
	}
	if c := ask(b, 0, nil); c.Snapshot != nil || !c.Resync {
		t.Error("the snapshot may be lost: the answer should say so")
	}
	if c := ask(b, 1, nil); c.Snapshot != nil || c.Resync {
		t.Error("no other host has been there: it should return no snapshot")
	}
	if c := ask(b, 2, new(limit.State)); c.Snapshot == nil {
		t.Error("the host asks what it has missed: it should return a snapshot")
	}
}

// A host's memory counts where no other host has been, and where Redis has not charged more than it knows of.
func TestMemoryCounts(t *testing.T) {
	s := startServer(t)
	part := &limits(t, request.ByClient, "window:2/30s")[0].Parts[0]
	l, err := NewLimit("p", part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.open("a"), s.open("b")
	ask := func(r *Conn, key string, first int, memory *limit.State) (refused bool) {
		t.Helper()
		c := &Call{Limit: l, Key: key, At: []limit.Time{limit.Second}, Places: placesFrom(first, 1), Memory: memory}
		if err := r.Judge(context.Background(), []*Call{c}); err != nil {
			t.Fatal(err)
		}
		return len(c.Refused) > 0
	}
	var full limit.State
	part.Limiter.Refuse(nil, &full, []limit.Time{0, 0})

	if !ask(a, "unknown", 5, &full) {
		t.Error("Redis knows nothing of the key: memory should count")
	}
	ask(a, "own", 5, nil)
	if !ask(a, "own", 6, &full) {
		t.Error("no other host knows the key: memory should count")
	}
	ask(a, "other", 5, nil)
	ask(b, "other", 5, nil)
	if !ask(a, "other", 6, nil) || !ask(b, "other", 6, &limit.State{At: 1, Level: 1}) {
		t.Error("another host has been there: memory should not count")
	}
	ask(a, "ahead", 5, nil)
	ask(a, "ahead", 9, nil)
	again := &Call{
		Limit: l, Key: "ahead", At: []limit.Time{limit.Second, limit.Second}, Places: placesFrom(9, 2),
		Memory: &limit.State{At: 1, Level: 1},
	}
	if err := a.Judge(context.Background(), []*Call{again}); err != nil {
		t.Fatal(err)
	}
	if len(again.Refused) != 1 || again.Refused[0] != 1 {
		t.Errorf("Redis has charged more already, so memory should not count: refused %v, want the second", again.Refused)
	}
}
