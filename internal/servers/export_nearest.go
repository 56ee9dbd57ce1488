package servers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/limit"
)

// The nearest limit of a server is the setting that the table of limits shows for it, read back as a limit.

// setting is the setting of a server for a limit, and how it deviates.
func equivalent(server string, spec limit.Spec, shape limit.Shape) (setting, deviation string) {
	all := policy.Equivalents(spec, shape)
	e := all[slices.IndexFunc(all, func(e policy.Equivalent) bool { return e.Server == server })]
	deviation = e.Deviation
	switch {
	case deviation == "exact":
		deviation = ""
	case e.Closest && e.Setting != "":
		deviation = "the closest of another kind: " + deviation
	}
	return e.Setting, deviation
}

func nearestNginx(spec limit.Spec, shape limit.Shape) (text, deviation string) {
	setting, deviation := equivalent("nginx limit_req", spec, shape)
	if setting == "" {
		return "", deviation
	}
	return "nginx:" + strings.Join(strings.Fields(strings.TrimPrefix(setting, "rate=")), ","), deviation
}

func nearestHAProxy(spec limit.Spec, shape limit.Shape) (text, deviation string) {
	setting, deviation := equivalent("HAProxy stick-table", spec, shape)
	var n int64
	period, rest, _ := strings.Cut(strings.TrimPrefix(setting, "http_req_rate("), ")")
	if _, err := fmt.Sscanf(rest, " gt %d", &n); err != nil {
		return "", deviation
	}
	return fmt.Sprintf("haproxy:%d/%s", n, period), deviation
}

// inWindows is the nearest of windows of some lengths, each with whole numbers from least on: of those whose rate comes
// within 5 % the one that admits nearest as many at once, as for Envoy's service.
func inWindows(s limit.Shape, least int64, lengths ...limit.Time) (n int64, per limit.Time, off float64) {
	best := math.Inf(1)
	for _, length := range lengths {
		exact := float64(s.Count) * float64(length) / float64(s.Period)
		count := math.Max(float64(least), math.Round(exact))
		if count > math.MaxInt32 {
			continue
		}
		wrong := count/exact - 1
		cost := math.Abs(math.Log(count / float64(s.AtOnce)))
		if math.Abs(wrong) > 0.05 {
			cost += 100 * math.Abs(wrong)
		}
		if cost < best {
			best, n, per, off = cost, int64(count), length, wrong
		}
	}
	return n, per, off
}

// fixedWindows is the nearest limit in windows, with words on how it deviates.
func fixedWindows(format string, kind string, spec limit.Spec, s limit.Shape, least int64, lengths ...limit.Time) (text, deviation string) {
	n, per, off := inWindows(s, least, lengths...)
	if n == 0 {
		return "", "its windows have no room for this"
	}
	var words []string
	if n != s.AtOnce {
		words = append(words, fmt.Sprintf("%d at once, not %d", n, s.AtOnce))
	}
	if math.Abs(off) >= 1e-6 {
		words = append(words, fmt.Sprintf("%.2g %% %s", 100*math.Abs(off), map[bool]string{true: "faster", false: "slower"}[off > 0]))
	}
	text = fmt.Sprintf(format, n, limit.FormatPeriod(per))
	if spec.Algorithm != "fixed" || spec.Period != per || !strings.HasPrefix(format, "fixed") {
		words = append([]string{kind}, words...)
	}
	return text, strings.Join(words, "; ")
}

// nearestCooldown is the nearest of some lengths to a cooldown, and words on how it deviates, behind a semicolon.
func nearestCooldown(wanted string, lengths []limit.Time) (length, deviation string) {
	text, how, _ := strings.Cut(wanted, "/")
	period, err := limit.ParsePeriod(text)
	if err != nil {
		return wanted, "" // no limit has such a one
	}
	best := slices.MinFunc(lengths, func(a, b limit.Time) int {
		return cmp.Compare(math.Abs(math.Log(float64(a)/float64(period))), math.Abs(math.Log(float64(b)/float64(period))))
	})
	if length = limit.FormatPeriod(best); best != period {
		deviation = fmt.Sprintf("; a cooldown of %s, not %s", length, text)
	}
	if how != "" {
		deviation += "; requests in the cooldown do not put off its end"
	}
	return length, deviation
}
