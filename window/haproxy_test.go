package window

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var haproxyAdmittedSuite = limittest.Suite{Draw: drawHAProxyAdmitted, New: NewHAProxy, Model: modelHAProxyAdmitted}

func TestHAProxyAdmitted(t *testing.T) { limittest.Run(t, haproxyAdmittedSuite) }

func FuzzHAProxyAdmitted(f *testing.F) { limittest.Fuzz(f, haproxyAdmittedSuite) }

func drawHAProxyAdmitted(r *rand.Rand) limit.Spec {
	s := drawHAProxy(r)
	s.Options = strings.TrimSuffix("charge=admitted,"+s.Options, ",")
	return s
}

// modelHAProxyAdmitted denies if "sc_gpc0_rate(0) ge N" and has what is left increase the counter.
func modelHAProxyAdmitted(s limit.Spec) limittest.Model {
	var c freqCtr
	last, period := limit.Time(-1<<62), int64(s.Period/limit.Millisecond)
	return func(t limit.Time, blocked bool) bool {
		if c.expired(s, last, t); c.seen {
			t = max(last, t) // the clock never goes back
		}
		last = t
		if c.read(period, millisecond(last)) >= s.Count {
			return true
		}
		if !blocked {
			c.update(period, millisecond(last))
		}
		return false
	}
}

var haproxySuite = limittest.Suite{Draw: drawHAProxy, New: NewHAProxy, Model: modelHAProxy}

func TestHAProxy(t *testing.T) { limittest.Run(t, haproxySuite) }

func FuzzHAProxy(f *testing.F) { limittest.Fuzz(f, haproxySuite) }

// drawHAProxy is a random rate, often with an odd number of milliseconds, the shortest of them a single one.
func drawHAProxy(r *rand.Rand) limit.Spec {
	units := []limit.Time{limit.Millisecond, limit.Millisecond, limit.Second, limit.Minute, limit.Hour}
	s := limit.Spec{Algorithm: "haproxy", Count: 1 + r.Int64N(20), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
	if r.IntN(2) == 0 { // from nearly nothing to over two periods
		s.Options = fmt.Sprintf("expire=%dms", 1+r.Int64N(1+9*int64(s.Period/limit.Millisecond)/4))
	}
	return s
}

// expired forgets a counter whose table does, and is called for each request of a key.
func (c *freqCtr) expired(s limit.Spec, last, t limit.Time) {
	args := s.Args()
	args.Choice("charge", "all", "admitted", "all")
	expire := args.Duration("expire", 0)
	if args.Err() != nil || expire > 0 && millisecond(t)-millisecond(last) >= int64(expire/limit.Millisecond) {
		*c = freqCtr{}
	}
}

// A freqCtr is a frequency counter as the source of HAProxy has it, in milliseconds.
type freqCtr struct {
	tick, curr, prev int64
	seen             bool
}

// update is update_freq_ctr_period, which adds one.
func (c *freqCtr) update(period, now int64) {
	switch {
	case !c.seen:
		c.tick, c.seen = now&^1, true
	case now-c.tick >= period:
		c.prev, c.curr = c.curr, 0
		c.tick += period
		if now-c.tick >= period { // at least two periods were missed
			c.prev, c.tick = 0, now
		}
		c.tick &^= 1
	}
	c.curr++
}

// read is freq_ctr_total, divided by the period.
func (c *freqCtr) read(period, now int64) int64 {
	past, curr := c.prev, c.curr
	remain := c.tick + period - now
	if remain < 0 {
		remain += period
		past, curr = curr, 0
		if remain < 0 {
			past = 0
		}
	}
	if curr == 0 && past <= 1 {
		return past
	}
	return (past*remain + curr*period) / period
}

// millisecond is the one in which t lies.
func millisecond(t limit.Time) int64 {
	return int64(t-(t%1000+1000)%1000) / 1000
}

func modelHAProxy(s limit.Spec) limittest.Model {
	var c freqCtr
	last, period := limit.Time(-1<<62), int64(s.Period/limit.Millisecond)
	return func(t limit.Time, _ bool) bool {
		c.expired(s, last, t)
		last = max(last, t) // the clock never goes back
		c.update(period, millisecond(last))
		return c.read(period, millisecond(last)) > s.Count
	}
}

// The level is what HAProxy reads, whenever it is asked; asking changes nothing.
func TestHAProxyLevel(t *testing.T) {
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 8)
		spec := drawHAProxy(r)
		l, err := NewHAProxy(spec)
		if err != nil {
			t.Fatal(err)
		}
		var s limit.State
		var c freqCtr
		now, period := limit.Time(r.Int64N(int64(limit.Week))), int64(spec.Period/limit.Millisecond)
		last := now
		for range 50 {
			now += limit.Time(r.Int64N(int64(spec.Period))) * limit.Time(r.IntN(3)) / 3
			if r.IntN(2) == 0 {
				c.expired(spec, last, now)
				c.update(period, millisecond(now))
				last = now
				l.Charge(&s, now, r.IntN(2) == 0)
			}
			later := now + limit.Time(r.Int64N(3*int64(spec.Period)))
			c := c
			c.expired(spec, last, later)
			got, want := l.(limit.Leveler).Level(&s, later), c.read(period, millisecond(later))
			if c.seen && got != float64(want) || !c.seen && got != 0 {
				t.Fatalf("seed %d, %v: level %v at %d µs, want %d", seed, spec, got, later, want)
			}
		}
	}
}

func TestNewHAProxyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"haproxy:6/30s,cut=3s":        "haproxy takes charge=admitted|all, expire=PERIOD, and",
		"haproxy:6/30s,expire=1500us": "whole number",
		"haproxy:6/1500us":            "whole number",
		"haproxy:6/2147483648ms":      "too long",
		"haproxy:2147483647/1s":       "must be less than 2147483647",
		"haproxy:6/30s,charge=x":      "the option charge wants admitted or all",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewHAProxy(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	if _, err := NewHAProxy(limit.Spec{}); err == nil {
		t.Error("the zero Spec is taken")
	}
}

// Where the numbers just fit, neither the largest differences of time nor full counters overflow.
func TestHAProxyExtremes(t *testing.T) {
	const first, last = -1 << 63, 1<<63 - 1
	for _, text := range []string{"haproxy:1/1ms", "haproxy:2147483646/2147483647ms", "haproxy:1/2147483647ms"} {
		l := must(t, text)
		if got := l.Refuse(nil, new(limit.State), []limit.Time{first, 0, last}); len(got) > 0 {
			t.Errorf("%s refuses %v", text, got)
		}
		full := limit.State{At: limit.Second, Level: 0, Extra: mostCounted<<counterBits | mostCounted}
		refused := l.Refuse(nil, &full, []limit.Time{limit.Second, limit.Second})
		if before, now := full.Extra>>counterBits, full.Extra&nowMask; text != "haproxy:1/1ms" && (len(refused) != 2 || before != mostCounted || now != mostCounted) {
			t.Errorf("%s: full counters refuse %v and become %d and %d", text, refused, before, now)
		}
	}
}

func TestHAProxyDescribe(t *testing.T) {
	d := must(t, "haproxy:20/10s").(limit.Describer)
	if got := d.Semantics(); !strings.Contains(got, "at most 20 in 10s") || !strings.Contains(got, "a refused request counts") {
		t.Errorf("Semantics = %q", got)
	}
	if s := d.Shape(); s.Kin || s.Count != 20 || s.AtOnce != 20 || s.Unlike == "" {
		t.Errorf("Shape = %v", fmt.Sprint(s))
	}
}

func BenchmarkHAProxy(b *testing.B) {
	limittest.Bench(b, NewHAProxy, "haproxy:20/10s", "haproxy:6/30s", "haproxy:6/30s,charge=admitted")
}
