package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"shadow/limit"
)

// A Moment is a time that is written in UTC.
type Moment limit.Time

// stamp is RFC 3339 with all the microseconds, so that texts sort as their times do.
const stamp = "2006-01-02T15:04:05.000000Z"

// String is the moment in RFC 3339, UTC, with microseconds.
func (m Moment) String() string { return m.Format(stamp) }

// MarshalText writes the moment as String does.
func (m Moment) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Format writes the moment in UTC by a layout of package time.
func (m Moment) Format(layout string) string {
	return time.UnixMicro(int64(m)).UTC().Format(layout)
}

// Span writes a length of time in its two largest units: "17 d 23 h", "4 min 10 s", "0.35 s".
func Span(d limit.Time) string {
	two := func(big limit.Time, bigName string, small limit.Time, smallName string) string {
		return fmt.Sprintf("%s %s %d %s", Thousands(int64(d/big)), bigName, d%big/small, smallName)
	}
	switch {
	case d >= limit.Day:
		return two(limit.Day, "d", limit.Hour, "h")
	case d >= limit.Hour:
		return two(limit.Hour, "h", limit.Minute, "min")
	case d >= limit.Minute:
		return two(limit.Minute, "min", limit.Second, "s")
	case d%limit.Second == 0:
		return fmt.Sprintf("%d s", d/limit.Second)
	}
	return fmt.Sprintf("%.2f s", float64(d)/float64(limit.Second))
}

// Wait writes how long a request was kept waiting, in seconds, with two or three digits.
func Wait(seconds float64) string {
	switch ms := seconds * 1000; {
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return Span(limit.Time(seconds * float64(limit.Second)))
}

// OfSeconds is a number of seconds that may be missing, as a length of time.
func OfSeconds(s *float64) limit.Time {
	if s == nil {
		return 0
	}
	return limit.Time(*s * float64(limit.Second))
}

// InSeconds returns t in seconds.
func InSeconds(t limit.Time) float64 { return float64(t) / float64(limit.Second) }

// Numbers that need not be whole, and lengths of time of any size, as people would say them.

// Amount writes a number that need not be whole: with two digits behind the point, more if it is small, and none that
// say nothing. 5,000, 116.67, 62.5, 0.0167.
func Amount(v float64) string {
	if v < 1 {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	whole, fraction, found := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = Thousands(n)
	}
	if found {
		return whole + "." + fraction
	}
	return whole
}

// Brief writes a length of time as span does, without what is 0, and short ones in ms or us.
func Brief(d limit.Time) string {
	if limit.Minute <= d && d < limit.Hour {
		const grain = 10 * limit.Millisecond
		d = (d + grain/2) / grain * grain
	}
	switch {
	case d < limit.Millisecond:
		return fmt.Sprintf("%d us", d)
	case d < limit.Second:
		return Significant(float64(d)/float64(limit.Millisecond)) + " ms"
	case d < limit.Minute:
		return Significant(float64(d)/float64(limit.Second)) + " s"
	case d < limit.Hour && d%limit.Minute == 0:
		return fmt.Sprintf("%d min", d/limit.Minute)
	case d < 2*limit.Day && d%limit.Hour == 0:
		return fmt.Sprintf("%d h", d/limit.Hour)
	case d < limit.Hour && d%limit.Second != 0:
		return fmt.Sprintf("%d min %s s", d/limit.Minute, Significant(float64(d%limit.Minute)/float64(limit.Second)))
	case d%limit.Day == 0:
		return Thousands(int64(d/limit.Day)) + " d"
	}
	return Span(d)
}

// RoundUp rounds up to what brief shows: what happens within d happens within that.
func RoundUp(d limit.Time) limit.Time {
	unit := limit.Time(1)
	switch {
	case d >= limit.Day:
		unit = limit.Hour
	case d >= limit.Hour:
		unit = limit.Minute
	default:
		for d/unit >= 10_000 {
			unit *= 10
		}
	}
	return limit.Time(limit.CeilDiv(int64(d), int64(unit))) * unit
}

// LengthOf is brief of a number of seconds.
func LengthOf(seconds float64) string {
	return Brief(limit.Time(min(seconds*float64(limit.Second)+0.5, 9e18)))
}

// Significant writes a number with at most four digits that count.
func Significant(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
