package redis

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/testneeds"
)

// A host that asks now and then is told enough to follow what all hosts together have sent: by what it remembers then, it
// decides as Redis does, and knows how long a client has to wait.
func TestTold(t *testing.T) {
	s := startServer(t)
	for name, limits := range twins {
		t.Run(name, func(t *testing.T) {
			hosts := [2]*Conn{s.open("a" + name), s.open("b" + name)}
			for i, text := range slices.Concat(limits, []string{limits[0] + ",cooldown=20s"}) {
				rng := testneeds.Rand(t, uint64(i), 3)
				told := playTold(t, hosts, text, rng)
				if told < 20 {
					t.Errorf("%s: only %d times a host was told", text, told)
				}
			}
		})
	}
}

// playTold has two hosts ask for one key, at random, and returns how often one was told.
func playTold(t *testing.T, hosts [2]*Conn, text string, rng *rand.Rand) (told int) {
	t.Helper()
	part := parseLimit(t, text)
	shared, err := NewLimit("told", part, openEnded)
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
		if c.Told != nil {
			told++
			own[i] = *c.Told
		}
		for j, at := range c.At {
			wait := part.Limiter.Wait(&truth, at)
			if got := part.Limiter.Wait(&own[i], at); got != wait || (wait > 0) != slices.Contains(c.Refused, int32(j)) {
				t.Fatalf("%s: at %d the wait is %d by what the host was told, %d by all requests; Redis refused %v",
					text, at, got, wait, c.Refused)
			}
			part.Limiter.Charge(&truth, at, wait > 0)
			part.Limiter.Charge(&own[i], at, wait > 0)
		}
	}
	return told
}

// A host that is answered a second time may not have heard what it was told at first: it is told so.
func TestToldAgain(t *testing.T) {
	s := startServer(t)
	shared, err := NewLimit("told", parseLimit(t, "token:6/30s"), openEnded)
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
	if c := ask(b, 0, nil); c.Told == nil {
		t.Error("another host has been there: it should tell")
	}
	if c := ask(b, 0, nil); c.Told != nil || !c.Missed {
		t.Error("it may be lost what was told: it should say so")
	}
	if c := ask(b, 1, nil); c.Told != nil || c.Missed {
		t.Error("no other host has been there: it should tell nothing")
	}
	if c := ask(b, 2, new(limit.State)); c.Told == nil {
		t.Error("the host asks what it has missed: it should tell")
	}
}
