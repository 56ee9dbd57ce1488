package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"shadow/limit"
	"shadow/traffic/ingest"
)

// The values of flags. Each is a pflag.Value: it is set from text, written as that text again, and named by --help.

// A Percent is a flag such as 5%. The sign may be left out.
type Percent float64

// Set reads a share from 0 to 100 %.
func (p *Percent) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return fmt.Errorf("want a share from 0%% to 100%%, such as 5%%")
	}
	*p = Percent(v)
	return nil
}

func (p *Percent) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%" }

// Type is what --help calls the value.
func (p *Percent) Type() string { return "percent" }

// A Period is a flag such as 20m or 1d.
type Period limit.Time

// Set reads a period.
func (p *Period) Set(text string) error {
	v, err := limit.ParsePeriod(text)
	if err == nil {
		*p = Period(v)
	}
	return err
}

func (p *Period) String() string { return limit.FormatPeriod(limit.Time(*p)) }

// Type is what --help calls the value.
func (p *Period) Type() string { return "duration" }

// A Size is a flag such as 64MiB: a whole number of bytes, KiB, MiB or GiB.
type Size int64

// sizeUnits are from large to small, so that a size is written in the largest that fits.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// Set reads a size, which must be above 0.
func (s *Size) Set(text string) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size, such as 64MiB")
}

func (s *Size) String() string {
	for _, u := range sizeUnits {
		if int64(*s)%u.bytes == 0 && *s != 0 {
			return fmt.Sprint(int64(*s)/u.bytes, u.name)
		}
	}
	return "0"
}

// Type is what --help calls the value.
func (s *Size) Type() string { return "size" }

// NotHTTP is the value of --not-http.
type NotHTTP ingest.NotHTTP

// NotHTTPWords are what it may be.
var NotHTTPWords = [...]string{ingest.SkipNotHTTP: "skip", ingest.JudgeNotHTTP: "judge"}

func (n *NotHTTP) String() string { return NotHTTPWords[*n] }

// Type is what --help calls the value.
func (n *NotHTTP) Type() string { return "what" }

// Set reads one of the words.
func (n *NotHTTP) Set(text string) error {
	i := slices.Index(NotHTTPWords[:], text)
	if i < 0 {
		return fmt.Errorf("want skip or judge")
	}
	*n = NotHTTP(i)
	return nil
}

// ParseMoment reads what --since and --until take: a moment (RFC 3339), a date or a date and time in the zone of now, a
// day's name (now, today, yesterday), or how long ago (24h, 7d).
func ParseMoment(text string, now time.Time) (limit.Time, error) {
	if t, ok := namedMoment(text, now); ok {
		return limit.Time(t.UnixMicro()), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return limit.Time(t.UnixMicro()), nil
	}
	if t, ok := zonelessMoment(text, now.Location()); ok {
		return limit.Time(t.UnixMicro()), nil
	}
	if ago, err := limit.ParsePeriod(text); err == nil {
		return limit.Time(now.UnixMicro()) - ago, nil
	}
	return 0, fmt.Errorf("%q is no moment: want 2026-11-19T08:00:00Z, 2026-11-19, today, yesterday, or how long ago: 24h, 7d", text)
}

// zonelessMoment reads a date, or a date and time, of a zone.
func zonelessMoment(text string, zone *time.Location) (t time.Time, ok bool) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return t, false
}

// ZoneNotes say in which zone flags were read whose moments name none: pairs of a flag and its value.
func ZoneNotes(now time.Time, flags ...string) (notes []string) {
	for i := 0; i+1 < len(flags); i += 2 {
		flag, text := flags[i], flags[i+1]
		t, ok := zonelessMoment(text, now.Location())
		if !ok && text != "now" {
			t, ok = namedMoment(text, now)
		}
		if ok {
			notes = append(notes, fmt.Sprintf("--%s %s is read in %s, as %s: --timezone names another zone", flag, text, now.Location(),
				t.UTC().Format("2006-01-02 15:04:05 UTC")))
		}
	}
	return notes
}

// namedMoment knows the words for moments. Days begin at midnight of the zone of now, also where the clock changes.
func namedMoment(text string, now time.Time) (time.Time, bool) {
	y, m, d := now.Date()
	switch text {
	case "now":
		return now, true
	case "today":
		return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), true
	case "yesterday":
		return time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), true
	}
	return time.Time{}, false
}
