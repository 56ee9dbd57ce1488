package main

import "slices"

// A row is one system with one setting.
type row struct {
	name    string // of the file with its verdicts
	system  string // as the table has it
	code    string // what ran, with its version
	setting string // as its users write it
	limit   string // the limit to write
	run     string // the runner and its arguments
}

// rows lists the servers and libraries that run on the schedule.
var rows = slices.Concat(servers, node, libraries)

var libraries = []row{
	{
		"limits-fixed-6-30s", "Flask-Limiter, slowapi", "limits 2.8.0 and 5.8.0, memory",
		"6 per 30 seconds, fixed-window", "flask-limiter:6/30s",
		"python.py fixed 6 30",
	},
	{
		"limits-fixed-5-1s", "Flask-Limiter, slowapi", "limits 2.8.0 and 5.8.0, memory",
		"5 per second, fixed-window", "flask-limiter:5/s",
		"python.py fixed 5 1",
	},
	{
		"limits-moving-6-30s", "Flask-Limiter, slowapi", "limits 2.8.0 and 5.8.0, memory",
		"6 per 30 seconds, moving-window", "flask-limiter:6/30s,strategy=moving",
		"python.py moving 6 30",
	},
	{
		"limits-moving-20-2s", "Flask-Limiter, slowapi", "limits 2.8.0 and 5.8.0, memory",
		"20 per 2 seconds, moving-window", "flask-limiter:20/2s,strategy=moving",
		"python.py moving 20 2",
	},
	{
		"limits-counter-6-30s", "Flask-Limiter, slowapi", "limits 5.8.0, memory",
		"6 per 30 seconds, sliding-window-counter", "flask-limiter:6/30s,strategy=counter", "python.py counter 6 30",
	},
	{
		"limits-counter-20-2s", "Flask-Limiter, slowapi", "limits 5.8.0, memory",
		"20 per 2 seconds, sliding-window-counter", "flask-limiter:20/2s,strategy=counter", "python.py counter 20 2",
	},
	{
		"drf-6-30s", "Django REST framework", "djangorestframework 3.14.0",
		"6 per 30 s", "django-rest-framework:6/30s",
		"python.py django 6 30",
	},
	{
		"drf-60-1m", "Django REST framework", "djangorestframework 3.14.0",
		"60/min", "django-rest-framework:60/m",
		"python.py django 60 60",
	},
	{
		"django-ratelimit-5-1s", "django-ratelimit", "django-ratelimit 4.1.0",
		"5/s", "django-ratelimit:5/s", "python.py django-ratelimit 5 1",
	},
	{
		"django-ratelimit-6-30s", "django-ratelimit", "django-ratelimit 4.1.0",
		"6/30s", "django-ratelimit:6/30s", "python.py django-ratelimit 6 30",
	},
	{
		"spring-10-1s", "Spring Cloud Gateway", "its script of August 2026 in miniredis", "replenishRate: 10, burstCapacity: 20",
		"spring-cloud-gateway:10/s,burst=20",
		"libraries -kind spring -count 10 -burst 20",
	},
	{
		"tyk-6-30s", "Tyk", "its script of August 2026 in miniredis",
		"rate: 6, per: 30", "tyk:6/30s", "libraries -kind tyk -count 6 -period 30s",
	},
	{
		"tyk-20-2s", "Tyk", "its script of August 2026 in miniredis",
		"rate: 20, per: 2", "tyk:20/2s", "libraries -kind tyk -count 20 -period 2s",
	},
	{
		"bucket4j-greedy-10-1s", "Bucket4j", "Bucket4j 8.19.0, local",
		"capacity(20), refillGreedy(10, 1 s)", "bucket4j:10/s,burst=20",
		"Runner.java greedy 10 1 20",
	},
	{
		"bucket4j-greedy-7-30s", "Bucket4j", "Bucket4j 8.19.0, local",
		"capacity(5), refillGreedy(7, 30 s)", "bucket4j:7/30s,burst=5",
		"Runner.java greedy 7 30 5",
	},
	{
		"bucket4j-intervally-6-30s", "Bucket4j", "Bucket4j 8.19.0, local",
		"capacity(20), refillIntervally(6, 30 s)", "bucket4j:6/30s,burst=20,refill=intervally",
		"Runner.java intervally 6 30 20",
	},
	{
		"resilience4j-6-30s", "Resilience4j", "Resilience4j, AtomicRateLimiter, May 2026",
		"limitForPeriod: 6, limitRefreshPeriod: 30s, timeoutDuration: 0", "resilience4j:6/30s",
		"Runner.java resilience4j 6 30",
	},
	{
		"resilience4j-10-1s", "Resilience4j", "Resilience4j, AtomicRateLimiter, May 2026",
		"limitForPeriod: 10, limitRefreshPeriod: 1s, timeoutDuration: 0", "resilience4j:10/s",
		"Runner.java resilience4j 10 1",
	},
	{
		"guava-10-1s", "Guava, RateLimiter", "Guava 33.8.0",
		"create(10), tryAcquire()", "guava:10/s", "Runner.java guava 10 1",
	},
	{
		"guava-5-1s", "Guava, RateLimiter", "Guava 33.8.0",
		"create(5), tryAcquire()", "guava:5/s", "Runner.java guava 5 1",
	},
	{
		"laravel-6-30s", "Laravel", "illuminate/cache 8.83",
		"6 in 30 s, file store", "laravel:6/30s",
		"php.php laravel 6 30",
	},
	{
		"laravel-60-1m", "Laravel", "illuminate/cache 8.83",
		"throttle:60,1, file store", "laravel:60/m",
		"php.php laravel 60 60",
	},
	{
		"symfony-fixed-6-30s", "Symfony RateLimiter", "symfony/rate-limiter 5.4, memory",
		"policy: fixed_window, limit: 6, interval: 30 seconds", "symfony:6/30s,policy=fixed",
		"php.php fixed_window 6 30",
	},
	{
		"symfony-token-6-30s", "Symfony RateLimiter", "symfony/rate-limiter 5.4, memory",
		"policy: token_bucket, limit: 20, rate: 6 in 30 seconds", "symfony:6/30s,policy=token,burst=20",
		"php.php token_bucket 6 30 20",
	},
	{
		"symfony-sliding-6-30s", "Symfony RateLimiter", "symfony/rate-limiter 5.4, memory",
		"policy: sliding_window, limit: 6, interval: 30 seconds", "symfony:6/30s,policy=sliding",
		"php.php sliding_window 6 30",
	},
	{
		"rack-attack-6-30s", "Rack::Attack", "rack-attack 6.6.1",
		"limit: 6, period: 30", "rack-attack:6/30s",
		"ruby.rb 6 30",
	},
	{
		"rack-attack-20-2s", "Rack::Attack", "rack-attack 6.6.1",
		"limit: 20, period: 2", "rack-attack:20/2s",
		"ruby.rb 20 2",
	},
	{
		"rails-6-30s", "Rails, rate_limit", "Rails of August 2026, MemoryStore",
		"to: 6, within: 30.seconds", "rails:6/30s", "rails.rb 6 30",
	},
	{
		"rails-20-2s", "Rails, rate_limit", "Rails of August 2026, MemoryStore",
		"to: 20, within: 2.seconds", "rails:20/2s", "rails.rb 20 2",
	},
	{
		"ulule-6-30s", "ulule/limiter", "ulule/limiter 3.11.2",
		"Limit: 6, Period: 30 s, memory store", "ulule-limiter:6/30s",
		"libraries -kind ulule -count 6 -period 30s",
	},
	{
		"ulule-1-1s", "ulule/limiter", "ulule/limiter 3.11.2",
		"Limit: 1, Period: 1 s, memory store", "ulule-limiter:1/s",
		"libraries -kind ulule -count 1 -period 1s",
	},
	{
		"go-limiter-6-30s", "sethvargo/go-limiter", "sethvargo/go-limiter 0.7.1",
		"Tokens: 6, Interval: 30 s", "go-limiter:6/30s",
		"libraries -kind go-limiter -count 6 -period 30s",
	},
	{
		"go-limiter-20-2s", "sethvargo/go-limiter", "sethvargo/go-limiter 0.7.1",
		"Tokens: 20, Interval: 2 s", "go-limiter:20/2s",
		"libraries -kind go-limiter -count 20 -period 2s",
	},
	{
		"httprate-6-30s", "go-chi/httprate", "httprate 0.16.1, local",
		"Limit(6, 30 s)", "httprate:6/30s",
		"libraries -kind httprate -count 6 -period 30s",
	},
	{
		"httprate-20-2s", "go-chi/httprate", "httprate 0.16.1, local",
		"Limit(20, 2 s)", "httprate:20/2s",
		"libraries -kind httprate -count 20 -period 2s",
	},
	{
		"xtime-10-1s", "golang.org/x/time/rate", "golang.org/x/time 0.16.0",
		"Every(100 ms), burst 20", "token:10/s,burst=20",
		"libraries -kind xtime -count 10 -period 1s -burst 20",
	},
	{
		"fiber-6-30s", "Fiber, limiter", "Fiber 3.1.0, memory",
		"Max: 6, Expiration: 30 s", "fiber:6/30s", "libraries -kind fiber -count 6 -period 30s",
	},
	{
		"fiber-20-2s", "Fiber, limiter", "Fiber 3.1.0, memory",
		"Max: 20, Expiration: 2 s", "fiber:20/2s", "libraries -kind fiber -count 20 -period 2s",
	},
	{
		"fiber-sliding-6-30s", "Fiber, SlidingWindow", "Fiber 3.1.0, memory",
		"Max: 6, Expiration: 30 s", "fiber:6/30s,window=sliding", "libraries -kind fiber-sliding -count 6 -period 30s",
	},
	{
		"fiber-sliding-20-2s", "Fiber, SlidingWindow", "Fiber 3.1.0, memory",
		"Max: 20, Expiration: 2 s", "fiber:20/2s,window=sliding", "libraries -kind fiber-sliding -count 20 -period 2s",
	},
	{
		"krakend-10-1s", "KrakenD", "its module of July 2026",
		`client_max_rate: 10, every: "1s", client_capacity: 20`, "krakend:10/s,burst=20",
		"krakend -count 10 -period 1s -burst 20",
	},
	{
		"krakend-6-30s", "KrakenD", "its module of July 2026",
		`client_max_rate: 6, every: "30s", client_capacity: 6`, "krakend:6/30s,burst=6",
		"krakend -count 6 -period 30s -burst 6",
	},
	{
		"echo-10-1s", "Echo, RateLimiter", "Echo 5.4.5, memory",
		"Rate: 10, Burst: 20", "echo:10/s,burst=20", "libraries -kind echo -count 10 -period 1s -burst 20",
	},
	{
		"echo-6-30s", "Echo, RateLimiter", "Echo 5.4.5, memory",
		"Rate: 0.2, Burst: 20", "echo:6/30s,burst=20", "libraries -kind echo -count 6 -period 30s -burst 20",
	},
	{
		"tollbooth-10-1s", "tollbooth", "tollbooth 7.0.2",
		"NewLimiter(10, nil)", "tollbooth:10/s", "libraries -kind tollbooth -count 10 -period 1s",
	},
	{
		"gubernator-6-30s", "Gubernator, TOKEN_BUCKET", "Gubernator 2.13.0",
		"limit: 6, duration: 30000", "gubernator:6/30s", "gubernator -count 6 -period 30s",
	},
	{
		"gubernator-20-2s", "Gubernator, TOKEN_BUCKET", "Gubernator 2.13.0",
		"limit: 20, duration: 2000", "gubernator:20/2s", "gubernator -count 20 -period 2s",
	},
	{
		"gubernator-leaky-10-1s", "Gubernator, LEAKY_BUCKET", "Gubernator 2.13.0",
		"limit: 10, duration: 1000, burst: 20", "gubernator:10/s,algorithm=leaky,burst=20",
		"gubernator -count 10 -period 1s -burst 20",
	},
	{
		"gubernator-leaky-6-30s", "Gubernator, LEAKY_BUCKET", "Gubernator 2.13.0",
		"limit: 6, duration: 30000, burst: 6", "gubernator:6/30s,algorithm=leaky", "gubernator -count 6 -period 30s -burst 6",
	},
	{
		"throttled-6-30s", "throttled", "throttled 2.15.0",
		"PerDuration(6, 30 s), MaxBurst 5", "gcra:6/30s,burst=5",
		"libraries -kind throttled -count 6 -period 30s -burst 5",
	},
	{
		"juju-10-1s", "juju/ratelimit", "juju/ratelimit 1.0.2",
		"NewBucket(100 ms, 20)", "token:10/s,burst=20",
		"libraries -kind juju -count 10 -period 1s -burst 20",
	},
	{
		"redis-rate-10-1s", "redis_rate", "redis_rate 10.0.1 in miniredis",
		"Rate: 10, Burst: 20, Period: 1 s", "redis-rate:10/s,burst=20",
		"libraries -kind redis_rate -count 10 -period 1s -burst 20",
	},
	{
		"redis-rate-7-30s", "redis_rate", "redis_rate 10.0.1 in miniredis",
		"Rate: 7, Burst: 7, Period: 30 s", "redis-rate:7/30s",
		"libraries -kind redis_rate -count 7 -period 30s -burst 7",
	},
	{
		"fail2ban-6-30s", "fail2ban", "fail2ban 1.0.2", "maxretry = 6, findtime = 30s, bantime = 120s",
		"fail2ban:6/30s,bantime=2m",
		"python.py fail2ban 6 30 120",
	},
	{
		"fail2ban-20-2s", "fail2ban", "fail2ban 1.0.2", "maxretry = 20, findtime = 2s, bantime = 10s",
		"fail2ban:20/2s,bantime=10s",
		"python.py fail2ban 20 2 10",
	},
	{
		"mod-evasive-50-1s", "mod_evasive", "mod_evasive 1.10.1", "DOSSiteCount 50, DOSSiteInterval 1, DOSBlockingPeriod 10",
		"mod-evasive:50/1s,block=10s",
		"evasive.c 50 1 10",
	},
	{
		"mod-evasive-6-30s", "mod_evasive", "mod_evasive 1.10.1", "DOSSiteCount 6, DOSSiteInterval 30, DOSBlockingPeriod 5",
		"mod-evasive:6/30s,block=5s",
		"evasive.c 6 30 5",
	},
	{
		"vsthrottle-6-30s", "vsthrottle", "varnish-modules 0.20.0", "vsthrottle.is_denied(key, 6, 30s)",
		"vsthrottle:6/30s",
		"vsthrottle.c 6 30",
	},
	{
		"vsthrottle-20-2s", "vsthrottle", "varnish-modules 0.20.0", "vsthrottle.is_denied(key, 20, 2s)",
		"vsthrottle:20/2s",
		"vsthrottle.c 20 2",
	},
	{
		"resty-count-6-30s", "OpenResty limit.count", "lua-resty-limit-traffic 0.09", `new("store", 6, 30)`,
		"lua-resty-limit-count:6/30s",
		"resty kind=count&count=6&seconds=30",
	},
	{
		"resty-count-20-2s", "OpenResty limit.count", "lua-resty-limit-traffic 0.09", `new("store", 20, 2)`,
		"lua-resty-limit-count:20/2s",
		"resty kind=count&count=20&seconds=2",
	},
	{
		"resty-req-4-1s", "OpenResty limit.req", "lua-resty-limit-traffic 0.09", `new("store", 4, 6)`,
		"lua-resty-limit-req:4/s,burst=6",
		"resty kind=req&count=4&seconds=1&burst=6",
	},
	{
		"resty-req-10-1s", "OpenResty limit.req", "lua-resty-limit-traffic 0.09", `new("store", 10, 20)`,
		"lua-resty-limit-req:10/s,burst=20",
		"resty kind=req&count=10&seconds=1&burst=20",
	},
	{
		"kong-60-1m", "Kong, rate-limiting", "its local policy of July 2026", "minute: 60",
		"kong:60/m",
		"resty kind=kong&count=60&seconds=60",
	},
	{
		"kong-5-1s", "Kong, rate-limiting", "its local policy of July 2026", "second: 5",
		"kong:5/s",
		"resty kind=kong&count=5&seconds=1",
	},
}
