package calibrate

import (
	"slices"
	"strings"
	"testing"

	"shadow/limit"
)

// Limits that explain as much go from plain to odd.
func TestPlainFirst(t *testing.T) {
	want := strings.Fields("nginx:10r/s,burst=20 nginx:9r/s,burst=20 token:20/1m window:20/10s haproxy:20/10s token:20/1h window:25/10s " +
		"window:20/45s token:9/1s,burst=20 token:10799/1h,burst=13 fixed:15/5000001us,align=first")
	got := slices.Clone(want)
	slices.Reverse(got)
	s := &search{Options: Options{Prefer: "nginx"}, span: 20 * limit.Minute}
	if slices.SortFunc(got, s.likelier); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// A limit has the names that its users know, where these are plainer.
func TestKnown(t *testing.T) {
	for text, want := range map[string]string{
		"fixed:15/5000001us,align=first":                "koa-ratelimit:15/5s ulule-limiter:15/5s symfony:15/5s,policy=fixed",
		"fixed:15/5001ms,align=first,clock=1ms":         "gubernator:15/5s lua-resty-limit-count:15/5s apisix-limit-count:15/5s",
		"fixed:6/30s,align=first,clock=1ms":             "express-rate-limit:6/30s rate-limiter-flexible:6/30s fastify-rate-limit:6/30s hono-rate-limiter:6/30s laravel:6/30s,store=redis",
		"token:6/30s,refill=interval":                   "resilience4j:6/30s go-limiter:6/30s",
		"counter:20/2s,round=nearest":                   "httprate:20/2s",
		"fixed:20/2s":                                   "",
		"nginx:10r/s,burst=20":                          "",
		"nginx:10r/s,burst=5,nodelay+nginx:60r/m":       "",
		"fixed:6/30s,align=first,clock=1ms,cooldown=1m": "rate-limiter-flexible:6/30s,block=1m",
	} {
		got := strings.Join((&Fit{Limit: text}).Known(), " ")
		if got != want {
			t.Errorf("%s is known as %s, want %s", text, got, want)
		}
	}
}
