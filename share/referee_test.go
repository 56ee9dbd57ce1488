package share

import (
	"testing"

	"shadow/policy"
)

// One host: what Redis decides is what the Engine decides by itself, late requests and keys that start anew included.
func TestRefereeAgreesWithEngine(t *testing.T) {
	s := startServer(t)
	all := madeUp(1, 30_000)
	batches := cuts(1, all, 3000)
	for by := range policy.KeyCount {
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
	s := startServer(t)
	all := madeUp(2, 8_000)
	for i := range all {
		all[i].at = all[i].place // what is late for one host need not be for the other
	}
	batches := cuts(2, all, 300)
	policies := limits(t, policy.ByClient, ofEach...)
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
