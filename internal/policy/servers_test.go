package policy

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/limit/limittest"
	"shadow/report/format"
)

// What to set on each server, in a file that -update rewrites: limits at the margin, the servers indented.
func TestServers(t *testing.T) {
	const file = "testdata/servers.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, " ") {
			continue
		}
		b.WriteString(line)
		if strings.HasPrefix(line, "#") || line == "\n" {
			continue
		}
		spec, err := limit.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(serversText(t, spec))
	}
	limittest.Golden(t, file, b.String())
}

func serversText(t *testing.T, spec limit.Spec) string {
	p, err := New(spec, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range Equivalents(spec, p.Parts[0].Limiter.(limit.Describer).Shape()) {
		kind := "="
		switch {
		case e.Setting == "":
			kind = "-"
		case e.Closest:
			kind = "~"
		}
		fmt.Fprintf(&b, "    %-24s %s %s\n", e.Server, kind, e.Setting)
		fmt.Fprintf(&b, "    %-24s   %s\n", "", e.Deviation)
	}
	return b.String()
}

// A limit that is a server's own is exact there, and nowhere else.
func TestServersPresets(t *testing.T) {
	shape := limit.Shape{Count: 10_000, Period: 1000 * limit.Second, AtOnce: 21, Unlike: "it is not", Kin: true}
	for text, want := range map[string]string{
		"nginx:10/s,burst=20,delay=8":           "nginx limit_req: rate=10r/s burst=20 delay=8",
		"nginx:12/m,burst=5,nodelay":            "nginx limit_req: rate=12r/m burst=5 nodelay",
		"nginx:12/m":                            "nginx limit_req: rate=12r/m",
		"haproxy:21/2100ms":                     "HAProxy stick-table: http_req_rate(2100ms) gt 21",
		"envoy:10/s":                            "Envoy ratelimit service: unit: second, requests_per_unit: 10",
		"envoy-local:10/1500ms,burst=21":        "Envoy local_ratelimit: max_tokens: 21, tokens_per_fill: 10, fill_interval: 1.5s",
		"traefik:10/s,burst=21":                 "Traefik rateLimit: average: 1, period: 100ms, burst: 21",
		"caddy:21/2100ms":                       "Caddy rate_limit: events 21 window 2100ms",
		"gcra:10/s,burst=20":                    "Redis redis-cell: CL.THROTTLE key 20 10 1",
		"nginx:12/m,burst=5,cooldown=30s":       "nginx limit_req: rate=12r/m burst=5, cooldown",
		"gcra:10/s,burst=20,cooldown=1m/extend": "Redis redis-cell: CL.THROTTLE key 20 10 1, cooldown",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var exact []string
		for _, e := range Equivalents(spec, shape) {
			switch e.Deviation {
			case "exact":
				exact = append(exact, e.Server+": "+e.Setting)
			case "exact but for the cooldown, which it has not":
				exact = append(exact, e.Server+": "+e.Setting+", cooldown")
			}
		}
		if got := strings.Join(exact, "; "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Windows on the grid of the epoch are what Envoy's service has, if their length is one of its units.
func TestEnvoySame(t *testing.T) {
	for text, want := range map[string]bool{
		"fixed:60/m": true, "fixed:60/24h": true, "fixed:60/h,align=epoch": true, "fixed:60/h,align=first": false,
		"fixed:60/30s": false, "window:60/m": false,
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := envoySame(spec, limit.Shape{}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Whatever the shape, every server says something of use, and nothing of numbers that are none.
func TestServersAnyShape(t *testing.T) {
	numbers := []int64{1, 2, 3, 7, 10, 59, 1000, 1 << 31, 1 << 32, 1<<53 + 1, math.MaxInt64/5 - 1, math.MaxInt64}
	for _, count := range numbers {
		for _, period := range numbers {
			for _, atOnce := range numbers {
				for _, kin := range []bool{false, true} {
					s := limit.Shape{Count: count, Period: limit.Time(period), AtOnce: atOnce, Kin: kin}
					for _, server := range Servers {
						near, deviation := server.Nearest(s)
						text := "; " + deviation
						if near.Count > 0 {
							text = server.Setting(near) + text
						}
						if text == "; " || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") ||
							strings.Contains(text, "0s") && strings.Contains(text, " 0s") || strings.Contains(text, "-") && strings.Contains(text, " -") {
							t.Fatalf("%s: %+v: %q", server.Name, s, text)
						}
					}
				}
			}
		}
	}
}

// Each algorithm shows an example of itself, which must be one.
func TestExamples(t *testing.T) {
	for _, a := range Algorithms {
		spec, err := limit.Parse(a.Example)
		if err != nil {
			t.Errorf("%s: its example: %v", a.Name, err)
			continue
		}
		if p, err := New(spec, request.ByClient); err != nil || p.Parts[0].Spec.Algorithm != a.Name {
			t.Errorf("%s: its example %s makes %v, %v", a.Name, a.Example, p, err)
		}
	}
}

// What Traefik is said to admit at most in a span is what it does admit to who falls silent until it forgets, some times
// or each time, from the end of a second on.
func TestMostOfTraefik(t *testing.T) {
	for text, span := range map[string]limit.Time{
		"traefik:120/s,burst=600": 5 * limit.Second, "traefik:10/s,burst=50": 6 * limit.Second, "traefik:10/s,burst=51": 5500 * limit.Millisecond,
		"traefik:10/s,burst=52": 500 * limit.Millisecond, "traefik:1/5s,burst=6": 35 * limit.Second, "traefik:1/5s,burst=7": 35*limit.Second + 1,
		"traefik:1/5s,burst=8": 35500 * limit.Millisecond, "traefik:7/30s,burst=3": 34 * limit.Second,
		"traefik:1/36s,burst=100": 200 * limit.Second, "traefik:10/s,burst=1": 6 * limit.Second, "traefik:19/10s,burst=4": 3 * limit.Second,
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for cycles := range 9 {
			most = max(most, admittedToSilent(t, spec, span, cycles))
		}
		said := unlikeBucket(limit.Shape{Span: span}, spec)
		if !strings.Contains(said, " up to "+format.Thousands(int64(most))+" in") || span == 5*limit.Second && most != 2160 {
			t.Errorf("%s admits %d in %s, but %s", text, most, limit.FormatPeriod(span), said)
		}
	}
}

// admittedToSilent returns what a limit of Traefik admits in a span to who asks all the time, but in some first cycles
// only in the first second.
func admittedToSilent(t *testing.T, spec limit.Spec, span limit.Time, cycles int) (n int) {
	p, err := New(spec, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	limiter, state := p.Parts[0].Limiter, new(limit.State)
	every, _ := limiter.(interface{ Cycle() (limit.Time, int64) }).Cycle()
	const start = limit.Second - 1
	for now := start; now < start+span; {
		wait := limiter.Wait(state, now)
		if wait == 0 {
			limiter.Charge(state, now, false)
			n++
		} else if int(now/every) < cycles && (now+wait)%every >= limit.Second {
			now += every - now%every
		} else {
			now += wait
		}
	}
	return n
}
