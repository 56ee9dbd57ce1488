package policy

import (
	"fmt"
	"slices"

	"shadow/limit"
)

// A Preset is the name of a library or server for what is a limit of ours. A limit that begins with it is read as that
// limit; reports show the policy by the text that was written.
type Preset struct {
	Name    string // as written before the colon
	System  string // as its users call it
	Setting string // what the example is there
	Options string // as help shows them
	Example string

	// Limit writes the limit in our words. It asks args for the options of its own; those that go with every algorithm
	// are added.
	Limit func(spec limit.Spec, args *limit.Args) (text string, err error)
}

// Presets are all that there are, in the order in which they are shown.
var Presets = []Preset{
	{
		"express-rate-limit", "express-rate-limit", "limit: 100, windowMs: 15 * 60 * 1000",
		"", "express-rate-limit:100/15m", always("fixed:%s,align=first,clock=1ms"),
	},
	{
		"rate-limiter-flexible", "rate-limiter-flexible", "points: 6, duration: 30, blockDuration: 60",
		"block=PERIOD", "rate-limiter-flexible:6/30s,block=1m", flexible,
	},
	{
		"fastify-rate-limit", "@fastify/rate-limit", "max: 100, timeWindow: '1 minute'",
		"continue", "fastify-rate-limit:100/1m", fastify,
	},
	{
		"nestjs-throttler", "NestJS, @nestjs/throttler", "limit: 6, ttl: 30_000, blockDuration: 60_000",
		"block=PERIOD", "nestjs-throttler:6/30s,block=1m", nestjs,
	},
	{
		"hono-rate-limiter", "hono-rate-limiter", "limit: 100, windowMs: 15 * 60 * 1000",
		"", "hono-rate-limiter:100/15m", always("fixed:%s,align=first,clock=1ms"),
	},
	{
		"koa-ratelimit", "koa-ratelimit", "driver: 'memory', max: 100, duration: 60_000",
		"", "koa-ratelimit:100/1m", toItsEnd,
	},
	{
		"npm-limiter", "limiter of npm, RateLimiter", "tokensPerInterval: 10, interval: 'second'",
		"", "npm-limiter:10/s", always("fixed:%s,align=first"),
	},
	{
		"upstash-ratelimit", "@upstash/ratelimit", `slidingWindow(10, "10 s")`,
		"window=sliding|fixed|token, burst=N", "upstash-ratelimit:10/10s", upstash,
	},
	{
		"flask-limiter", "Flask-Limiter", `@limiter.limit("6/30seconds")`,
		"strategy=fixed|moving|counter", "flask-limiter:6/30s", ofLimits,
	},
	{"slowapi", "slowapi", `@limiter.limit("100/minute")`, "strategy=fixed|moving|counter", "slowapi:100/m", ofLimits},
	{
		"django-rest-framework", "Django REST framework", `DEFAULT_THROTTLE_RATES = {"user": "1000/day"}`,
		"", "django-rest-framework:1000/d", always("window:%s"),
	},
	{
		"django-ratelimit", "django-ratelimit", `@ratelimit(key="ip", rate="100/m")`,
		"", "django-ratelimit:100/m", always("fixed:%s"),
	},
	{
		"spring-cloud-gateway", "Spring Cloud Gateway, RedisRateLimiter", "replenishRate: 10, burstCapacity: 20",
		"burst=N", "spring-cloud-gateway:10/s,burst=20", springGateway,
	},
	{
		"bucket4j", "Bucket4j", "capacity(20).refillGreedy(10, ofSeconds(1))",
		"burst=N, refill=greedy|intervally", "bucket4j:10/s,burst=20", bucket4j,
	},
	{
		"resilience4j", "Resilience4j", "limitForPeriod: 10, limitRefreshPeriod: 1s, timeoutDuration: 0",
		"", "resilience4j:10/s", always("token:%s,refill=interval"),
	},
	{"guava", "Guava, RateLimiter", "RateLimiter.create(10).tryAcquire()", "", "guava:10/s", guava},
	{
		"laravel", "Laravel, throttle", "throttle:60,1", "store=database|redis", "laravel:60/1m",
		either("store", [2]string{"database", "redis"},
			[2]string{"fixed:%s,align=first,clock=1s", "fixed:%s,align=first,clock=1ms"}),
	},
	{
		"symfony", "Symfony RateLimiter", "policy: token_bucket, limit: 20, rate: { interval: '1 minute', amount: 10 }",
		"policy=fixed|sliding|token, burst=N", "symfony:10/m,policy=token,burst=20", symfony,
	},
	{
		"rails", "Rails, rate_limit", "rate_limit to: 10, within: 3.minutes",
		"", "rails:10/3m", always("fixed:%s,align=first"),
	},
	{
		"rack-attack", "Rack::Attack", "throttle('ip', limit: 300, period: 5.minutes)",
		"", "rack-attack:300/5m", always("fixed:%s"),
	},
	{
		"ulule-limiter", "ulule/limiter", "limiter.Rate{Limit: 1000, Period: time.Hour}",
		"", "ulule-limiter:1000/h", toItsEnd,
	},
	{
		"go-limiter", "sethvargo/go-limiter", "Tokens: 15, Interval: time.Minute", "", "go-limiter:15/m", goLimiter,
	},
	{
		"httprate", "go-chi/httprate", "httprate.LimitByIP(100, time.Minute)",
		"", "httprate:100/m", always("counter:%s,round=nearest"),
	},
	{
		"fiber", "Fiber, limiter", "Max: 100, Expiration: time.Minute", "window=fixed|sliding", "fiber:100/m",
		either("window", [2]string{"fixed", "sliding"},
			[2]string{"fixed:%s,align=first,clock=1s", "counter:%s,charge=all,clock=1s"}),
	},
	{"echo", "Echo, RateLimiter", "Rate: 10, Burst: 20", "burst=N", "echo:10/s,burst=20", perSecond},
	{"tollbooth", "tollbooth", "tollbooth.NewLimiter(10, nil)", "burst=N", "tollbooth:10/s", perSecond},
	{
		"gubernator", "Gubernator", "algorithm: TOKEN_BUCKET, limit: 100, duration: 60000",
		"algorithm=token|leaky, burst=N", "gubernator:100/m", gubernator,
	},
	{
		"krakend", "KrakenD", "client_max_rate: 10, client_capacity: 20",
		"burst=N", "krakend:10/s,burst=20", krakend,
	},
	{"tyk", "Tyk", "rate: 100, per: 60", "", "tyk:100/m", always("window:%s,charge=all")},
	{
		"redis-rate", "go-redis/redis_rate", "redis_rate.Limit{Rate: 10, Burst: 20, Period: time.Second}",
		"burst=N", "redis-rate:10/s,burst=20",
		func(spec limit.Spec, args *limit.Args) (string, error) {
			return fmt.Sprintf("token:%s,burst=%d", rate(spec), args.Int("burst", spec.Count)), nil
		},
	},
	{
		"lua-resty-limit-req", "OpenResty limit.req", `limit_req.new("store", 10, 20)`,
		"burst=N", "lua-resty-limit-req:10/s,burst=20", restyReq,
	},
	{
		"lua-resty-limit-count", "OpenResty limit.count", `limit_count.new("store", 100, 60)`,
		"", "lua-resty-limit-count:100/m", countMillis,
	},
	{
		"apisix-limit-req", "APISIX, limit-req", "rate: 10, burst: 20",
		"burst=N, nodelay", "apisix-limit-req:10/s,burst=20", restyReq,
	},
	{
		"apisix-limit-count", "APISIX, limit-count", "count: 100, time_window: 60, policy: local",
		"", "apisix-limit-count:100/m", countMillis,
	},
	{
		"ingress-nginx", "ingress-nginx", `limit-rps: "10", limit-burst-multiplier: "5"`,
		"multiplier=N", "ingress-nginx:10/s", ingressNginx,
	},
	{
		"kong", "Kong, rate-limiting", "minute: 100, policy: local", "window=fixed|sliding", "kong:100/m", kong,
	},
	{"mod-qos", "mod_qos", "QS_ClientEventLimitCount 100 60", "", "mod-qos:100/m", modQos},
	{
		"aspnet-core", "ASP.NET Core", "PermitLimit: 100, Window: 1m",
		"limiter=fixed|sliding|token, segments=N, burst=N", "aspnet-core:100/m", aspnetCore,
	},
	{
		"aws-api-gateway", "AWS API Gateway", "rateLimit: 10, burstLimit: 20",
		"burst=N", "aws-api-gateway:10/s,burst=20", perSecond,
	},
	{
		"azure-api-management", "Azure API Management", `rate-limit-by-key calls="100" renewal-period="60"`,
		"tier=classic|v2", "azure-api-management:100/m",
		either("tier", [2]string{"classic", "v2"}, [2]string{"window:%s", "token:%s"}),
	},
	{
		"cloud-armor", "Google Cloud Armor", "count: 100, intervalSec: 60, banDurationSec: 600",
		"ban=PERIOD", "cloud-armor:100/m,ban=10m", withCooldown("window:%s", "ban"),
	},
	{
		"fastly", "Fastly", "ratelimit.check_rate: window 10, limit 10, ttl 2m",
		"penalty=PERIOD", "fastly:100/10s,penalty=2m", withCooldown("window:%s,charge=all,clock=1s", "penalty"),
	},
}

// presetOf returns the preset called name, or nil.
func presetOf(name string) *Preset {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &Presets[i]
}

// inOurWords is the limit that a preset stands for.
func (p *Preset) inOurWords(spec limit.Spec) (limit.Spec, error) {
	own, common := CutOptions(spec, limit.CommonNames()...)
	if common != "" {
		common = "," + common
	}
	args := own.Args()
	text, err := p.Limit(own, args)
	if failed := args.Err(); failed != nil { // an unknown option first
		return spec, failed
	} else if err != nil {
		return spec, err
	}
	ours, err := limit.Parse(text + common)
	if err != nil {
		err = fmt.Errorf("limit %q: it means %s: %w", spec, text+common, err)
	}
	return ours, err
}
