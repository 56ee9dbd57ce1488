package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"shadow/limit"
)

// Servers whose limiters are buckets, as the shape of a limit is. nginx has a file of its own.

// Envoy's local rate limit holds max_tokens and adds tokens_per_fill each fill_interval, which is at least 50 ms and a
// whole number of milliseconds. Since 1.31 what it adds flows in evenly; before, it came at the end of the interval.
// For a limit that refills once in a while we do as it does: before, that came near; since, it is all the same.
// Source: local_ratelimit_impl.cc, "local rate limit token bucket fill timer must be >= 50ms"; token_bucket.proto.
func envoyLocalNearest(s limit.Shape) (near limit.Spec, deviation string) {
	if s.AtOnce > math.MaxUint32 {
		return near, "its buckets hold at most 4294967295"
	}
	each := float64(s.Period) / float64(s.Count) / float64(limit.Millisecond) // milliseconds per token
	tokens := envoyFill(each)
	if s.Step >= envoyLeast*limit.Millisecond && s.Step%limit.Millisecond == 0 {
		tokens = math.Round(float64(s.Step) / float64(limit.Millisecond) / each)
	}
	interval := math.Max(envoyLeast, math.Round(tokens*each))
	if tokens > math.MaxUint32 || interval > math.MaxInt64/1e6 {
		return near, "its tokens_per_fill and fill_interval have no room for this"
	}
	return limit.Spec{
			Algorithm: "envoy-local", Count: int64(tokens), Period: limit.Time(interval) * limit.Millisecond,
			Options: fmt.Sprintf("burst=%d", s.AtOnce),
		},
		join(offText(tokens*each/interval-1), stepText(tokens, float64(s.AtOnce)))
}

const envoyLeast = 50 // milliseconds between two fills

// envoyFill is the tokens to fill when one comes each so many milliseconds: as few as may be.
func envoyFill(each float64) float64 {
	tokens := math.Ceil(envoyLeast / each * (1 - 1e-12))
	for more := 0.0; more < 1000; more++ { // a few more tokens may make the interval a whole number
		if t := (tokens + more) * each; math.Abs(t-math.Round(t)) < 1e-9*t {
			return tokens + more
		}
	}
	return tokens
}

// EnvoyLocalSetting is the setting that envoy-local:6/30s,burst=10 stands for.
func EnvoyLocalSetting(spec limit.Spec) string {
	return fmt.Sprintf("max_tokens: %d, tokens_per_fill: %d, fill_interval: %s",
		spec.Args().Int("burst", spec.Count), spec.Count, secondsText(float64(spec.Period)/float64(limit.Millisecond)))
}

// stepText is about the time when tokens came at the end of each interval.
func stepText(tokens, room float64) string {
	switch {
	case tokens == 1:
		return "before Envoy 1.31 a token comes at the end of each interval"
	case tokens <= room:
		return fmt.Sprintf("before Envoy 1.31 tokens come %.0f at a time", tokens)
	}
	return fmt.Sprintf("before Envoy 1.31 tokens come %.0f at a time, and %.0f of them are kept", tokens, room)
}

// secondsText writes milliseconds as the JSON of a protobuf Duration.
func secondsText(milliseconds float64) string {
	return strconv.FormatFloat(milliseconds/1000, 'f', -1, 64) + "s"
}

