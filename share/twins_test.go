package share

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shadow/limit"
	"shadow/policy"
)

// Every script judges as its twin, the limiter, does: on random timelines, cut at random, of many keys at a time.

// twins are limits of every algorithm that can be shared, with numbers that make ticks of fractions and sums that are
// large. "6/30s" and the like are drawn besides.
var twins = map[string][]string{
	"token":    {"6/30s", "7/3s", "1/10s,burst=3", "997/24h", "100000/1m,burst=7", "3/1us"},
	"leaky":    {"6/30s", "7/3s", "5/1m,drip=7s", "997/1h", "3/1us", "11/13ms"},
	"window":   {"6/30s", "1/10s", "3/1us", "25/1h"},
	"attempts": {"6/30s,charge=all", "1/10s,charge=all", "25/1h,charge=all"},
}

// algorithmOf is what limits of a group of twins begin with.
var algorithmOf = map[string]string{"attempts": "window"}

const twinRequests = 200_000

func TestTwins(t *testing.T) {
	s := startServer(t)
	for name, limits := range twins {
		t.Run(name, func(t *testing.T) {
			algorithm := name
			if other, ok := algorithmOf[name]; ok {
				algorithm = other
			}
			for _, text := range limits {
				limits = append(limits, text+",cooldown=20s", text+",cooldown=3s/extend")
			}
			r := s.open(t.Name())
			judged, refused := 0, 0
			for seed := uint64(0); judged < twinRequests; seed++ {
				rand := rand.New(rand.NewPCG(seed, 1))
				text := algorithm + ":" + limits[int(seed)%len(limits)]
				n, no := compareTwins(t, r, parseLimit(t, text), rand, fmt.Sprint(name, seed))
				judged, refused = judged+n, refused+no
			}
			t.Logf("%d requests, %d refused", judged, refused)
			if refused < judged/20 || refused > judged*19/20 {
				t.Errorf("%d of %d refused: that proves little", refused, judged)
			}
		})
	}
}

func parseLimit(t *testing.T, text string) *policy.Part {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, policy.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	return &policies[0].Parts[0]
}

// openEnded are terms under which no key starts anew.
var openEnded = Terms{Lateness: reach / 4, Idle: reach, MaxLag: time.Hour}

// compareTwins judges random timelines by a limiter and its script. It returns how many requests there were, and how many
// were refused.
func compareTwins(t *testing.T, r *Redis, part *policy.Part, rand *rand.Rand, name string) (judged, refused int) {
	t.Helper()
	shared, err := NewLimit(name, part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	const keys, rounds = 20, 5
	var states [keys]limit.State
	var clocks [keys]limit.Time
	number := int64(0)
	for i := range clocks {
		clocks[i] = randomStart(rand, part.Spec)
	}
	for range rounds {
		var calls []*Call
		for key := range keys {
			c := &Call{Limit: shared, Key: fmt.Sprint(key)}
			for range rand.IntN(60) {
				c.At = append(c.At, clocks[key])
				c.Number = append(c.Number, number)
				number++
				clocks[key] += randomStep(rand, part.Spec)
			}
			if len(c.At) > 0 {
				calls = append(calls, c)
			}
		}
		if err := r.Judge(context.Background(), calls); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			var key int
			fmt.Sscan(c.Key, &key)
			before := states[key].Clone()
			want, late := judgeLocally(part.Limiter, &states[key], c.At)
			if !slices.Equal(c.Refused, want) || !slices.Equal(c.Delayed, late) {
				t.Fatalf("%s, key %s: the script differs\nfrom %+v\nat      %v\nscript  %v %v\nlimiter %v %v",
					part.Spec, c.Key, before, c.At, c.Refused, c.Delayed, want, late)
			}
			judged, refused = judged+len(c.At), refused+len(want)
		}
	}
	return judged, refused
}

func judgeLocally(l limit.Limiter, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	if d, ok := l.(limit.Delayer); ok {
		return d.RefuseAndDelay(nil, nil, s, at)
	}
	return l.Refuse(nil, s, at), nil
}

// randomStart is before, around or long after the epoch, or where no time of a log should be.
func randomStart(r *rand.Rand, spec limit.Spec) limit.Time {
	around := limit.Time(r.Int64N(int64(4*spec.Period))) - 2*spec.Period
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return -1_700_000_000*limit.Second + around
	case 2:
		return 200_000_000_000*limit.Second + around // year 8307: more than 2⁵³ µs
	case 3:
		return around
	}
	return 1_700_000_000*limit.Second + around
}

// randomStep is the time to the next request: on and beside the boundaries of the limit, pauses, steps back.
func randomStep(r *rand.Rand, spec limit.Spec) limit.Time {
	interval := max(1, spec.Period/limit.Time(spec.Count))
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return limit.Time(r.IntN(3))
	case 5:
		return interval + limit.Time(r.IntN(3)) - 1
	case 6, 7:
		return limit.Time(r.Int64N(int64(2 * interval)))
	case 8:
		return max(0, spec.Period+limit.Time(r.IntN(3))-1)
	case 9:
		return -limit.Time(r.Int64N(int64(2 * interval)))
	case 10:
		return limit.Time(r.Int64N(int64(spec.Period)))
	}
	return limit.Time(r.Int64N(int64(4*spec.Period))) / limit.Time(1+r.IntN(20))
}
