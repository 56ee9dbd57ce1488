package calc

import (
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// How long limits take to admit as many at once again, by hand.
func TestRecovers(t *testing.T) {
	const second = limit.Second
	for text, want := range map[string]limit.Time{
		"token:6/30s,burst=10":             50 * second,
		"token:6/30s,burst=10,initial=3":   50 * second,
		"token:60/60s,refill=step":         60 * second,
		"token:6/30s,burst=10,cooldown=1h": 50 * second, // none is refused
		"leaky:6/30s":                      30 * second,
		"leaky:6/30s,drip=30s":             180 * second,
		"window:60/m":                      60 * second,
		"fixed:60/m":                       60 * second,
		"fixed:60/m,align=first":           60 * second,
		"gcra:60/m,burst=5":                6 * second,
		"nginx:1r/m":                       62*second + 500*limit.Millisecond,
		"nginx:60r/m,burst=5,nodelay":      6 * second,
		"caddy:6/30s":                      30 * second,
		"traefik:1/m,burst=10":             61 * second,  // forgotten
		"counter:60/m":                     120 * second, // filled at the beginning of a window, and faded at the end of the next
		"cloudflare~:60/m":                 120 * second,
		"haproxy:20/10s":                   19*second + 501*limit.Millisecond,
		"aws~:1000/5m":                     0, // refuses none at one moment
		"token:200000/s":                   0, // too many to try
	} {
		if got := explained(t, text).Recovers; got != want {
			t.Errorf("%s recovers within %d us, want %d", text, got, want)
		}
	}
}

// After any pause as long as that as many are admitted at once, wherever on the grid, and in some after a shorter one
// not.
func TestRecoversAtAnyPhase(t *testing.T) {
	for _, a := range policy.Algorithms {
		policies, err := policy.ParseLimits([]string{a.Example}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		part := policies[0].Parts[0]
		e := explained(t, a.Example)
		if e.Recovers == 0 {
			continue
		}
		shorter := true
		for i := range limit.Time(101) {
			u := useUp(part.Limiter, i*part.Spec.Period/100, e.AtOnce)
			shorter = shorter && u.recovered(e.Recovers-1)
			for j := range limit.Time(100) {
				if pause := e.Recovers + j*e.Recovers/40; !u.recovered(pause) {
					t.Fatalf("%s: refuses some %d us after those at %d us, not only within %d", a.Example, pause, u.start, e.Recovers)
				}
			}
		}
		if shorter {
			t.Errorf("%s: a pause below %d us is always enough", a.Example, e.Recovers)
		}
	}
}

// What never admits as many again has no such time.
func TestRecoversNever(t *testing.T) {
	if got := recovery(quota{}, limit.Minute, quotaSize, limit.Second); got != 0 {
		t.Errorf("recovers within %d us", got)
	}
}
