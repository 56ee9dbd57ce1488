package parse

import "shadow/limit"

// A moment gathers the parts of a stamp.
type moment struct {
	civil
	epoch   int64      // %s, seconds since the epoch
	east    int64      // %z, seconds
	counted bool       // whether %s was there
	zoned   bool       // whether %z was there
	micros  limit.Time // of the second
}

// time puts the parts together.
func (m *moment) time(c *clock) (limit.Time, string) {
	seconds := m.epoch
	if !m.counted {
		if !m.valid() {
			return 0, noDate
		}
		if seconds = m.unix(); m.zoned {
			seconds -= m.east
		} else {
			seconds -= c.eastOf(seconds)
		}
	}
	return limit.Time(seconds)*limit.Second + m.micros, ""
}

// fraction reads three or six digits behind the point of the seconds; −1 if they are not there.
func (m *moment) fraction(b []byte, width int) int {
	value, n := integer(b[:min(len(b), width)])
	if n != width {
		return -1
	}
	m.micros = limit.Time(value)
	if width == 3 {
		m.micros *= limit.Millisecond
	}
	return width
}

// read fills in what l finds at the start of b, and tells how long that was; n is −1 when it does not fit.
func (m *moment) read(l layout, b []byte) (n int) {
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

// part fills in one part and tells its length; 0 when it is not there.
func (m *moment) part(letter byte, b []byte) int {
	switch letter {
	case 'Y':
		return number(&m.year, b, 4)
	case 'm':
		return number(&m.month, b, 2)
	case 'd', 'e':
		return number(&m.day, b, 2)
	case 'H':
		return number(&m.hour, b, 2)
	case 'M':
		return number(&m.minute, b, 2)
	case 'S':
		return number(&m.second, b, 2)
	case 'y':
		return m.shortYear(b)
	case 'b', 'B':
		return m.monthName(letter, b)
	case 'z':
		var n int
		m.east, n = zone(b)
		m.zoned = n > 0
		return n
	case 's':
		var n int
		m.epoch, n = integer(b)
		m.counted = true
		if m.epoch > maxSeconds {
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
		*into = four(b)
	case b[0] == ' ' && b[1]-'0' < 10:
		*into = int(b[1] - '0')
	default:
		*into = two(b)
	}
	if *into >= 100 && (width == 2 || *into >= 10000) {
		return 0
	}
	return width
}

// shortYear reads two digits; as in POSIX, 69 to 99 are of the twentieth century.
func (m *moment) shortYear(b []byte) int {
	n := number(&m.year, b, 2)
	if m.year += 1900; m.year < 1969 {
		m.year += 100
	}
	return n
}

// monthName reads the short (%b) or the full (%B) English name of a month.
func (m *moment) monthName(letter byte, b []byte) int {
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

// letters is how many letters b opens with: a weekday, or the name of a zone, which we read over.
func letters(b []byte) (n int) {
	for n < len(b) && b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z' {
		n++
	}
	return n
}
