package sweep

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"shadow/bucket"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// The buckets of package bucket refuse as many as the chosen ones here, and none of a client whose burst the curve says
// suffices, also where requests of another key come between.
func TestTokensAgainstBuckets(t *testing.T) {
	rates := []Rate{{1, 10 * limit.Second}, {7, 30 * limit.Second}, {1, 333}, {100, limit.Second}, {5, limit.Day}}
	bursts := []int64{1, 2, 3, 5, 20, 100}
	testneeds.Rapid(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(rt, "rate")
		at := drawTimes(rt, rapid.SampledFrom([]limit.Time{7, limit.Second, 10 * limit.Second, limit.Hour}).Draw(rt, "length"))
		shared := rapid.Bool().Draw(rt, "shared")
		tokens := &tokens{rates: []*tokenRate{newTokenRate(rate, bursts, shared)}}
		tokens.grow(2, 2)
		judge := func(key int32, times []limit.Time) {
			tokens.judge(&segment{key: key, rows: make([]int32, len(times)), at: times, clients: []int32{key}})
		}
		before := at[:0] // each key has segments of its own, in turn with those of the other
		cut(rt, at, func(times []limit.Time) {
			judge(0, times)
			if len(before) > 0 {
				judge(1, before)
			}
			before = times
		})
		judge(1, before)
		r := tokens.rates[0]
		for i, burst := range bursts {
			want := refusedOf(t, rate, burst, at)
			if got := r.refused(0, i); got != want || r.refused(1, i) != want {
				rt.Fatalf("%s,burst=%d at %v refuses %d and %d, want %d", rate, burst, at, got, r.refused(1, i), want)
			}
		}
		need := r.need(r.top)
		if !shared && need != int64(*r.needs.At(0)) {
			rt.Fatalf("the client needs %d, the key %d", *r.needs.At(0), need)
		}
		if refusedOf(t, rate, need, at) != 0 || need > 1 && refusedOf(t, rate, need-1, at) == 0 {
			rt.Fatalf("%s at %v: %d is not the smallest burst that refuses none", rate, at, need)
		}
	})
}

func refusedOf(t *testing.T, rate Rate, burst int64, at []limit.Time) int64 {
	l, err := bucket.NewToken(limit.Spec{
		Algorithm: "token", Count: rate.Count, Period: rate.Per, Options: fmt.Sprintf("burst=%d", burst),
	})
	if err != nil {
		t.Fatal(err)
	}
	var s limit.State
	return int64(len(l.Refuse(nil, &s, at)))
}

// A bucket that has refused lacks less than the backlog, also after a segment in which the backlog fits into it.
func TestBucketStaysApart(t *testing.T) {
	r := newTokenRate(Rate{1, 10 * limit.Second}, []int64{2}, false)
	r.grow(1, 1)
	for _, m := range []moment{{0, 3}, {20_000_000, 1}, {0, 1}} {
		r.judge(&segment{rows: make([]int32, m.requests), clients: []int32{0}}, []moment{m})
	}
	if got := r.refused(0, 0); got != 1 {
		t.Errorf("of requests at 0 0 0 20 20 a burst of 2 refuses %d, want the third alone", got)
	}
}

// The backlog stops where no bucket that can be counted exactly holds it.
func TestBacklogDoesNotOverflow(t *testing.T) {
	rate := Rate{1, limit.Never / 3}
	r := newTokenRate(rate, []int64{1, 2}, false)
	r.grow(1, 1)
	p := &segment{rows: make([]int32, 9), clients: []int32{0}}
	r.judge(p, []moment{{0, 9}})
	if r.refused(0, 0) != 8 || r.refused(0, 1) != 7 {
		t.Errorf("of 9 requests bursts of 1 and 2 refuse %d and %d", r.refused(0, 0), r.refused(0, 1))
	}
	if most := rate.MostBurst(); most < 2 || *r.needs.At(0) != uint32(most+1) {
		t.Errorf("needs a burst of %d, where %d is the most that there can be", *r.needs.At(0), most)
	}
}
