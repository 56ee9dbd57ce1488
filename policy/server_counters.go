package policy

import (
	"fmt"
	"math"

	"shadow/limit"
)

// Servers whose limiters are windows. A bucket is met by the window that admits as many at once and as many in the long
// run: as long as the bucket takes to fill. In such a window the bucket admits up to twice its burst less one: a full
// bucket at once, and what flows in until the window ends.

// HAProxy: http_req_rate(PERIOD) of a stick-table counts the requests of a key, refused ones too, over this period and
// the one before, which fades. Periods are whole milliseconds, up to 2³¹−1.
// Source: src/freq_ctr.c, freq_ctr_total: curr + mul32hi(prev, period − elapsed); stick_table.c, ARG_T_DELAY.
func haproxyNearest(s limit.Shape) (setting, deviation string) {
	exact := fill(s) / float64(limit.Millisecond)
	period := math.Max(1, math.Round(exact))
	switch off := exact/period - 1; {
	case period > math.MaxInt32:
		return "", "its periods end at 24 days"
	case math.Abs(off) > 0.5:
		return "", "its periods are whole milliseconds, and 1ms is far too long"
	default:
		return fmt.Sprintf("http_req_rate(%s) gt %d", limit.FormatPeriod(limit.Time(period)*limit.Millisecond), s.AtOnce),
			join("refused requests count too, so who does not slow down stays out; the period before counts as if spread evenly", offText(off))
	}
}

// envoyUnits are those of Envoy's rate limit service. Source: envoyproxy/ratelimit, src/utils/utilities.go,
// UnitToDivider.
var envoyUnits = []struct {
	name   string
	length limit.Time
}{{"second", limit.Second}, {"minute", limit.Minute}, {"hour", limit.Hour}, {"day", limit.Day}}

// Envoy's rate limit service counts in windows of a unit, on the grid of the epoch, refused requests too, to no effect.
// Of the units whose whole numbers come within 5 % of the rate, we take the one that admits nearest as many at once.
func envoyNearest(s limit.Shape) (setting, deviation string) {
	best, bestOff, bestCost := "", 0.0, math.Inf(1)
	var bestCount float64
	for _, unit := range envoyUnits {
		exact := float64(s.Count) * float64(unit.length) / float64(s.Period)
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
			best, bestCount, bestOff, bestCost = unit.name, count, off, cost
		}
	}
	if best == "" {
		return "", "it offers whole requests per second, minute, hour or day, and none comes near"
	}
	atOnce := ""
	if n := int64(bestCount); n != s.AtOnce {
		atOnce = fmt.Sprintf("%d at once, not %d", n, s.AtOnce)
	}
	return fmt.Sprintf("unit: %s, requests_per_unit: %.0f", best, bestCount),
		join(atOnce, fmt.Sprintf("fixed windows: up to %.0f across a boundary", 2*bestCount), offText(bestOff))
}

// envoySame: windows of such a unit on the grid of the epoch are what it has.
func envoySame(spec limit.Spec, _ limit.Shape) (deviation string, same bool) {
	if spec.Algorithm != "fixed" || spec.Options != "" && spec.Options != "align=epoch" {
		return "", false
	}
	for _, unit := range envoyUnits {
		if spec.Period == unit.length {
			return "", true
		}
	}
	return "", false
}

// Caddy, with the module mholt/caddy-ratelimit, remembers the times of the latest requests that it admitted in a ring,
// and refuses one while the oldest is less than the window ago. Source: ringbuffer.go, When, and handler.go, ServeHTTP.
func caddyNearest(s limit.Shape) (setting, deviation string) {
	switch {
	case fill(s) > math.MaxInt64/1e3:
		return "", "its windows end at 292 years"
	case s.AtOnce > 1<<30:
		return "", "its ring remembers each request, and these are too many"
	}
	window := limit.Time(math.Max(1, math.Round(fill(s))))
	setting = fmt.Sprintf("events %d window %s", s.AtOnce, limit.FormatPeriod(window))
	off := offText(fill(s)/float64(window) - 1)
	if !s.Kin || s.AtOnce == 1 {
		return setting, join("an exact rolling window", off)
	}
	return setting, join(fmt.Sprintf("an exact rolling window: never more than %d in %s, where this limit admits up to %d in some",
		s.AtOnce, limit.FormatPeriod(window), 2*s.AtOnce-1), off)
}

// caddySame: its ring is the exact rolling window, and so a bucket of one, apart from an instant.
func caddySame(spec limit.Spec, s limit.Shape) (deviation string, same bool) {
	const instant = "at the very instant at which a request leaves the window any number is admitted"
	if spec.Algorithm == "window" && spec.Options == "" {
		return instant, true
	}
	return join(s.Unlike, instant), s.Kin && s.AtOnce == 1
}
