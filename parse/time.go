package parse

import (
	"fmt"
	"strings"
	"time"

	"shadow/limit"
	"shadow/parse/lex"
)

// Three spellings of a timestamp cover nearly every log:
//
//	10/Oct/2000:13:55:36 -0700        $time_local, %t       clock.local; a space may stand for the first colon
//	2000-10-10T13:55:36.123-07:00     $time_iso8601         clock.iso; slashes may stand for the dashes
//	971211336.123                     $msec                 clock.epoch
//
// A reader takes what lies at the start of b and returns how many bytes that was, or a constant reason why it is not a
// timestamp. All three refuse what the calendar does not have (31 Feb, hour 25), take a leap second as the next second,
// and stay within the years 0 to 9999, so that no arithmetic wraps.

// Reasons why a stamp cannot be read.
const (
	notLocal = "time is not dd/Mon/yyyy:hh:mm:ss zone"
	notISO   = "time is not yyyy-mm-ddThh:mm:ss zone"
	notEpoch = "time is not a number of seconds"
	noDate   = "no such date or time of day"
)

// A Zone is what a stamp says of its own: how many seconds it is east of Greenwich, or nothing.
type Zone struct {
	Named bool
	East  int32
}

// String is the zone as $time_local writes it.
func (z Zone) String() string {
	sign, east := '+', z.East
	if east < 0 {
		sign, east = '-', -east
	}
	return fmt.Sprintf("%c%02d%02d", sign, east/3600, east/60%60)
}

// A clock reads stamps for one goroutine. Lines of the same hour repeat their stamp but for minutes and seconds, so it
// keeps the hour of the last one.
type clock struct {
	zone *time.Location // of stamps that do not name theirs; nil is UTC
	said Zone           // of the latest stamp

	localText [26]byte   // the last $time_local with a zone, or zeros, which a line may hold as well
	localHour limit.Time // what it means, less its minutes and seconds

	isoText [19]byte // the last date and time of day in ISO 8601, or zeros
	isoTime int64    // what they mean, in seconds since the epoch, had they been UTC

	looked bool  // whether the two below are known
	minute int64 // the civil minute whose offset was last looked up in zone
	east   int64 // that offset, in seconds

	form int // of otherTimes, the one that was read last
}

// local reads dd/Mon/yyyy:hh:mm:ss, with a fraction or not, with a zone (" -0700") or not.
func (c *clock) local(b []byte) (t limit.Time, n int, reason string) {
	if len(b) >= len(c.localText) && b[2] == '/' && b[17] == ':' && sameHour((*[26]byte)(b), &c.localText) {
		if minute, second := lex.Two(b[15:]), lex.Two(b[18:]); minute < 60 && second < 60 {
			return c.localHour + limit.Time(60*minute+second)*limit.Second, len(c.localText), ""
		}
	}
	return c.newLocal(b)
}

// sameHour reports whether dd/Mon/yyyy:hh: and the zone are the same, which it compares as numbers of eight bytes.
func sameHour(a, b *[26]byte) bool {
	return word64(a[:]) == word64(b[:]) && word64(a[7:]) == word64(b[7:]) && word64(a[18:])>>16 == word64(b[18:])>>16
}

func (c *clock) newLocal(b []byte) (t limit.Time, n int, reason string) {
	if len(b) < 20 || b[2] != '/' || b[6] != '/' || b[11] != ':' && b[11] != ' ' || b[14] != ':' || b[17] != ':' {
		return 0, 0, notLocal
	}
	day := civil{
		year: lex.Four(b[7:]), month: monthNamed(b[3:]), day: lex.Two(b),
		hour: lex.Two(b[12:]), minute: lex.Two(b[15:]), second: lex.Two(b[18:]),
	}
	if !day.numeric() || day.month == 0 {
		return 0, 0, notLocal
	}
	if !day.valid() {
		return 0, 0, noDate
	}
	t, n = c.finish(day.unix(), b, 20)
	c.localText = [26]byte{}
	if n == len(c.localText) && b[20] == ' ' { // which is a zone, not a fraction that may go on
		c.localText, c.localHour = [26]byte(b), t-limit.Time(60*day.minute+day.second)*limit.Second
	}
	return t, n, ""
}

// iso reads yyyy-mm-ddThh:mm:ss (or with a space for the T), with a fraction or not, with a zone (Z, +01:00, +0100)
// or not.
func (c *clock) iso(b []byte) (t limit.Time, n int, reason string) {
	if len(b) < len(c.isoText) {
		return 0, 0, notISO
	}
	if b[4] != '-' || [19]byte(b) != c.isoText {
		day, reason := isoCivil(b)
		if reason != "" {
			return 0, 0, reason
		}
		c.isoText, c.isoTime = [19]byte(b), day.unix()
	}
	t, n = c.finish(c.isoTime, b, len(c.isoText))
	return t, n, ""
}

// isoCivil reads the 19 bytes of a date and a time of day.
func isoCivil(b []byte) (civil, string) {
	if b[4] != '-' && b[4] != '/' || b[7] != b[4] || b[10] != 'T' && b[10] != ' ' && b[10] != 't' || b[13] != ':' || b[16] != ':' {
		return civil{}, notISO
	}
	day := civil{
		year: lex.Four(b), month: lex.Two(b[5:]), day: lex.Two(b[8:]),
		hour: lex.Two(b[11:]), minute: lex.Two(b[14:]), second: lex.Two(b[17:]),
	}
	if !day.numeric() {
		return civil{}, notISO
	}
	if !day.valid() {
		return civil{}, noDate
	}
	return day, ""
}

