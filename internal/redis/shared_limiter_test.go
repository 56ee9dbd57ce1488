//go:build !nostore

package redis

import (
	"fmt"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
)

// One host: what Redis decides is what the Engine decides by itself, late requests and keys that start again included.
func TestAgreesWithEngine(t *testing.T) {
	s := startServer(t)
	all := madeUp(t, 1, 10_000)
	batches := cuts(t, 1, all, 2000)
	for _, by := range append(slices.Clone(request.UsualKeys), "client/20+segment:2+action", "field:session", "path+field:session") {
		t.Run(by.String(), func(t *testing.T) {
			policies := limits(t, by, ofEach...)
			got := newHost(t, s.open(t.Name()), policies).play(all, batches)
			want := newHost(t, nil, policies).play(all, batches)
			if len(got.degraded) > 0 {
				t.Errorf("%d requests are degraded", len(got.degraded))
			}
			if got.delays != want.delays {
				t.Errorf("%d delays, want %d", got.delays, want.delays)
			}
			same(t, got, want)
			t.Logf("%d refused", len(want.refused))
		})
	}
}

// Two hosts in lock step, each with one half of the log, refuse through one Redis what one host refuses of the whole.
func TestTwoHostsInLockStep(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	all := madeUp(t, 2, 4_000)
	for i := range all {
		all[i].at = all[i].place // what is late for one host need not be for the other
	}
	batches := cuts(t, 2, all, 300)
	policies := limits(t, request.ByClient, ofEach...)
	want := newHost(t, nil, policies).play(all, batches)
	a, b := newHost(t, s.open("a"), policies), newHost(t, s.open("b"), policies)
	for _, batch := range batches {
		// In the order of time, each run of requests by the host that saw it.
		for len(batch) > 0 {
			n := 1
			for n < len(batch) && (all[batch[n]].place == all[batch[0]].place || batch[n]/7%2 == batch[0]/7%2) {
				n++
			}
			if batch[0]/7%2 == 0 {
				a.judge(all, batch[:n])
			} else {
				b.judge(all, batch[:n])
			}
			batch = batch[n:]
		}
	}
	for what := range b.refused {
		a.refused[what] = true
	}
	if len(a.degraded)+len(b.degraded) > 0 {
		t.Error("some requests are degraded")
	}
	same(t, a, want)
	alone := newHost(t, nil, policies)
	for _, batch := range batches {
		var own []int
		for _, i := range batch {
			if i/7%2 == 0 {
				own = append(own, i)
			}
		}
		if len(own) > 0 {
			alone.judge(all, own)
		}
	}
	t.Logf("%d refused; one half alone: %d", len(want.refused), len(alone.refused))
}

// Fed freely, hosts are apart, and who lags has his requests counted as if they came when the other one's did. How much
// that changes depends on how far they are apart.
func TestTwoHostsApart(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	all := madeUp(t, 5, 8_000)
	for i := range all {
		all[i].at = all[i].place
	}
	policies := limits(t, request.ByClient, "token:6/30s", "leaky:6/30s", "window:6/30s")
	want := newHost(t, nil, policies).play(all, cuts(t, 5, all, 300))
	for _, apart := range []limit.Time{100 * limit.Millisecond, limit.Second, 10 * limit.Second} {
		far := func(o *SharedLimiterOptions) { o.Lateness = limit.Hour } // not to take who lags for a log that begins again
		own := slices.Clone(policies)
		for i := range own {
			own[i].Name += fmt.Sprint(" ", apart) // for keys of its own
		}
		hosts := [2]*host{newHost(t, s.open("a"), own, far), newHost(t, s.open("b"), own, far)}
		for from := 0; from < len(all); {
			var seen [2][]int
			to := from
			for ; to < len(all) && all[to].place/apart == all[from].place/apart; to++ {
				seen[to/7%2] = append(seen[to/7%2], to)
			}
			for i, h := range hosts {
				if len(seen[i]) > 0 {
					h.judge(all, seen[i])
				}
			}
			from = to
		}
		differ := 0
		for what := range want.refused {
			if !hosts[0].refused[what] && !hosts[1].refused[what] {
				differ++
			}
		}
		got := len(hosts[0].refused) + len(hosts[1].refused)
		t.Logf("%s apart: %d refused, %d by one replay of all, of which %d are not among the others",
			limit.FormatPeriod(apart), got, len(want.refused), differ)
		if most := len(want.refused) / 5; differ > most || got > len(want.refused)+most || got < len(want.refused)-most {
			t.Error("that is too much")
		}
	}
}

// A key that was idle for longer than is remembered resets with a request that came too late, though by its own time
// the limiter would still remember.
func TestIdleByPlace(t *testing.T) {
	s := startServer(t)
	policies := limits(t, request.ByClient, "window:6/30s")
	var all []sent
	for range 9 {
		all = append(all, sent{client: 1})
	}
	all = append(all, sent{at: 27 * limit.Second, place: 41 * limit.Second, client: 1})
	batches := [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {9}}
	got, want := newHost(t, s.open("h"), policies).play(all, batches), newHost(t, nil, policies).play(all, batches)
	same(t, got, want)
}
