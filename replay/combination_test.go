package replay

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// Hope is only a shortcut, and so is to judge limits one by one: whatever the limits, how they combine, their scopes and the timeline, a combination decides as if it had asked
// them request by request, and remembers as much.
func TestHopeIsAShortcut(t *testing.T) {
	rng := testneeds.Rand(t, 0, 0)
	var hoped, asked int
	for range 2000 {
		p := randomPolicy(t, rng)
		quick, slow := newCombination(p.Combine, limitsOf(p, nil)), newCombination(p.Combine, limitsOf(p, nil))
		for _, c := range []*combination{quick, slow} {
			for i := range c.limits {
				c.limits[i].states.Grow(1)
			}
		}
		for start := limit.Time(0); start < limit.Hour; start += 20 * limit.Minute {
			at, marks := randomTimeline(rng, start)
			var got, want verdicts
			quick.judge(&got, 0, at, marks)
			slow.gather(0, 1<<60-1)
			slow.oneByOne(&want, 0, at, marks)
			if !slices.Equal(got.refused, want.refused) || !slices.Equal(got.late, want.late) {
				t.Fatalf("%s: %d requests\n%+v, want\n%+v", p.Text(), len(at), got, want)
			}
			for i := range quick.limits {
				if !bytes.Equal(encoded(t, quick.limits[i].states.At(0)), encoded(t, slow.limits[i].states.At(0))) {
					t.Fatalf("%s: part %d remembers other things after %d requests", p.Text(), i, len(at))
				}
			}
			if len(got.refused) == 0 {
				hoped++
			} else if len(got.refused) < len(at) {
				asked++
			}
		}
	}
	if hoped < 500 || asked < 500 {
		t.Errorf("the test is too easy: %d timelines without, %d with refusals", hoped, asked)
	}
}

func encoded(t *testing.T, s *limit.State) []byte {
	text, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// randomPolicy has up to four limits by client, tight and wide ones.
func randomPolicy(t *testing.T, rng *rand.Rand) (p policy.Policy) {
	scopes := rng.IntN(4)
	p.Combine = policy.Combine(rng.IntN(3))
	for range 1 + rng.IntN(4) {
		part := randomPart(t, rng)
		if rng.IntN(4) == 0 {
			part.Limiter = sluggish{part.Limiter}
		}
		part.Match = policy.Scope(rng.IntN(scopes + 1))
		if part.Count = part.Match; rng.IntN(3) == 0 {
			part.Count = policy.Scope(rng.IntN(scopes + 1))
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}

// randomPart has a limit of any algorithm that there is, wide or tight.
func randomPart(t *testing.T, rng *rand.Rand) policy.Part {
	name := "conn" // to which it matters how long requests take
	for name == "conn" {
		name = policy.Algorithms[rng.IntN(len(policy.Algorithms))].Name
	}
	spec := limit.Spec{Algorithm: name, Count: int64(1 + rng.IntN(1<<(1+rng.IntN(11)))), Period: limit.Time(1+rng.IntN(30)) * limit.Minute}
	if rng.IntN(3) == 0 {
		spec.Options = "cooldown=7m"
	}
	p, err := policy.New(spec, request.ByClient)
	if err != nil { // some servers know few periods, and no small counts
		spec.Count, spec.Period = 10+spec.Count, limit.Minute
		p, err = policy.New(spec, request.ByClient)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Parts[0]
}

// randomTimeline has up to 1,000 requests within 20 minutes, some of them too late.
func randomTimeline(rng *rand.Rand, start limit.Time) (at []limit.Time, marks []uint64) {
	for range rng.IntN(1 << rng.IntN(11)) {
		at = append(at, start+limit.Time(rng.IntN(20))*limit.Minute+limit.Time(rng.IntN(60))*limit.Second)
	}
	slices.Sort(at)
	kind := rng.IntN(3)
	for i := range at {
		if rng.IntN(50) == 0 {
			at[i] -= limit.Minute
		}
		switch marks = append(marks, uint64(rng.IntN(8))); kind {
		case 0: // a tier
			marks[i] = marks[0]
		case 1: // an action each
			marks[i] = 1 << rng.IntN(3)
		}
	}
	return at, marks
}

// sluggish lets each request that another limiter admits wait for as long as it lies behind the minute.
type sluggish struct{ limit.Limiter }

func (l sluggish) Delay(_ *limit.State, t limit.Time) limit.Time { return t % limit.Minute }

func (l sluggish) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	before := len(dst)
	dst = l.Refuse(dst, s, at)
	for i, t := range at {
		if by := l.Delay(s, t); by > 0 && !slices.Contains(dst[before:], int32(i)) {
			late = append(late, limit.Delayed{Index: int32(i), By: by})
		}
	}
	return dst, late
}

// What a limit remembers is copied only where that is cheaper than asking it.
func TestDearCopies(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"window:10000/24h", "token:10000/24h"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	c := newCombination(policy.Together, limitsOf(policy.Policy{Parts: []policy.Part{policies[0].Parts[0], policies[1].Parts[0]}}, nil))
	for i := range c.limits {
		c.limits[i].states.Grow(1)
	}
	var at []limit.Time
	for i := range limit.Time(9_000) {
		at = append(at, i*limit.Second)
	}
	var v verdicts
	c.judge(&v, 0, at, nil)
	if c.gather(0, 0); !c.tooCostly(1124) || c.tooCostly(1125) || !v.empty() {
		t.Errorf("9000 times are tooCostly to copy for 1124, 1125 requests: %v, %v; %+v", c.tooCostly(1124), c.tooCostly(1125), v)
	}
}

func TestVerdictsSort(t *testing.T) {
	v := verdicts{refused: []int32{9, 3, 7, 1, 2}, late: []limit.Delayed{{Index: 9, By: 1}, {Index: 5, By: 1}, {Index: 4, By: 2}, {Index: 5, By: 3}}}
	v.sort(2, 1)
	want := verdicts{refused: []int32{9, 3, 1, 2, 7}, late: []limit.Delayed{{Index: 9, By: 1}, {Index: 4, By: 2}, {Index: 5, By: 3}}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, want %+v", v, want)
	}
}
