package leaky

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var nginxSuite = limittest.Suite{Draw: drawNginx, New: NewNginx, ModelDelay: modelNginx, OwnClock: true}

func TestNginx(t *testing.T) { limittest.Run(t, nginxSuite) }

func FuzzNginx(f *testing.F) { limittest.Fuzz(f, nginxSuite) }

func TestScripts(t *testing.T) { limittest.Scripts(t, build) }

// build makes the limiters of this package.
func build(spec limit.Spec) (limit.Limiter, error) {
	switch spec.Algorithm {
	case "leaky":
		return New(spec)
	case "nginx":
		return NewNginx(spec)
	}
	return nil, fmt.Errorf("%s is not in this package", spec.Algorithm)
}

// must is the limiter that text describes.
func must(t testing.TB, text string) limit.Limiter {
	t.Helper()
	spec, err := limit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// drawNginx is a random zone, often one whose rate nginx does not keep exactly.
func drawNginx(r *rand.Rand) limit.Spec {
	s := limit.Spec{Algorithm: "nginx", Count: 1 + r.Int64N(30), Period: limit.Second}
	if r.IntN(2) == 0 {
		s.Period = limit.Minute
	}
	var options []string
	if r.IntN(4) > 0 {
		options = append(options, fmt.Sprintf("burst=%d", r.IntN(12)))
	}
	switch r.IntN(3) {
	case 0:
		options = append(options, fmt.Sprintf("delay=%d", r.IntN(14)))
	case 1:
		options = append(options, "nodelay")
	}
	s.Options = strings.Join(options, ",")
	return s
}

// A zone is a zone of limit_req for one key, as the source of nginx says it, line by line.
type zone struct {
	rate, burst, delay int64 // thousandths
	seen               bool
	last, excess       int64
}

func newZone(s limit.Spec) *zone {
	args := s.Args()
	z := &zone{rate: s.Count * 1000, burst: args.Int("burst", 0) * 1000, delay: args.Int("delay", 0) * 1000}
	if s.Period == limit.Minute {
		z.rate = s.Count * 1000 / 60
	}
	if args.Flag("nodelay") {
		z.delay = 1 << 60
	}
	return z
}

// lookup is the excess of a request at now, and the milliseconds that have passed.
func (z *zone) lookup(now int64) (excess, ms int64) {
	if !z.seen {
		return 0, 1
	}
	ms = now - z.last
	if ms < -60000 {
		ms = 1
	} else if ms < 0 {
		ms = 0
	}
	return max(0, z.excess-z.rate*ms/1000+1000), ms
}

// account charges the request and returns its delay in milliseconds.
func (z *zone) account(now int64) int64 {
	excess, ms := z.lookup(now)
	z.excess, z.seen = excess, true
	if ms != 0 {
		z.last = now
	}
	if excess <= z.delay {
		return 0
	}
	return (excess - z.delay) * 1000 / z.rate
}

// clock is the millisecond in which t lies.
func clock(t limit.Time) int64 {
	beyond := (t%1000 + 1000) % 1000
	return int64(t-beyond) / 1000
}

func modelNginx(s limit.Spec) limittest.DelayModel {
	z := newZone(s)
	return func(t limit.Time, blocked bool) (bool, limit.Time) {
		excess, _ := z.lookup(clock(t))
		if excess > z.burst {
			return true, 0
		}
		if blocked {
			return false, max(0, limit.Time((excess-z.delay)*1000/z.rate)) * limit.Millisecond
		}
		return false, limit.Time(z.account(clock(t))) * limit.Millisecond
	}
}

// Several zones: nginx looks all of them up, stops at the first that rejects, and otherwise charges all and delays by
// the longest delay. Asking each limiter and then charging all or none is the same.
func TestNginxZones(t *testing.T) {
	for seed := range uint64(1000) {
		r := testneeds.Rand(t, seed, 5)
		var zones [3]*zone
		parts, states := make([]limit.Delayer, 3), make([]*limit.State, 3)
		for i := range zones {
			spec := drawNginx(r)
			zones[i], states[i] = newZone(spec), new(limit.State)
			parts[i] = must(t, spec.String()).(limit.Delayer)
		}
		now := limit.Time(r.Int64N(int64(limit.Week)))
		for range 100 {
			now += limit.Time(r.Int64N(100) * r.Int64N(10_000))
			refused, late := handle(zones[:], clock(now))
			is, by := judge(parts, states, now)
			if (is == 'x') != refused || by != limit.Time(late)*limit.Millisecond {
				t.Fatalf("seed %d: %c, delayed %d µs; want refused %v, %d ms", seed, is, by, refused, late)
			}
		}
	}
}

// handle is nginx's way with several zones.
func handle(zones []*zone, now int64) (refused bool, late int64) {
	for _, z := range zones {
		if excess, _ := z.lookup(now); excess > z.burst {
			return true, 0
		}
	}
	for _, z := range zones {
		late = max(late, z.account(now))
	}
	return false, late
}

func TestNewNginxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"nginx:10/30s":                   "per second and per minute only",
		"nginx:10r/h":                    "per second and per minute only",
		"nginx:10r/s,nodelay,delay=0":    "nodelay and delay=0 exclude each other",
		"nginx:10r/s,nodelay=1":          "takes no value",
		"nginx:10r/s,burst=100000000001": "too large",
		"nginx:10r/s,delay=100000000001": "too large",
		"nginx:100000000001/s":           "too large",
		"nginx:10r/s,rate=3":             "nginx takes burst=N, delay=N, nodelay",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewNginx(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	if _, err := NewNginx(limit.Spec{}); err == nil {
		t.Error("the zero Spec is taken")
	}
}

// The bounds differ from the limit by a thousandth of a request for each one that is admitted: here a millisecond.
func TestNginxBounds(t *testing.T) {
	low, high := must(t, "nginx:1r/s").(limit.Bounder).Bounds(0)
	for admits, l := range map[limit.Time]limit.Limiter{999: low, 1000: must(t, "nginx:1r/s"), 1001: high} {
		for ms, refused := range map[limit.Time]int{admits - 1: 1, admits: 0} {
			var s limit.State
			if got := l.Refuse(nil, &s, []limit.Time{0, ms * limit.Millisecond}); len(got) != refused {
				t.Errorf("the one that admits after %d ms refuses %v after %d ms", admits, got, ms)
			}
			s.Release()
		}
	}
}

// Where nginx delays, a bucket elsewhere is unlike it.
func TestNginxShape(t *testing.T) {
	for text, want := range map[string]string{
		"nginx:1r/s,burst=5":         "delays requests after the first 1,",
		"nginx:1r/s,burst=5,delay=3": "delays requests after the first 4,",
		"nginx:1r/s,burst=5,nodelay": "counts finer than nginx",
	} {
		if got := must(t, text).(limit.Describer).Shape().Unlike; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want it to say %q", text, got, want)
		}
	}
}

