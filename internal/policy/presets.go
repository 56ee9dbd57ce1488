package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
		"flask-limiter", "Flask-Limiter", `@limiter.limit("6/30seconds")`,
		"strategy=fixed|moving", "flask-limiter:6/30s", ofLimits,
	},
	{"slowapi", "slowapi", `@limiter.limit("100/minute")`, "strategy=fixed|moving", "slowapi:100/m", ofLimits},
	{
		"django-rest-framework", "Django REST framework", `DEFAULT_THROTTLE_RATES = {"user": "1000/day"}`,
		"", "django-rest-framework:1000/d", always("window:%s"),
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
	{
		"laravel", "Laravel, throttle", "throttle:60,1", "store=database|redis", "laravel:60/1m",
		func(spec limit.Spec, args *limit.Args) (string, error) {
			if args.Choice("store", "database", "database", "redis") == "redis" {
				return "fixed:" + rate(spec) + ",align=first,clock=1ms", nil
			}
			return "fixed:" + rate(spec) + ",align=first,clock=1s", nil
		},
	},
	{
		"symfony", "Symfony RateLimiter", "policy: token_bucket, limit: 20, rate: { interval: '1 minute', amount: 10 }",
		"policy=fixed|sliding|token, burst=N", "symfony:10/m,policy=token,burst=20", symfony,
	},
	{
		"rack-attack", "Rack::Attack", "throttle('ip', limit: 300, period: 5.minutes)",
		"", "rack-attack:300/5m", always("fixed:%s"),
	},
	{
		"ulule-limiter", "ulule/limiter", "limiter.Rate{Limit: 1000, Period: time.Hour}", "", "ulule-limiter:1000/h",
		func(spec limit.Spec, _ *limit.Args) (string, error) {
			return "fixed:" + closed(spec, limit.Microsecond) + ",align=first", nil
		},
	},
	{
		"go-limiter", "sethvargo/go-limiter", "Tokens: 15, Interval: time.Minute", "", "go-limiter:15/m", goLimiter,
	},
	{
		"httprate", "go-chi/httprate", "httprate.LimitByIP(100, time.Minute)",
		"", "httprate:100/m", always("counter:%s,round=nearest"),
	},
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
		"", "lua-resty-limit-count:100/m", restyCount,
	},
	{
		"apisix-limit-req", "APISIX, limit-req", "rate: 10, burst: 20",
		"burst=N, nodelay", "apisix-limit-req:10/s,burst=20", restyReq,
	},
	{
		"apisix-limit-count", "APISIX, limit-count", "count: 100, time_window: 60, policy: local",
		"", "apisix-limit-count:100/m", restyCount,
	},
	{
		"ingress-nginx", "ingress-nginx", `limit-rps: "10", limit-burst-multiplier: "5"`,
		"multiplier=N", "ingress-nginx:10/s", ingressNginx,
	},
	{
		"kong", "Kong, rate-limiting", "minute: 100, policy: local", "window=fixed|sliding", "kong:100/m", kong,
	},
}

// rate is the count and the period of a limit.
func rate(spec limit.Spec) string {
	return fmt.Sprintf("%d/%s", spec.Count, limit.FormatPeriod(spec.Period))
}

// closed is the rate of a window that still holds a request when its age is exactly the period, by a clock with a tick.
func closed(spec limit.Spec, tick limit.Time) string {
	spec.Period = on(spec.Period, tick)
	return rate(spec)
}

// always is a preset without options of its own; %s is the rate.
func always(format string) func(limit.Spec, *limit.Args) (string, error) {
	return func(spec limit.Spec, _ *limit.Args) (string, error) { return fmt.Sprintf(format, rate(spec)), nil }
}

func flexible(spec limit.Spec, args *limit.Args) (string, error) {
	text := "fixed:" + rate(spec) + ",align=first,clock=1ms"
	block := args.Duration("block", 0)
	switch {
	case block == 0:
		return text, nil
	case block < spec.Period:
		return "", fmt.Errorf("limit %q: a block shorter than the duration ends the window early there; "+
			"there is no such limit here", spec)
	}
	return text + ",cooldown=" + limit.FormatPeriod(block), nil
}

func fastify(spec limit.Spec, args *limit.Args) (string, error) {
	text := "fixed:" + rate(spec) + ",align=first,clock=1ms"
	if args.Flag("continue") {
		text += ",cooldown=" + limit.FormatPeriod(spec.Period) + "/extend"
	}
	return text, nil
}

