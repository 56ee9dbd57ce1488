package servers

import (
	"fmt"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// Each limit of a family is one that the server has, and admits as many at once as it says.
func TestFamilies(t *testing.T) {
	at := limit.Time(testneeds.Rand(t, 16, 3).Int64N(int64(100 * limit.Day)))
	for _, s := range all {
		for _, f := range s.Families() {
			var st limit.State
			for n := int64(1); n <= 200; n++ {
				text, ok := f.Limit(n)
				if !ok {
					t.Fatalf("%s %s: no limit of %d", s.Name, f, n)
				}
				if _, err := s.Lines(text, Where{}); err != nil {
					t.Fatal(err)
				}
				policies, err := policy.ParseLimits([]string{text}, request.ByClient)
				if err != nil || len(policies) != 1 {
					t.Fatal(text, policies, err)
				}
				limiter := policies[0].Parts[0].Limiter
				st = limit.State{}
				times := make([]limit.Time, n+2)
				for i := range times {
					times[i] = at
				}
				if refused := limiter.Refuse(nil, &st, times); len(refused) != 2 || refused[0] != int32(n) {
					t.Errorf("%s at %d admits other than %d at once: refuses %v", text, at, n, refused)
				}
			}
			if text, ok := f.Limit(0); ok {
				t.Errorf("%s: nothing at once is %s", s.Name, text)
			}
		}
	}
}

func TestServersByName(t *testing.T) {
	for _, name := range Names() {
		if s, err := Named(name); err != nil || s.Name != name {
			t.Error(name, s, err)
		}
	}
	_, err := Named("ngnix")
	if want := `server "ngnix": no lines are known for that (did you mean "nginx"?); want one of nginx, `; err == nil ||
		len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Error(err)
	}
}

const apacheHasNot = "Apache httpd with mod_qos does not have it; want one such as fixed:10/1m,align=first,clock=1s"

// What a server does not have is an error that says what it has.
func TestNotItsOwn(t *testing.T) {
	for _, c := range []struct{ server, limit, want string }{
		{"nginx", "token:10/s", "nginx does not have it; want one such as nginx:30r/m,burst=9,nodelay"},
		{"nginx", "nginx:10r/s,cooldown=1m", "nginx does not have it; want one such as nginx:30r/m,burst=9,nodelay"},
		{"nginx", "nginx:1..3r/s", "nginx does not have it; want one such as nginx:30r/m,burst=9,nodelay"},
		{"nginx", "nginx:10r/s+nginx:1r/s", "nginx does not have it; want one such as nginx:30r/m,burst=9,nodelay"},
		{"haproxy", "nginx:10r/s", "HAProxy does not have it; want one such as haproxy:10/1m"},
		{"envoy", "fixed:10/m", "Envoy's rate limit service does not have it; want one such as envoy:10/1h"},
		{
			"envoy-local", "token:10/s,refill=step",
			"Envoy's local rate limit does not have it; want one such as token:20/1m,burst=10",
		},
		{
			"envoy-local", "token:10/10ms",
			"Envoy's local rate limit does not have it; want one such as token:20/1m,burst=10",
		},
		{"caddy", "window:10/m", "Caddy does not have it; want one such as caddy:10/5m"},
		{"apache", "token:10/s", apacheHasNot},
		{"apache", "fixed:10/1m", apacheHasNot},
		{"apache", "fixed:10/1m,align=first", apacheHasNot},
		{"apache", "fixed:10/1m,align=first,clock=1ms", apacheHasNot},
		{"apache", "fixed:10/1s,align=first,clock=1s", apacheHasNot},
		{"apache", "fixed:32767/1m,align=first,clock=1s", apacheHasNot},
	} {
		s, err := Named(c.server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Lines(c.limit, Where{}); err == nil || err.Error() != fmt.Sprintf("limit %q: %s", c.limit, c.want) {
			t.Errorf("%s %s: %v, want %s", c.server, c.limit, err, c.want)
		}
	}
}
