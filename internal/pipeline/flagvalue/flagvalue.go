// Package flagvalue reads values of flags that no other package has: moments, sizes, shares.
package flagvalue

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// ParsePercent reads a share from 0 to 100 %. The sign may be left out.
func ParsePercent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, errors.New("want a share from 0% to 100%, such as 5%")
	}
	return v, nil
}

// FormatPercent is the text that ParsePercent reads.
func FormatPercent(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) + "%" }

// sizeUnits are in the order in which they are tried: "B" is the end of others, and of texts of one length the first
// is taken.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {"", 1},
}

// ParseSize reads a whole number of bytes, KiB, MiB or GiB (powers of 1,024), or kB, MB or GB (powers of 1,000) above 0,
// such as 64MiB.
func ParseSize(text string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= 1 && n <= math.MaxInt64/u.bytes {
			return n * u.bytes, nil
		}
		break
	}
	return 0, errors.New("want a size, such as 64MiB")
}

// FormatSize is the shortest text with a unit that ParseSize reads as n, or "0".
func FormatSize(n int64) string {
	text := ""
	for _, u := range sizeUnits {
		if n == 0 || n%u.bytes != 0 || u.name == "" {
			continue
		}
		if fits := fmt.Sprint(n/u.bytes, u.name); text == "" || len(fits) < len(text) {
			text = fits
		}
	}
	return cmp.Or(text, "0")
}

// NotHTTPWords lists the values of --not-http.
var NotHTTPWords = []string{ingest.SkipNotHTTP: "skip", ingest.JudgeNotHTTP: "judge"}

// A Moment is what --since and --until take: a moment (RFC 3339), a date or a date and time of a zone, a day's name
// (now, today, yesterday), or how long ago (24h, 7d). Which moment that is depends on the time and the zone.
type Moment string

// ParseMoment verifies a moment.
func ParseMoment(text string) (Moment, error) {
	if _, ok := Moment(text).at(time.Now()); !ok {
		return "", fmt.Errorf("%q is no moment: want 2026-11-19T08:00:00Z, 2026-11-19, today, yesterday, or how long ago: "+
			"24h, 7d", text)
	}
	return Moment(text), nil
}

func (m Moment) String() string { return string(m) }

// At is the moment meant, in the zone of now.
func (m Moment) At(now time.Time) limit.Time {
	at, _ := m.at(now)
	return at
}

func (m Moment) at(now time.Time) (at limit.Time, ok bool) {
	if t, ok := m.zoneless(now); ok || m == "now" {
		return limit.Time(t.UnixMicro()), true
	}
	if t, err := time.Parse(time.RFC3339Nano, string(m)); err == nil {
		return limit.Time(t.UnixMicro()), true
	}
	ago, err := limit.ParsePeriod(string(m))
	return limit.Time(now.UnixMicro()) - ago, err == nil
}

// zoneless is a moment that the zone of now decides. Days begin at midnight, also where the clock changes.
func (m Moment) zoneless(now time.Time) (t time.Time, ok bool) {
	y, month, d := now.Date()
	switch m {
	case "now":
		return now, false
	case "today":
		return time.Date(y, month, d, 0, 0, 0, 0, now.Location()), true
	case "yesterday":
		return time.Date(y, month, d-1, 0, 0, 0, 0, now.Location()), true
	}
	for _, layout := range []string{
		time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05",
	} {
		if t, err := time.ParseInLocation(layout, string(m), now.Location()); err == nil {
			return t, true
		}
	}
	return t, false
}

// ZoneNote says in which zone a flag was read whose moment names none; nothing of others.
func (m Moment) ZoneNote(flag string, now time.Time) []string {
	t, ok := m.zoneless(now)
	if !ok {
		return nil
	}
	return []string{fmt.Sprintf("--%s %s is read in %s, as %s: --timezone names another zone",
		flag, m, now.Location(), t.UTC().Format("2006-01-02 15:04:05 UTC"))}
}

// abbreviations of zones, which several may have or which hold for half of the year, each with a place that uses it.
var abbreviations = map[string]string{
	"AEDT": "Australia/Sydney", "AEST": "Australia/Sydney", "AKST": "America/Anchorage", "BRT": "America/Sao_Paulo",
	"BST": "Europe/London", "CDT": "America/Chicago", "CEST": "Europe/Berlin", "CST": "America/Chicago",
	"EDT": "America/New_York", "EEST": "Europe/Athens", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"KST": "Asia/Seoul", "MDT": "America/Denver", "MSK": "Europe/Moscow", "NZST": "Pacific/Auckland",
	"PDT": "America/Los_Angeles", "PST": "America/Los_Angeles", "SGT": "Asia/Singapore", "WEST": "Europe/Lisbon",
}

// ParseZone reads a time zone: a name, or how far it is ahead of UTC, as in +02:00. Its String is read as the same one.
func ParseZone(text string) (*time.Location, error) {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, text); err == nil {
			_, east := t.Zone()
			return time.FixedZone(t.Format("-07:00"), east), nil
		}
	}
	zone, err := time.LoadLocation(text)
	if err == nil && text != "" {
		return zone, nil
	}
	if place := abbreviations[strings.ToUpper(text)]; place != "" {
		return nil, fmt.Errorf("an abbreviation names no zone; want a name such as %s, or an offset such as +02:00", place)
	}
	return nil, errors.New("no such zone; want a name such as UTC, Europe/Berlin or Local, or an offset such as +02:00")
}
