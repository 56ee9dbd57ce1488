package calc

import (
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
)

// The clients of a limit that admits more in a microsecond than at once would send thousands of millions of requests.
func TestExplainSendsNoMoreThanItMay(t *testing.T) {
	testneeds.Within(time.Minute, func() {
		e := explained(t, "token:2147483648/7us,burst=10")
		if e.Trial == nil || e.Trial.AtOnce != 10 || e.Recovers != 1 || e.Clients == nil || len(e.Clients) > 0 {
			t.Errorf("%+v", e)
		}
		if e := explained(t, "token:100000/30s,burst=100000"); len(e.Clients) != 3 {
			t.Errorf("%+v", e)
		}
	})
}

// Whatever limit there is, it is explained soon: all that is tried out is bounded.
func FuzzExplain(f *testing.F) {
	for _, a := range policy.Algorithms {
		f.Add(a.Example)
		f.Add(a.Example + ",cooldown=3650d/extend")
	}
	for _, p := range policy.Presets {
		f.Add(p.Example)
	}
	for _, text := range []string{
		"token:2147483648/7us,burst=10", "token:2147483648/3us,burst=100000", "token:1/30000d,burst=100000",
		"window:100000/30000d,step=1us", "counter:100000/1us", "leaky:100000/1d,drip=1us", "fixed:1/1us,clock=1s",
		"nginx:100000r/s,burst=99999,delay=8", "token:1/1us,debt=100000", "aws~:100000/10m", "cloudflare~:100000/65535s",
		"mod-evasive:100000/10s,block=30000d", "fail2ban:100000/10m,bantime=30000d", "traefik:9999999/1ms,burst=100000",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			return
		}
		testneeds.Within(10*time.Second, func() {
			for _, p := range policies {
				Explain(p.Parts, 10)
			}
		})
	})
}
