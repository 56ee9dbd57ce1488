package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"shadow/limit"
)

// What the names of libraries and servers mean in our words.

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

// either is a preset with an option that says which of two formats it is: the first, unless it is given.
func either(option string, words, formats [2]string) func(limit.Spec, *limit.Args) (string, error) {
	return func(spec limit.Spec, args *limit.Args) (string, error) {
		i := slices.Index(words[:], args.Choice(option, words[0], words[:]...))
		return fmt.Sprintf(formats[i], rate(spec)), nil
	}
}

// withCooldown is a preset whose option, if it is given, keeps out for a while who was refused.
func withCooldown(format, option string) func(limit.Spec, *limit.Args) (string, error) {
	return func(spec limit.Spec, args *limit.Args) (string, error) {
		text := fmt.Sprintf(format, rate(spec))
		if ban := args.Duration(option, 0); ban > 0 {
			text += ",cooldown=" + limit.FormatPeriod(ban)
		}
		return text, nil
	}
}

// toItsEnd counts in windows that each key opens and that hold to their very end.
func toItsEnd(spec limit.Spec, _ *limit.Args) (string, error) {
	return "fixed:" + closed(spec, limit.Microsecond) + ",align=first", nil
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

// nestjs forgets the admitted requests when a block ends, which a block of the ttl or longer makes no difference to.
func nestjs(spec limit.Spec, args *limit.Args) (string, error) {
	block := args.Duration("block", spec.Period)
	if block < spec.Period {
		return "", fmt.Errorf("limit %q: a block shorter than the ttl ends the window early there; "+
			"there is no such limit here", spec)
	}
	return "window:" + rate(spec) + ",clock=1ms,cooldown=" + limit.FormatPeriod(block), nil
}

func upstash(spec limit.Spec, args *limit.Args) (string, error) {
	switch args.Choice("window", "sliding", "sliding", "fixed", "token") {
	case "token":
		return fmt.Sprintf("token:%s,burst=%d,refill=interval,clock=1ms", rate(spec), args.Int("burst", spec.Count)), nil
	case "fixed":
		return "fixed:" + rate(spec), nil
	}
	return "counter:" + rate(spec) + ",round=down,clock=1ms", nil
}

// ofLimits is the library limits of Python.
func ofLimits(spec limit.Spec, args *limit.Args) (string, error) {
	switch args.Choice("strategy", "fixed", "fixed", "moving", "counter") {
	case "moving":
		return "window:" + closed(spec, limit.Microsecond), nil
	case "counter":
		return "counter:" + rate(spec) + ",round=down", nil
	}
	return "fixed:" + rate(spec) + ",align=first", nil
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

// guava lends the next second's permits: a request is admitted while none are owed, and then one second's are stored.
func guava(spec limit.Spec, _ *limit.Args) (string, error) {
	if spec.Period != limit.Second {
		return "", fmt.Errorf("limit %q: its permits are per second", spec)
	}
	return fmt.Sprintf("token:%s,burst=%d,initial=1", rate(spec), spec.Count+1), nil
}

// perSecond is a token bucket whose rate is per second, as is its burst unless another is given.
func perSecond(spec limit.Spec, args *limit.Args) (string, error) {
	burst := args.Int("burst", 0)
	if burst == 0 && spec.Period != limit.Second {
		return "", fmt.Errorf("limit %q: its rate is per second; give the burst as well", spec)
	}
	return fmt.Sprintf("token:%s,burst=%d", rate(spec), cmp.Or(burst, spec.Count)), nil
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
	return toItsEnd(spec, args)
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

// countMillis counts in a store in which a key lives until its age in milliseconds is more than the period.
func countMillis(spec limit.Spec, _ *limit.Args) (string, error) {
	return "fixed:" + closed(spec, limit.Millisecond) + ",align=first,clock=1ms", nil
}

func gubernator(spec limit.Spec, args *limit.Args) (string, error) {
	if args.Choice("algorithm", "token", "token", "leaky") == "leaky" {
		return fmt.Sprintf("token:%s,burst=%d,clock=1ms", rate(spec), args.Int("burst", spec.Count)), nil
	}
	return countMillis(spec, args)
}

// krakend gives no tokens back until the bucket is empty. Then it has those that have come by now, and may have one more
// than the capacity.
func krakend(spec limit.Spec, args *limit.Args) (string, error) {
	each := limit.FormatPeriod(spec.Period / limit.Time(spec.Count))
	return fmt.Sprintf("token:1/%s,burst=%d,refill=interval", each, args.Int("burst", 1)+1), nil
}

// modQos refuses the request that makes N, and counts in whole seconds. The last second is still in the window.
func modQos(spec limit.Spec, _ *limit.Args) (string, error) {
	if spec.Count < 2 || spec.Period%limit.Second != 0 {
		return "", fmt.Errorf("limit %q: it refuses the request that makes the count, at least 2, in whole seconds", spec)
	}
	spec.Count--
	return "fixed:" + closed(spec, limit.Second) + ",align=first,clock=1s", nil
}

// aspnetCore gives permits back when a timer of 100 ms finds that it is time.
func aspnetCore(spec limit.Spec, args *limit.Args) (string, error) {
	switch args.Choice("limiter", "fixed", "fixed", "sliding", "token") {
	case "token":
		return fmt.Sprintf("token:%s,burst=%d,clock=100ms", rate(spec), args.Int("burst", spec.Count)), nil
	case "sliding":
		segments := args.Int("segments", 1)
		if segments < 1 || int64(spec.Period)%segments != 0 {
			return "", fmt.Errorf("limit %q: segments must divide the window", spec)
		}
		return fmt.Sprintf("window:%s,step=%s", rate(spec), limit.FormatPeriod(spec.Period/limit.Time(segments))), nil
	}
	return "token:" + rate(spec) + ",refill=step", nil
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
