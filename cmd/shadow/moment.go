package main

import (
	"fmt"
	"time"

	"shadow/limit"
)

// parseMoment reads what --since and --until take: a moment (RFC 3339), a date or a date and time in the zone of now, a day's
// name (now, today, yesterday), or how long ago (24h, 7d).
func parseMoment(text string, now time.Time) (limit.Time, error) {
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

// zoneNotes say in which zone flags were read whose moments name none: pairs of a flag and its value.
func zoneNotes(now time.Time, flags ...string) (notes []string) {
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
