package main

var servers = []row{
	{
		"nginx-60rm", "nginx", "nginx 1.22.1", "rate=60r/m",
		"nginx:60r/m",
		"server.py nginx rate=60r/m",
	},
	{
		"nginx-100rm-6", "nginx", "nginx 1.22.1", "rate=100r/m burst=6 nodelay",
		"nginx:100r/m,burst=6,nodelay",
		"server.py nginx rate=100r/m burst=6 nodelay",
	},
	{
		"nginx-10rs-20", "nginx", "nginx 1.22.1", "rate=10r/s burst=20 nodelay",
		"nginx:10r/s,burst=20,nodelay",
		"server.py nginx rate=10r/s burst=20 nodelay",
	},
	{
		"nginx-10rs-20-delay8", "nginx", "nginx 1.22.1, dry run", "rate=10r/s burst=20 delay=8",
		"nginx:10r/s,burst=20,delay=8",
		"server.py nginx rate=10r/s burst=20 delay=8",
	},
	{
		"nginx-two-zones", "nginx", "nginx 1.22.1", "two zones: rate=5r/s burst=5 nodelay, rate=60r/m burst=30 nodelay",
		"nginx:5r/s,burst=5,nodelay+nginx:60r/m,burst=30,nodelay",
		"server.py nginx rate=5r/s burst=5 nodelay + rate=60r/m burst=30 nodelay",
	},
	{
		"ingress-nginx-10rs", "ingress-nginx", "nginx 1.22.1, by its template", `limit-rps: "10"`,
		"ingress-nginx:10/s",
		"server.py nginx rate=10r/s burst=50 nodelay",
	},
	{
		"haproxy-20-2s", "HAProxy", "HAProxy 2.6.12", "http_req_rate(2s), sc0_http_req_rate gt 20",
		"haproxy:20/2s",
		"server.py haproxy http_req_rate(2s) 20",
	},
	{
		"haproxy-10-1501ms", "HAProxy", "HAProxy 2.6.12", "http_req_rate(1501ms), sc0_http_req_rate gt 10",
		"haproxy:10/1501ms",
		"server.py haproxy http_req_rate(1501ms) 10",
	},
	{
		"haproxy-admitted-8-10s", "HAProxy", "HAProxy 2.6.12", "gpc0_rate(10s), sc-inc-gpc0 behind sc0_gpc0_rate ge 8",
		"haproxy:8/10s,charge=admitted",
		"server.py haproxy gpc0_rate(10s) 8",
	},
	{
		"apisix-req-10-1s", "APISIX, limit-req", "the plugin of August 2026", "rate: 10, burst: 20",
		"apisix-limit-req:10/s,burst=20",
		"resty kind=apisix&plugin=limit-req&count=10&seconds=1&burst=20",
	},
	{
		"apisix-count-6-30s", "APISIX, limit-count", "the plugin of August 2026", "count: 6, time_window: 30",
		"apisix-limit-count:6/30s",
		"resty kind=apisix&plugin=limit-count&count=6&seconds=30",
	},
	{
		"apisix-count-20-2s", "APISIX, limit-count", "the plugin of August 2026", "count: 20, time_window: 2",
		"apisix-limit-count:20/2s",
		"resty kind=apisix&plugin=limit-count&count=20&seconds=2",
	},
	{
		"traefik-10-1s", "Traefik, rateLimit", "Traefik 3.6.0", "average: 10, burst: 3",
		"traefik:10/s,burst=3",
		"traefik -count 10 -period 1s -burst 3",
	},
	{
		"traefik-6-30s", "Traefik, rateLimit", "Traefik 3.6.0", "average: 6, period: 30s, burst: 5",
		"traefik:6/30s,burst=5",
		"traefik -count 6 -period 30s -burst 5",
	},
	{
		"envoy-60-1m", "Envoy, rate limit service", "of January 2026, in miniredis", "requests_per_unit: 60, unit: minute",
		"envoy:60/m",
		"ratelimit -count 60 -period 1m",
	},
	{
		"envoy-5-1s", "Envoy, rate limit service", "of January 2026, in miniredis", "requests_per_unit: 5, unit: second",
		"envoy:5/s",
		"ratelimit -count 5 -period 1s",
	},
	{
		"envoy-local-10-1s", "Envoy 1.31, local rate limit", "its AtomicTokenBucketImpl", "tokens_per_fill: 10, fill_interval: 1s, max_tokens: 20",
		"token:10/s,burst=20",
		"envoy.cc 10 1 20",
	},
	{
		"envoy-local-6-30s", "Envoy 1.31, local rate limit", "its AtomicTokenBucketImpl", "tokens_per_fill: 6, fill_interval: 30s, max_tokens: 6",
		"token:6/30s",
		"envoy.cc 6 30 6",
	},
	{
		"caddy-6-30s", "Caddy, rate_limit", "its ring of June 2026", "events 6, window 30s",
		"caddy:6/30s",
		"caddy -count 6 -period 30s",
	},
	{
		"caddy-20-2s", "Caddy, rate_limit", "its ring of June 2026", "events 20, window 2s",
		"caddy:20/2s",
		"caddy -count 20 -period 2s",
	},
	{
		"mod-qos-6-30s", "mod_qos", "mod_qos 11.63, Apache 2.4.71", "QS_ClientEventLimitCount 6 30",
		"mod-qos:6/30s", "server.py apache QS_ClientEventLimitCount 6 30",
	},
	{
		"mod-qos-20-2s", "mod_qos", "mod_qos 11.63, Apache 2.4.71", "QS_ClientEventLimitCount 20 2",
		"mod-qos:20/2s", "server.py apache QS_ClientEventLimitCount 20 2",
	},
}
