package parse

import (
	"slices"

	"shadow/limit"
	"shadow/parse/lex"
)

// timestampParts gathers the parts of a timestamp.
type timestampParts struct {
	civil
	epoch   int64      // %s, seconds since the epoch
	east    int64      // %z, seconds
	counted bool       // whether %s was there
	zoned   bool       // whether %z was there
	micros  limit.Time // of the second
}

// time puts the parts together.
func (m *timestampParts) time(c *clock) (limit.Time, string) {
	seconds := m.epoch
	if !m.counted {
		if !m.valid() {
			return 0, noDate
		}
		c.said = Zone{Named: m.zoned, East: int32(m.east)}
		if seconds = m.unix(); m.zoned {
			seconds -= m.east
		} else {
			seconds -= c.eastOf(seconds)
		}
	}
	return limit.Time(seconds)*limit.Second + m.micros, ""
}

// fraction reads three or six digits behind the point of the seconds; −1 if they are not there.
func (m *timestampParts) fraction(b []byte, width int) int {
	value, n := lex.Integer(b[:min(len(b), width)])
	if n != width {
		return -1
	}
	m.micros = limit.Time(value)
	if width == 3 {
		m.micros *= limit.Millisecond
	}
	return width
}

// read fills in what l finds at the start of b, and returns how long that was; n is −1 when it does not fit.
func (m *timestampParts) read(l strptime, b []byte) (n int) {
	for _, v := range l {
		width := 1
		if v.letter != 0 {
			width = m.part(v.letter, b[n:])
		} else if n == len(b) || b[n] != v.literal {
			width = 0
		}
		if width <= 0 {
			return -1
		}
		n += width
	}
	return n
}

// part fills in one part and returns its length; 0 when it is not there.
func (m *timestampParts) part(letter byte, b []byte) int {
	switch letter {
	case 'Y':
		return number(&m.year, b, 4)
	case 'm':
		return number(&m.month, b, 2)
	case 'e':
		if len(b) > 1 && b[0]-'1' < 9 && b[1]-'0' > 9 {
			m.day = int(b[0] - '0')
			return 1
		}
		return number(&m.day, b, 2)
	case 'd':
		return number(&m.day, b, 2)
	case 'H':
		return number(&m.hour, b, 2)
	case 'M':
		return number(&m.minute, b, 2)
	case 'S':
		return number(&m.second, b, 2)
	case 'y':
		n := number(&m.year, b, 2)
		if m.year += 1900; m.year < 1969 { // as in POSIX, 69 to 99 are of the twentieth century
			m.year += 100
		}
		return n
	case 'b', 'B':
		return m.monthName(letter, b)
	case 'z':
		var n int
		m.east, n = zone(b)
		m.zoned = n > 0
		return n
	case 's':
		var n int
		m.epoch, n = lex.Integer(b)
		m.counted = true
		if m.epoch > lex.MaxSeconds {
			return 0
		}
		return n
	}
	return letters(b)
}

// number reads two or four digits; the first of two may be a space, as %e writes it.
func number(into *int, b []byte, width int) int {
	if len(b) < width {
		return 0
	}
	switch {
	case width == 4:
		*into = lex.Four(b)
	case b[0] == ' ' && b[1]-'0' < 10:
		*into = int(b[1] - '0')
	default:
		*into = lex.Two(b)
	}
	if *into >= 100 && (width == 2 || *into >= 10000) {
		return 0
	}
	return width
}

// monthName reads the short (%b) or the full (%B) English name of a month.
func (m *timestampParts) monthName(letter byte, b []byte) int {
	n := 3
	if letter == 'B' {
		n = letters(b)
	}
	if n < 3 || len(b) < n {
		return 0
	}
	if m.month = monthNamed(b); m.month == 0 {
		return 0
	}
	return n
}

// letters counts the letters that b opens with: a weekday, or the name of a zone, which we read over.
func letters(b []byte) (n int) {
	for n < len(b) && b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z' {
		n++
	}
	return n
}