// Traefik takes average requests per period and a burst. A request that comes too early is delayed, up to half an
// interval or 500 ms; a key that is idle for 2 s (1 + ⌊1/rate⌋ s below one request per second) is forgotten.
// Source: pkg/middlewares/ratelimiter/rate_limiter.go, New: maxDelay, ttl.
func traefikNearest(s limit.Shape) (near limit.Spec, deviation string) {
	if s.Count > math.MaxInt64/1_000_000_000 || s.Period > limit.Never/1e3 {
		return near, "its average and period are counted in nanoseconds, where these do not fit"
	}
	rate := float64(s.Count) / float64(s.Period) * float64(limit.Second) // per second
	delay, idle := 500*limit.Millisecond, 2*limit.Second
	if rate < 1 {
		idle = limit.Second + limit.Time(1/rate)*limit.Second
	} else {
		delay = limit.Second / limit.Time(2*math.Floor(rate))
	}
	forgets := ""
	if fill(s) > float64(idle) {
		forgets = fmt.Sprintf("a key idle for %s is forgotten and starts full", limit.FormatPeriod(idle))
	}
	early := ""
	if delay > 0 {
		early = fmt.Sprintf("requests up to %s early are delayed, not refused", limit.FormatPeriod(delay))
	}
	return limit.Spec{Algorithm: "traefik", Count: s.Count, Period: s.Period, Options: fmt.Sprintf("burst=%d", s.AtOnce)},
		join(early, forgets)
}

func traefikSetting(spec limit.Spec) string {
	return fmt.Sprintf("average: %d, period: %s, burst: %d", spec.Count, limit.FormatPeriod(spec.Period), spec.Args().Int("burst", 1))
}

// The module redis-cell takes CL.THROTTLE key max_burst count period, the period in whole seconds, and admits
// max_burst + 1 at once. It is the generic cell rate algorithm with an interval in whole nanoseconds, rounded down.
// Source: brandur/redis-cell, src/cell/mod.rs, per_period, delay_variation_tolerance.
func redisNearest(s limit.Shape) (near limit.Spec, deviation string) {
	times, period := wholeSeconds(s.Period)
	if s.Count > math.MaxInt64/times {
		return near, "its count has no room for this"
	}
	count := s.Count * times
	interval := float64(period) * 1e9 / float64(count) // nanoseconds
	if interval < 1 || interval*float64(s.AtOnce) > math.MaxInt64 {
		return near, "it counts in nanoseconds, where this does not fit"
	}
	return limit.Spec{Algorithm: "gcra", Count: s.Count, Period: s.Period, Options: fmt.Sprintf("burst=%d", s.AtOnce-1)},
		offText(interval/math.Floor(interval) - 1)
}

func redisSetting(spec limit.Spec) string {
	times, period := wholeSeconds(spec.Period)
	return fmt.Sprintf("CL.THROTTLE key %d %d %d", spec.Args().Int("burst", 0), spec.Count*times, period)
}

// wholeSeconds returns how often a period is a whole number of seconds, and that number.
func wholeSeconds(period limit.Time) (times, seconds int64) {
	g := limit.GCD(int64(period), int64(limit.Second))
	return int64(limit.Second) / g, int64(period) / g
}

// Servers whose limiters are windows. A bucket is met by the window that admits as many at once and as many in the long
// run: as long as the bucket takes to fill. In such a window the bucket admits up to twice its burst less one: a full
// bucket at once, and what flows in until the window ends.

// HAProxy: http_req_rate(PERIOD) of a stick-table counts the requests of a key, refused ones too, over this period and
// the one before, which fades. Periods are whole milliseconds, up to 2³¹−1.
// Source: src/freq_ctr.c, freq_ctr_total: curr + mul32hi(prev, period − elapsed); stick_table.c, ARG_T_DELAY.
func haproxyNearest(s limit.Shape) (near limit.Spec, deviation string) {
	exact := fill(s) / float64(limit.Millisecond)
	period := math.Max(1, math.Round(exact))
	switch off := exact/period - 1; {
	case period > math.MaxInt32:
		return near, "its periods end at 24 days"
	case math.Abs(off) > 0.5:
		return near, "its periods are whole milliseconds, and 1ms is far too long"
	default:
		return limit.Spec{Algorithm: "haproxy", Count: s.AtOnce, Period: limit.Time(period) * limit.Millisecond},
			join("refused requests count too, so who does not slow down stays out; the period before counts as if spread "+
				"evenly", offText(off))
	}
}

func haproxySetting(spec limit.Spec) string {
	return fmt.Sprintf("http_req_rate(%s) gt %d", limit.FormatPeriod(spec.Period), spec.Count)
}