// nginx keeps whole thousandths of a request per second.
func TestNginxRate(t *testing.T) {
	for text, want := range map[string]int64{"nginx:10r/s": 10_000, "nginx:10r/m": 166, "nginx:1r/m": 16, "nginx:60r/m": 1000} {
		if got := must(t, text).(*Nginx).rate; got != want {
			t.Errorf("%s keeps %d thousandths, want %d", text, got, want)
		}
	}
}

// Where the numbers just fit, the largest differences of time do not overflow.
func TestNginxExtremes(t *testing.T) {
	for _, text := range []string{"nginx:1r/m", "nginx:1r/m,burst=100000000000", "nginx:100000000000/s,burst=100000000000,delay=3"} {
		l := must(t, text)
		const first, last = -1 << 63, 1<<63 - 1
		var s limit.State
		if got := l.Refuse(nil, &s, []limit.Time{first, 0, last}); len(got) > 0 || l.Horizon() <= 0 {
			t.Errorf("%s refuses %v; horizon %d", text, got, l.Horizon())
		}
		l.Refuse(nil, &s, []limit.Time{last})
		if w := l.Wait(&s, first); w != 0 && w != limit.Never {
			t.Errorf("%s: a request at the beginning of time waits %d", text, w)
		}
	}
}

// The level is how much of a bucket of burst+1 requests is taken; asking for it changes nothing.
func TestNginxLevel(t *testing.T) {
	l := must(t, "nginx:10r/s,burst=20")
	level := l.(limit.Leveler).Level
	var s limit.State
	if got := level(&s, 2*limit.Second); got != 0 {
		t.Errorf("a new key has level %v, want 0", got)
	}
	l.Refuse(nil, &s, make([]limit.Time, 30))
	for at, want := range map[limit.Time]float64{0: 21, 999: 21, 50 * limit.Millisecond: 20.5, limit.Minute: 0} {
		if got := level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}

func BenchmarkNginx(b *testing.B) {
	limittest.Bench(b, NewNginx, "nginx:10r/s,burst=20,delay=8", "nginx:12r/m,burst=6,nodelay")
}
