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

// nearest returns the limit of a server that the table of limits shows for another one, by the algorithm that is the server's own,
// and how it deviates.
func nearest(algorithm string) func(limit.Spec, limit.Shape) (near limit.Spec, deviation string) {
	at := slices.IndexFunc(policy.Servers, func(s policy.Server) bool { return s.Preset == algorithm })
	return func(spec limit.Spec, shape limit.Shape) (near limit.Spec, deviation string) {
		e := policy.Equivalents(spec, shape)[at]
		switch deviation = e.Deviation; {
		case deviation == "exact":
			deviation = ""
		case e.Closest && e.Limit.Count > 0:
			deviation = "the closest of another kind: " + deviation
		}
		return e.Limit, deviation
	}
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

// fixedWindows returns the nearest limit in windows, with words on how it deviates.
func fixedWindows(algorithm, kind string, least int64, lengths ...limit.Time) func(limit.Spec, limit.Shape) (limit.Spec, string) {
	return func(spec limit.Spec, s limit.Shape) (near limit.Spec, deviation string) {
		n, per, off := inWindows(s, least, lengths...)
		if n == 0 {
			return near, "its windows have no room for this"
		}
		var words []string
		if n != s.AtOnce {
			words = append(words, fmt.Sprintf("%d at once, not %d", n, s.AtOnce))
		}
		if math.Abs(off) >= 1e-6 {
			words = append(words, fmt.Sprintf("%.2g %% %s", 100*math.Abs(off), map[bool]string{true: "faster", false: "slower"}[off > 0]))
		}
		if spec.Algorithm != "fixed" || spec.Period != per || algorithm != "fixed" {
			words = append([]string{kind}, words...)
		}
		return limit.Spec{Algorithm: algorithm, Count: n, Period: per}, strings.Join(words, "; ")
	}
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