// A civil is a date and a time of day as they are written, in no zone yet.
type civil struct {
	year, month, day     int
	hour, minute, second int
}

// numeric reports whether each part was made of digits: two and four return more than these if it was not.
func (c *civil) numeric() bool {
	return c.year < 10000 && c.month < 100 && c.day < 100 && c.hour < 100 && c.minute < 100 && c.second < 100
}

// valid reports whether the calendar has such a day and the day such a second. A leap second is one.
func (c *civil) valid() bool {
	return uint(c.year) <= 9999 && c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= monthDays(c.year, c.month) &&
		uint(c.hour) <= 23 && uint(c.minute) <= 59 && uint(c.second) <= 60
}

// unix is the number of seconds since the epoch, had the time been UTC.
func (c *civil) unix() int64 {
	return days(c.year, c.month, c.day)*86400 + int64(c.hour*3600+c.minute*60+c.second)
}

// days counts the days from 1 January 1970 in the proleptic Gregorian calendar. The year is taken to begin in March,
// so that the leap day is its last; months from March are 31 30 31 30 31 days long and so on, which (153·m + 2)/5 sums.
func days(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y, m = y-1, m+12
	}
	leaps := floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400)
	return 365*y + leaps + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
}

// monthDays is the length of a month.
func monthDays(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// monthNamed is the month that the first three letters of b name in English, in any case, or 0.
func monthNamed(b []byte) int {
	return 1 + slices.Index(monthNames[:], uint32(b[0]|0x20)<<16|uint32(b[1]|0x20)<<8|uint32(b[2]|0x20))
}

var monthNames = [...]uint32{
	'j'<<16 | 'a'<<8 | 'n', 'f'<<16 | 'e'<<8 | 'b', 'm'<<16 | 'a'<<8 | 'r', 'a'<<16 | 'p'<<8 | 'r',
	'm'<<16 | 'a'<<8 | 'y', 'j'<<16 | 'u'<<8 | 'n', 'j'<<16 | 'u'<<8 | 'l', 'a'<<16 | 'u'<<8 | 'g',
	's'<<16 | 'e'<<8 | 'p', 'o'<<16 | 'c'<<8 | 't', 'n'<<16 | 'o'<<8 | 'v', 'd'<<16 | 'e'<<8 | 'c',
}

// floorDiv divides and rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// measureStamp reads a stamp, or a part of one.
func (s *reader) measureStamp(st *step, b []byte) (n int, reason string) {
	var t limit.Time
	said := s.clock.said
	switch st.kind {
	case kindLocal:
		t, n, reason = s.clock.local(b)
	case kindISO:
		t, n, reason = s.clock.iso(b)
	case kindEpoch:
		t, n, reason = s.clock.epoch(b)
	case kindEpochMilli:
		t, n, reason = epochOf(b, limit.Millisecond, st.bad)
	case kindEpochMicro:
		t, n, reason = epochOf(b, limit.Microsecond, st.bad)
	default:
		parts := &s.parts
		if st.idle {
			parts = &s.unused
		}
		switch st.kind {
		case kindMilliFrac:
			n = parts.fraction(b, 3)
		case kindMicroFrac:
			n = parts.fraction(b, 6)
		default:
			n, s.rest = parts.read(st.strptime, b), len(b)
		}
		if n < 0 {
			return 0, st.bad
		}
		return n, ""
	}
	if st.idle {
		s.clock.said = said
	} else {
		s.stamp = t
	}
	return n, reason
}

// epochOf reads a whole number of units since the epoch.
func epochOf(b []byte, unit limit.Time, bad string) (t limit.Time, n int, reason string) {
	if t, n = thousandths(b, unit); n <= 0 {
		return 0, 0, bad
	}
	return t, n, ""
}

// time is the stamp of the line that has been read.
func (s *reader) time() (limit.Time, string) {
	if s.prog.timeless {
		return noStamp, ""
	}
	if !s.prog.pieced {
		return s.stamp + s.parts.micros, ""
	}
	return s.parts.time(&s.clock)
}
