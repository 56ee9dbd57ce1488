package policy

import (
	"fmt"
	"math"
	"strconv"

	"shadow/limit"
)

// Servers whose limiters are buckets, as the shape of a limit is. nginx has a file of its own.

// Envoy's local rate limit holds max_tokens and adds tokens_per_fill each fill_interval, which is at least 50 ms and a
// whole number of milliseconds. Since 1.31 what it adds flows in evenly; before, it came at the end of the interval.
// For a limit that refills once in a while we do as it does: before, that came near; since, it is all the same.
// Source: local_ratelimit_impl.cc, "local rate limit token bucket fill timer must be >= 50ms"; token_bucket.proto.
func envoyLocalNearest(s limit.Shape) (setting, deviation string) {
	if s.AtOnce > math.MaxUint32 {
		return "", "its buckets hold at most 4294967295"
	}
	each := float64(s.Period) / float64(s.Count) / float64(limit.Millisecond) // milliseconds per token
	tokens := envoyFill(each)
	if s.Step >= envoyLeast*limit.Millisecond && s.Step%limit.Millisecond == 0 {
		tokens = math.Round(float64(s.Step) / float64(limit.Millisecond) / each)
	}
	interval := math.Max(envoyLeast, math.Round(tokens*each))
	if tokens > math.MaxUint32 || interval > math.MaxInt64/1e6 {
		return "", "its tokens_per_fill and fill_interval have no room for this"
	}
	return fmt.Sprintf("max_tokens: %d, tokens_per_fill: %.0f, fill_interval: %s", s.AtOnce, tokens, secondsText(interval)),
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

// envoyLocalOwn is the setting that envoy-local:6/30s,burst=10 stands for.
func envoyLocalOwn(spec limit.Spec) string {
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
func traefikNearest(s limit.Shape) (setting, deviation string) {
	if s.Count > math.MaxInt64/1_000_000_000 || s.Period > limit.Never/1e3 {
		return "", "its average and period are counted in nanoseconds, where these do not fit"
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
	return fmt.Sprintf("average: %d, period: %s, burst: %d", s.Count, limit.FormatPeriod(s.Period), s.AtOnce), join(early, forgets)
}

// The module redis-cell takes CL.THROTTLE key max_burst count period, the period in whole seconds, and admits
// max_burst + 1 at once. It is the generic cell rate algorithm with an interval in whole nanoseconds, rounded down.
// Source: brandur/redis-cell, src/cell/mod.rs, per_period, delay_variation_tolerance.
func redisNearest(s limit.Shape) (setting, deviation string) {
	g := limit.GCD(int64(s.Period), int64(limit.Second))
	times, period := int64(limit.Second)/g, int64(s.Period)/g // this often the period is so many seconds
	if s.Count > math.MaxInt64/times {
		return "", "its count has no room for this"
	}
	count := s.Count * times
	interval := float64(period) * 1e9 / float64(count) // nanoseconds
	if interval < 1 || interval*float64(s.AtOnce) > math.MaxInt64 {
		return "", "it counts in nanoseconds, where this does not fit"
	}
	return fmt.Sprintf("CL.THROTTLE key %d %d %d", s.AtOnce-1, count, period), offText(interval/math.Floor(interval) - 1)
}
