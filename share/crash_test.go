package share

import (
	"testing"

	"shadow/policy"
)

// A host that was killed goes on from its last checkpoint: it counts on from there, asks again for what it has asked for
// since, in other batches, and is answered as before.
func TestGoesOnAfterCrash(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	all := madeUp(6, 6000)
	policies := limits(t, policy.ByClient, ofEach...)
	want := newHost(t, nil, policies).play(all, cuts(6, all, 100))

	const checkpoint, crash = 40, 60 // batches
	batches := cuts(6, all, 100)
	before := newHost(t, s.open("h"), policies)
	for i, b := range batches[:crash] {
		if i == checkpoint {
			before.referee.KeepSince(before.referee.Next())
		}
		before.judge(all, b)
	}

	local := true // brings the Engine, which remembers nothing yet, to where the checkpoint was
	after := newHost(t, s.open("h"), policies, func(o *RefereeOptions) { o.Behind = func() bool { return local } })
	after.play(all, batches[:checkpoint])
	local = false
	first := batches[checkpoint][0]
	if n := after.referee.Next(); n != int64(first) {
		t.Fatalf("the next request is number %d, want %d", n, first)
	}
	for _, b := range cuts(7, all[first:], 150) {
		for i := range b {
			b[i] += first
		}
		after.judge(all, b)
	}
	after.degraded = nil // it is, for a while; but with one host nothing is lost
	same(t, after, want)
}
