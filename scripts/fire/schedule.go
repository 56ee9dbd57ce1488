package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A shot is one request of the schedule.
type shot struct {
	client string
	at     time.Duration // since the beginning
}

const length = 10 * time.Second

// schedule is the same each time.
//
//	reader-N   a page with its parts every second or two
//	scraper-N  a request every 40 to 130 ms
//	poller-N   a request in an exact interval
//	random-N   requests without any order
//	flood-N    sixty at once, twice
//	idle-N     a request now and then
func schedule() []shot {
	var shots []shot
	for n := range 2 {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		between := func(least, most int) time.Duration {
			return time.Duration(least+r.IntN(most-least+1)) * time.Millisecond
		}
		add := func(kind string, at time.Duration) {
			shots = append(shots, shot{fmt.Sprintf("%s-%d", kind, n+1), at})
		}
		for at := between(0, 900); at < length; at += between(700, 2200) {
			add("reader", at)
			for range r.IntN(16) {
				add("reader", at+between(10, 300))
			}
		}
		for at := between(0, 100); at < length; at += between(40, 130) {
			add("scraper", at)
		}
		for at := between(0, 100); at < length; at += time.Duration(700*(n+1)) * time.Millisecond {
			add("poller", at)
		}
		for at := between(0, 100); at < length; at += between(0, 600) {
			add("random", at)
		}
		for _, at := range []time.Duration{between(1000, 2000), between(5000, 7000)} {
			for range 60 {
				add("flood", at)
			}
		}
		for at := between(0, 2000); at < length; at += between(1500, 4000) {
			add("idle", at)
		}
	}
	return shots
}
