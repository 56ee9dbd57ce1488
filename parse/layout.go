package parse

import (
	"fmt"
	"strings"

	"shadow/limit"
)

// Apache writes a time by any layout of strftime(3), and in as many pieces as the format likes:
//
//	[%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t]     [2016-09-02 10:42:51.003372]
//
// So each piece fills in its parts of one moment, and the stamp is made of them when the line has been read.

// A layout is a row of verbs: bytes that must stand in the line, and parts of a moment.
type layout []verb

// A verb is one part of a moment by its letter in strftime, or with letter 0 the byte that must stand in the line.
type verb struct{ letter, literal byte }

// layoutVerbs are the letters that we know; each one that stands for others is spelt out.
var layoutVerbs = map[byte]string{
	'Y': "", 'm': "", 'd': "", 'e': "", 'b': "", 'B': "", 'y': "", 'H': "", 'M': "", 'S': "", 's': "", 'z': "",
	'a': "", 'A': "", 'Z': "", 'h': "%b", 'T': "%H:%M:%S", 'F': "%Y-%m-%d", 'R': "%H:%M", 'D': "%m/%d/%y",
	'n': "\n", 't': "\t",
}

// newLayout reads a layout of strftime.
func newLayout(format string) (layout, error) {
	var l layout
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			l = append(l, verb{literal: format[i]})
			continue
		}
		if i++; i == len(format) {
			return nil, fmt.Errorf("time layout %q ends in %%", format)
		}
		if format[i] == '%' {
			l = append(l, verb{literal: '%'})
			continue
		}
		long, known := layoutVerbs[format[i]]
		if !known {
			return nil, fmt.Errorf("time layout %q: no such part as %%%c", format, format[i])
		}
		if long == "" {
			l = append(l, verb{letter: format[i]})
			continue
		}
		parts, err := newLayout(long)
		if err != nil {
			return nil, err
		}
		l = append(l, parts...)
	}
	return l, nil
}

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

// missing names the first part that the layouts of a format lack to make a moment of them, or is empty.
func missing(layouts []layout) string {
	var has [256]bool
	for _, l := range layouts {
		for _, v := range l {
			has[v.letter] = true
		}
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
