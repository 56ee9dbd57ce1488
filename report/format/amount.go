package format

import (
	"fmt"
	"strconv"
	"strings"

	"shadow/limit"
)

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
