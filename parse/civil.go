package parse

// A civil is a date and a time of day as they are written, before anybody asked in which zone.
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
	switch uint32(b[0]|0x20)<<16 | uint32(b[1]|0x20)<<8 | uint32(b[2]|0x20) {
	case 'j'<<16 | 'a'<<8 | 'n':
		return 1
	case 'f'<<16 | 'e'<<8 | 'b':
		return 2
	case 'm'<<16 | 'a'<<8 | 'r':
		return 3
	case 'a'<<16 | 'p'<<8 | 'r':
		return 4
	case 'm'<<16 | 'a'<<8 | 'y':
		return 5
	case 'j'<<16 | 'u'<<8 | 'n':
		return 6
	case 'j'<<16 | 'u'<<8 | 'l':
		return 7
	case 'a'<<16 | 'u'<<8 | 'g':
		return 8
	case 's'<<16 | 'e'<<8 | 'p':
		return 9
	case 'o'<<16 | 'c'<<8 | 't':
		return 10
	case 'n'<<16 | 'o'<<8 | 'v':
		return 11
	case 'd'<<16 | 'e'<<8 | 'c':
		return 12
	}
	return 0
}

// floorDiv divides and rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