// EnvoyUnits are the units of Envoy's rate limit service. Source: envoyproxy/ratelimit, src/utils/utilities.go,
// UnitToDivider.
var EnvoyUnits = map[limit.Time]string{
	limit.Second: "second", limit.Minute: "minute", limit.Hour: "hour", limit.Day: "day", limit.Week: "week",
}

// envoyNear holds the units that limits of other kinds are brought to.
var envoyNear = []limit.Time{limit.Second, limit.Minute, limit.Hour, limit.Day}

// Envoy's rate limit service counts in windows of a unit, on the grid of the epoch, refused requests too, to no effect.
// Of the units whose whole numbers come within 5 % of the rate, we take the one that admits nearest as many at once.
func envoyNearest(s limit.Shape) (near limit.Spec, deviation string) {
	bestOff, bestCost := 0.0, math.Inf(1)
	for _, unit := range envoyNear {
		exact := float64(s.Count) * float64(unit) / float64(s.Period)
		count := math.Round(exact)
		if count < 1 || count > math.MaxUint32 {
			continue
		}
		off := count/exact - 1
		cost := math.Abs(math.Log(count / float64(s.AtOnce)))
		if math.Abs(off) > 0.05 {
			cost += 100 * math.Abs(off)
		}
		if cost < bestCost {
			near = limit.Spec{Algorithm: "envoy", Count: int64(count), Period: unit}
			bestOff, bestCost = off, cost
		}
	}
	if near.Count == 0 {
		return near, "it offers whole requests per second, minute, hour or day, and none comes near"
	}
	atOnce := ""
	if near.Count != s.AtOnce {
		atOnce = fmt.Sprintf("%d at once, not %d", near.Count, s.AtOnce)
	}
	return near, join(atOnce, fmt.Sprintf("fixed windows: up to %d across a boundary", 2*near.Count), offText(bestOff))
}

func envoySetting(spec limit.Spec) string {
	return fmt.Sprintf("unit: %s, requests_per_unit: %d", EnvoyUnits[spec.Period], spec.Count)
}

// envoySame: windows of such a unit on the grid of the epoch are what it has.
func envoySame(spec limit.Spec, _ limit.Shape) (deviation string, same bool) {
	if spec.Algorithm != "fixed" || spec.Options != "" && spec.Options != "align=epoch" {
		return "", false
	}
	return "", slices.Contains(envoyNear, spec.Period)
}

// Caddy, with the module mholt/caddy-ratelimit, remembers the times of the latest requests that it admitted in a ring,
// and refuses one while the oldest is less than the window ago. Source: ringbuffer.go, When, and handler.go, ServeHTTP.
func caddyNearest(s limit.Shape) (near limit.Spec, deviation string) {
	switch {
	case fill(s) > math.MaxInt64/1e3:
		return near, "its windows end at 292 years"
	case s.AtOnce > 1<<30:
		return near, "its ring remembers each request, and these are too many"
	}
	window := limit.Time(math.Max(1, math.Round(fill(s))))
	near = limit.Spec{Algorithm: "caddy", Count: s.AtOnce, Period: window}
	off := offText(fill(s)/float64(window) - 1)
	if !s.Kin || s.AtOnce == 1 {
		return near, join("an exact rolling window", off)
	}
	return near, join(fmt.Sprintf("an exact rolling window: never more than %d in %s, where this limit admits up to "+
		"%d in some",
		s.AtOnce, limit.FormatPeriod(window), 2*s.AtOnce-1), off)
}

func caddySetting(spec limit.Spec) string {
	return fmt.Sprintf("events %d window %s", spec.Count, limit.FormatPeriod(spec.Period))
}

// caddySame: its ring is the exact rolling window, and so a bucket of one, apart from an instant.
func caddySame(spec limit.Spec, s limit.Shape) (deviation string, same bool) {
	const instant = "at the very instant at which a request leaves the window any number is admitted"
	if spec.Algorithm == "window" && spec.Options == "" {
		return instant, true
	}
	return join(s.Unlike, instant), s.Kin && s.AtOnce == 1
}
