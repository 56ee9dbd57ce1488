package format

import (
	"fmt"
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
