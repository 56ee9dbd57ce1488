package conn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

// A visit is a request in the slow twin: when it came, when it was served, and when it left the queue.
type visit struct{ came, start, left limit.Time }

// A counter is the slow twin: places with a clock each, and all requests that ever came.
type counter struct {
	places []limit.Time // until when each is taken
	queue  int
	wait   limit.Time
	visits []visit
}

func newCounter(spec limit.Spec) *counter {
	args := spec.Args()
	return &counter{
		places: slices.Repeat([]limit.Time{-limit.Never}, int(spec.Count)),
		queue:  int(args.Int("queue", 0)), wait: args.Duration("wait", limit.Never/8),
	}
}

// judge returns whether a request is refused, and how long it is kept waiting else.
func (c *counter) judge(t limit.Time, takes int64, blocked bool) (refused bool, late limit.Time) {
	if n := len(c.visits); n > 0 {
		t = max(t, c.visits[n-1].came)
	}
	v := visit{came: t, start: t, left: t}
	waiting := 0
	for _, other := range c.visits {
		if other.left > t {
			waiting++
		}
	}
	place := &c.places[0]
	for i := range c.places {
		if c.places[i] < *place {
			place = &c.places[i]
		}
	}
	switch {
	case *place <= t:
	case waiting >= c.queue:
		refused = true
	default:
		v.start, v.left = *place, *place
		if refused = *place-t > c.wait; refused {
			v.left = t + c.wait
		}
	}
	if !refused && blocked {
		v.left = t
	} else if !refused {
		*place = v.start + limit.Time(takes)
	}
	c.visits = append(c.visits, v)
	return refused, v.start - t
}

// drawn is a random limit. Timelines are about as long as its period, which it has for them only.
func drawn(options func(r *rand.Rand) string) func(r *rand.Rand) limit.Spec {
	return func(r *rand.Rand) limit.Spec {
		return limit.Spec{Algorithm: "conn", Count: 1 + r.Int64N(8), Period: limit.Time(1 + r.Int64N(60)), Options: options(r)}
	}
}

func withoutPeriod(spec limit.Spec) (limit.Limiter, error) {
	spec.Period = 0
	return New(spec)
}

func TestConn(t *testing.T) {
	for name, options := range map[string]func(r *rand.Rand) string{
		"conn":       func(*rand.Rand) string { return "" },
		"queue":      func(r *rand.Rand) string { return fmt.Sprintf("queue=%d", 1+r.IntN(6)) },
		"queue,wait": func(r *rand.Rand) string { return fmt.Sprintf("queue=%d,wait=%dus", 1+r.IntN(6), 1+r.IntN(20)) },
	} {
		t.Run(name, func(t *testing.T) {
			limittest.RunWeighed(t, limittest.WeighedSuite{
				Draw: drawn(options), New: withoutPeriod, Holds: name == "queue,wait",
				Weigh: func(l limit.Limiter) (limit.Weigher, bool) { w, ok := l.(limit.Weigher); return w, ok },
				Model: func(spec limit.Spec) limittest.WeighedModel {
					c := newCounter(spec)
					return func(t limit.Time, takes int64, blocked bool) bool {
						refused, _ := c.judge(t, takes, blocked)
						return refused
					}
				},
			})
		})
	}
}

// Requests that take next to nothing are judged as any limiter does.
func TestConnPromises(t *testing.T) {
	limittest.Run(t, limittest.Suite{Draw: drawn(func(*rand.Rand) string { return "" }), New: withoutPeriod, Model: func(spec limit.Spec) limittest.Model {
		c := newCounter(spec)
		return func(t limit.Time, blocked bool) bool { refused, _ := c.judge(t, 1, blocked); return refused }
	}})
	queues := drawn(func(r *rand.Rand) string { return fmt.Sprintf("queue=%d,wait=%dus", 1+r.IntN(4), 1+r.IntN(3)) })
	limittest.Run(t, limittest.Suite{Draw: queues, New: withoutPeriod, ModelDelay: func(spec limit.Spec) limittest.DelayModel {
		c := newCounter(spec)
		return func(t limit.Time, blocked bool) (bool, limit.Time) { return c.judge(t, 1, blocked) }
	}})
}

// Requests wait as long as the slow twin says, and the moments of the past do not pile up.
func TestQueueDelays(t *testing.T) {
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 2)
		spec := drawn(func(r *rand.Rand) string { return fmt.Sprintf("queue=%d,wait=%dus", 1+r.IntN(6), 5+r.IntN(40)) })(r)
		limiter, err := withoutPeriod(spec)
		if err != nil {
			t.Fatal(err)
		}
		q, twin, now := limiter.(*Queue), newCounter(spec), limit.Time(0)
		var s limit.State
		for i := range 200 {
			now += limit.Time(r.IntN(12))
			takes := int64(r.IntN(30))
			refused, late := q.WaitFor(&s, now, takes) > 0, limit.Time(0)
			if !refused {
				late = q.Delay(&s, now)
			}
			wantRefused, wantLate := twin.judge(now, takes, false)
			if refused != wantRefused || !refused && late != wantLate || late > q.LongestDelay() {
				t.Fatalf("seed %d, %v, request %d: refused %t, late %d, want %t, %d", seed, spec, i, refused, late, wantRefused, wantLate)
			}
			if q.ChargeFor(&s, now, takes, refused); s.Ring().Len() > q.count+q.queue {
				t.Fatalf("seed %d, %v: %d moments for %d places", seed, spec, s.Ring().Len(), q.count+q.queue)
			}
		}
	}
}

// A request that a log says took years leaves its place after a day.
func TestConnForgets(t *testing.T) {
	c := &Conn{count: 1}
	var s limit.State
	c.ChargeFor(&s, 0, 1<<62, false)
	if got := c.WaitFor(&s, limit.Second, 1); got != limit.Day-limit.Second {
		t.Errorf("the place is free after %d µs", got)
	}
}

func TestNew(t *testing.T) {
	for text, want := range map[string]string{
		"conn:8":                "",
		"conn:8,queue=20":       "",
		"conn:0":                "the count must be at least 1",
		"conn:8/1s":             "has a period, but conn counts",
		"conn:8,wait=1s":        "the option wait goes with queue",
		"conn:8,burst=1":        "burst",
		"conn:300000000":        "at most",
		"conn:8,queue=20,wait=": "wait",
	} {
		spec, err := limit.Parse(text)
		if err == nil {
			_, err = New(spec)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
