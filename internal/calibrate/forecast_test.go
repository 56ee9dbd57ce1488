package calibrate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// kindsOf draws four kinds of clients: of programs that retry and give up, or of what makes them hard to tell, such as
// workers that share an address, paths that are asked for again and again, and bursts.
func kindsOf(r *rand.Rand, hard bool) []kind {
	mean := func(low, high int) limit.Time { return limit.Time(low+r.IntN(high-low)) * ms }
	all := []kind{
		onTime("jitter6", mean(200, 800), fullJitter(250*ms, 4*limit.Second, 6)),
		onTime("1s×3", mean(200, 800), every(limit.Second, 3)),
		inTurn("worker300", mean(1, 100), 0, false, every(300*ms, endless)),
		onTime("never", mean(150, 800), never),
		onTime("at once×2", mean(200, 800), every(10*ms, 2)),
		onTime("decorrelated5", mean(200, 800), decorrelated(200*ms, 5*limit.Second, 5)),
		onTime("doubling4", mean(200, 800), doubling(500*ms, 8*limit.Second, 4)),
		inTurn("batch100", mean(50, 300), 100, false, doubling(200*ms, 3*limit.Second, endless)),
		inTurn("worker same path", mean(20, 200), 0, true, every(500*ms, endless)),
		onTime("reload", mean(300, 1500), reload(0.6, 8)),
		inTurn("thinks", mean(300, 900), 0, false, fullJitter(400*ms, 3*limit.Second, 5)),
		inTurn("polls", mean(200, 600), 0, true, never),
	}
	if hard {
		all = []kind{
			lanes("3 workers", 3, mean(50, 400), every(400*ms, endless)),
			lanes("4 jitter", 4, mean(100, 800), fullJitter(300*ms, 5*limit.Second, 6)),
			amongPaths("3 paths 1s×3", 3, mean(200, 800), every(limit.Second, 3)),
			amongPaths("1 path doubling", 1, mean(200, 800), doubling(300*ms, 4*limit.Second, 4)),
			amongPaths("20 paths at once", 20, mean(200, 800), every(20*ms, 3)),
			bursts("bursts jitter", mean(2000, 6000), fullJitter(500*ms, 8*limit.Second, 5)),
			bursts("bursts linear", mean(2000, 6000), func(*crowd) func(int) (limit.Time, bool) {
				return func(n int) (limit.Time, bool) { return limit.Time(n+1) * 700 * ms, n < 4 }
			}),
			onTime("long", mean(500, 1500), every(5*limit.Second, 2)),
			inTurn("slow worker", mean(500, 1500), 0, false, doubling(limit.Second, 10*limit.Second, endless)),
			inTurn("gives up worker", mean(50, 200), 0, false, every(200*ms, 4)),
			onTime("stubborn", mean(400, 1200), every(1500*ms, 9)),
			inTurn("batch300 same path", mean(20, 100), 300, true, fullJitter(500*ms, 2*limit.Second, endless)),
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:4]
}

// From the log of one limit, the load of another half or twice as strict is foreseen: to within 15 % in 85 of 100 cases,
// and between the least and the most in 90. Sixty clients of four kinds are before it for a minute.
func TestCrowds(t *testing.T) {
	runs, near, between := 0, 0, 0
	for run := uint64(0); run < 120; run += uint64(testneeds.Draws(3, 1)) {
		r := testneeds.Rand(t, run, 4)
		kinds := kindsOf(r, run >= 60)
		rate, burst := 60+r.IntN(200), 3+r.IntN(8)
		other := rate / 2
		if run%2 == 1 {
			other = 2 * rate
		}
		learned := fmt.Sprintf("nginx:%dr/m,burst=%d,nodelay", rate, burst)
		asked := fmt.Sprintf("nginx:%dr/m,burst=%d,nodelay", other, burst)
		log := runCrowd(t, policyOf(t, learned), kinds, 15, limit.Minute, run, 1)
		is := int64(runCrowd(t, policyOf(t, asked), kinds, 15, limit.Minute, run, 2).Len())
		got := log.Learn(Learned).Foresee(policyOf(t, asked), log.Keys[0])
		wrong := 100*float64(got.Requests)/float64(is) - 100
		runs++
		if -15 <= wrong && wrong <= 15 {
			near++
		}
		if got.Low.Requests <= is && is <= got.High.Requests {
			between++
		}
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		t.Logf("%3d: %s has %d requests, at %dr/m are %d, foreseen %d (%d–%d), %+.1f %%: %s", run, learned, log.Len(), other, is,
			got.Requests, got.Low.Requests, got.High.Requests, wrong, strings.Join(names, ", "))
	}
	t.Logf("of %d, %d within 15 %%, %d between the least and the most", runs, near, between)
	if 100*near < 85*runs || 100*between < 90*runs {
		t.Error("too few")
	}
}