// ofLimits is the library limits of Python.
func ofLimits(spec limit.Spec, args *limit.Args) (string, error) {
	if args.Choice("strategy", "fixed", "fixed", "moving") == "fixed" {
		return "fixed:" + rate(spec) + ",align=first", nil
	}
	return "window:" + closed(spec, limit.Microsecond), nil
}

func springGateway(spec limit.Spec, args *limit.Args) (string, error) {
	burst := args.Int("burst", 1)
	switch {
	case spec.Period != limit.Second:
		return "", fmt.Errorf("limit %q: replenishRate is per second", spec)
	case 2*burst < spec.Count:
		return "", fmt.Errorf("limit %q: with a burstCapacity below half the replenishRate it never limits a client: "+
			"its script stores nothing", spec)
	}
	return fmt.Sprintf("envoy-local:%s,burst=%d", rate(spec), burst), nil
}

func bucket4j(spec limit.Spec, args *limit.Args) (string, error) {
	text := fmt.Sprintf("token:%s,burst=%d,clock=1ms", rate(spec), args.Int("burst", spec.Count))
	if args.Choice("refill", "greedy", "greedy", "intervally") == "intervally" {
		text += ",refill=interval"
	}
	return text, nil
}

func symfony(spec limit.Spec, args *limit.Args) (string, error) {
	kind, burst := args.Choice("policy", "", "fixed", "sliding", "token"), args.Int("burst", 0)
	switch {
	case kind == "":
		return "", fmt.Errorf("limit %q: which policy? policy=fixed, sliding or token", spec)
	case kind == "token":
		return fmt.Sprintf("token:%s,burst=%d,refill=interval", rate(spec), cmp.Or(burst, spec.Count)), nil
	case burst != 0:
		return "", fmt.Errorf("limit %q: burst goes with policy=token", spec)
	case kind == "sliding":
		return "symfony-sliding:" + rate(spec), nil
	}
	return "fixed:" + closed(spec, limit.Microsecond) + ",align=first", nil
}

// goLimiter fills a bucket to the full at the end of each interval. It multiplies with the nanoseconds of a token where
// it should divide, which is too little when these are fewer than the tokens.
func goLimiter(spec limit.Spec, _ *limit.Args) (string, error) {
	if spec.Count > 1000*int64(spec.Period)/spec.Count {
		return "", fmt.Errorf("limit %q: it would not fill such a bucket to the full", spec)
	}
	return "token:" + rate(spec) + ",refill=interval", nil
}

func restyReq(spec limit.Spec, args *limit.Args) (string, error) {
	if spec.Period != limit.Second {
		return "", fmt.Errorf("limit %q: its rate is per second", spec)
	}
	text := fmt.Sprintf("nginx:%dr/s,burst=%d", spec.Count, args.Int("burst", 0))
	if strings.HasPrefix(spec.Algorithm, "apisix") && args.Flag("nodelay") {
		text += ",nodelay"
	}
	return text, nil
}

// restyCount counts in a shared dictionary, in which a key lives until its age is more than the period.
func restyCount(spec limit.Spec, _ *limit.Args) (string, error) {
	return "fixed:" + closed(spec, limit.Millisecond) + ",align=first,clock=1ms", nil
}

func ingressNginx(spec limit.Spec, args *limit.Args) (string, error) {
	unit, ok := map[limit.Time]string{limit.Second: "s", limit.Minute: "m"}[spec.Period]
	multiplier := args.Int("multiplier", 5)
	switch {
	case !ok:
		return "", fmt.Errorf("limit %q: limit-rps is per second, limit-rpm per minute", spec)
	case multiplier > math.MaxInt32 || spec.Count > math.MaxInt32:
		return "", fmt.Errorf("limit %q: too large", spec)
	}
	return fmt.Sprintf("nginx:%dr/%s,burst=%d,nodelay", spec.Count, unit, multiplier*spec.Count), nil
}

func kong(spec limit.Spec, args *limit.Args) (string, error) {
	if args.Choice("window", "fixed", "fixed", "sliding") == "sliding" {
		return "counter:" + rate(spec) + ",charge=all", nil
	}
	if !slices.Contains([]limit.Time{limit.Second, limit.Minute, limit.Hour, limit.Day}, spec.Period) {
		return "", fmt.Errorf("limit %q: it counts per second, minute, hour or day here; months and years are missing", spec)
	}
	return "fixed:" + rate(spec), nil
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