// epoch reads seconds since 1970, with a fraction or not.
func (c *clock) epoch(b []byte) (t limit.Time, n int, reason string) {
	t, n = lex.Seconds(b)
	if n <= 0 {
		return 0, 0, notEpoch
	}
	return t, n, ""
}

// finish adds to the seconds of a civil time what may follow them in b at n: a fraction, and a zone.
func (c *clock) finish(seconds int64, b []byte, n int) (limit.Time, int) {
	micros, m := lex.Fraction(b[n:])
	n += m
	east, m := zone(b[n:])
	if c.said = (Zone{}); m > 0 {
		c.said = Zone{Named: true, East: int32(east)}
	} else {
		east = c.eastOf(seconds)
	}
	return limit.Time(seconds-east)*limit.Second + micros, n + m
}

// zone reads Z, UTC, GMT, +01:00, +0100 or +01, with or without a space before it, as seconds east of Greenwich.
func zone(b []byte) (east int64, n int) {
	if len(b) > 0 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, 1
	}
	if len(b) > 0 && b[0] == ' ' {
		n = 1
	}
	if rest := b[n:]; len(rest) >= 3 && (string(rest[:3]) == "UTC" || string(rest[:3]) == "GMT") {
		return 0, n + 3
	}
	if len(b) < n+3 || b[n] != '+' && b[n] != '-' {
		return 0, 0
	}
	west := b[n] == '-'
	hours, minutes := lex.Two(b[n+1:]), 0
	n += 3
	if rest := b[n:]; len(rest) >= 3 && rest[0] == ':' && lex.Two(rest[1:]) < 100 {
		minutes, n = lex.Two(rest[1:]), n+3
	} else if len(rest) >= 2 && lex.Two(rest) < 100 {
		minutes, n = lex.Two(rest), n+2
	}
	if hours > 23 || minutes > 59 {
		return 0, 0
	}
	east = int64(hours*3600 + minutes*60)
	if west {
		east = -east
	}
	return east, n
}

// eastOf returns how far east of Greenwich the clock's zone is at a civil time, given in seconds since the epoch as if
// it were UTC. A zone changes on a whole minute, so one look-up serves all lines of the minute.
func (c *clock) eastOf(seconds int64) int64 {
	if c.zone == nil || c.zone == time.UTC {
		return 0
	}
	minute := floorDiv(seconds, 60)
	if minute != c.minute || !c.looked {
		u := time.Unix(minute*60, 0).UTC()
		there := time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), 0, 0, c.zone)
		c.looked, c.minute, c.east = true, minute, u.Unix()-there.Unix()
	}
	return c.east
}

// Apache writes a time by any format of strftime(3), and in as many tokens as the LogFormat likes:
//
//	[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]     [2016-09-02 10:42:51.003372]
//
// So each token fills in its parts of one timestamp, which is put together when the line has been read.

// A strptime is a row of verbs: bytes that must stand in the line, and parts of a timestamp.
type strptime []verb

// A verb is one part of a timestamp by its letter in strftime, or with letter 0 the byte that must stand in the line.
type verb struct{ letter, literal byte }

// strptimeVerbs are the letters that we know; each one that stands for others is spelt out.
var strptimeVerbs = map[byte]string{
	'Y': "", 'm': "", 'd': "", 'e': "", 'b': "", 'B': "", 'y': "", 'H': "", 'M': "", 'S': "", 's': "", 'z': "",
	'a': "", 'A': "", 'Z': "", 'h': "%b", 'T': "%H:%M:%S", 'F': "%Y-%m-%d", 'R': "%H:%M", 'D': "%m/%d/%y",
	'n': "\n", 't': "\t",
}

// parseStrptime reads a format of strftime.
func parseStrptime(format string) (strptime, error) {
	var l strptime
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			l = append(l, verb{literal: format[i]})
			continue
		}
		if i++; i == len(format) {
			return nil, fmt.Errorf("time format %q ends in %%", format)
		}
		if format[i] == '%' {
			l = append(l, verb{literal: '%'})
			continue
		}
		long, known := strptimeVerbs[format[i]]
		if !known {
			return nil, fmt.Errorf("time format %q: no such part as %%%c", format, format[i])
		}
		if long == "" {
			l = append(l, verb{letter: format[i]})
			continue
		}
		parts, err := parseStrptime(long)
		if err != nil {
			return nil, err
		}
		l = append(l, parts...)
	}
	return l, nil
}

// missingPart names the first part of a timestamp that the strptimes of a format lack, "time" when there are none.
func missingPart(tokens []token) string {
	var has [256]bool
	found := false
	for i := range tokens {
		for _, v := range tokens[i].strptime {
			has[v.letter], found = true, true
		}
	}
	if !found {
		return "time"
	}
	for _, part := range []struct{ letters, name string }{
		{"Yy", "year"}, {"mbB", "month"}, {"de", "day"}, {"H", "hour"}, {"M", "minute"}, {"S", "second"},
	} {
		if !has['s'] && !strings.ContainsFunc(part.letters, func(r rune) bool { return has[r] }) {
			return part.name
		}
	}
	return ""
}
