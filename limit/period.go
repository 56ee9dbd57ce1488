package limit

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A period is written as people say it: "30s", "1h30m", "m", "2d". It is a Go duration, or one of s m h d w with or
// without a number; a day has 24 hours and a week 7 days. Its canonical text has one unit only: the largest of h, m,
// s, ms and us that divides it evenly, so that 60s is 1m, 1d is 24h and 90s stays 90s.

// canonicalUnits are the units of canonical periods, largest first.
var canonicalUnits = []struct {
	name   string
	length Time
}{{"h", Hour}, {"m", Minute}, {"s", Second}, {"ms", Millisecond}, {"us", Microsecond}}

// longest is the longest period, about 292 years: as much as a Go duration holds, so that its text can be read.
const longest = Never / 1000

// FormatPeriod is the canonical text of a length of time.
func FormatPeriod(p Time) string {
	for _, u := range canonicalUnits {
		if p%u.length == 0 && p != 0 {
			return strconv.FormatInt(int64(p/u.length), 10) + u.name
		}
	}
	return "0s"
}

// ParsePeriod reads a length of time, which must be positive and a whole number of microseconds.
func ParsePeriod(text string) (Time, error) {
	p, err := parsePeriod(text)
	if errors.Is(err, errNoPeriod) {
		err = wordyPeriod(text)
	}
	if err != nil {
		return 0, fmt.Errorf("period %q: %w", text, err)
	}
	return p, nil
}

func parsePeriod(text string) (Time, error) {
	if text == "" || text[0] == '+' || text[0] == '-' {
		return 0, errNoPeriod
	}
	if 'a' <= text[0] && text[0] <= 'z' { // a bare unit
		text = "1" + text
	}
	number, unit := text[:len(text)-1], text[len(text)-1]
	switch unit {
	case 'd':
		return daysOf(number, Day)
	case 'w':
		return daysOf(number, Week)
	}
	return durationOf(text)
}

// daysOf is number times unit, which is a day or a week.
func daysOf(number string, unit Time) (Time, error) {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, errNoPeriod
	}
	if n == 0 {
		return 0, errors.New("must be longer than nothing")
	}
	if n > uint64(longest/unit) {
		return 0, errors.New("too long")
	}
	return Time(n) * unit, nil
}

// durationOf reads a Go duration.
func durationOf(text string) (Time, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errNoPeriod
	case d == 0:
		return 0, errors.New("must be longer than nothing")
	case d%time.Microsecond != 0:
		return 0, errors.New("must be a whole number of microseconds")
	}
	return Time(d / time.Microsecond), nil
}
