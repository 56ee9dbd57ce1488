package parse

import "shadow/limit"

// Numbers stand in a line among other text, so their readers take what lies at the start of b and return how long it
// is: n is 0 where there is no number, and tooLarge where there is one that no server means.

// maxDigits keeps ten to the power of it within an int64, so that no sum of digits can wrap.
const maxDigits = 18

// maxSeconds is the last second of the year 9999. Nothing in a log lasts longer, so that a stamp less a duration
// cannot wrap either.
const maxSeconds = 253402300799

// tooLarge is the length of a number that does not fit.
const tooLarge = -1

// integer reads decimal digits.
func integer(b []byte) (value int64, n int) {
	for n < len(b) && b[n]-'0' < 10 {
		if n == maxDigits {
			return 0, tooLarge
		}
		value = 10*value + int64(b[n]-'0')
		n++
	}
	return value, n
}

// seconds reads decimal digits with or without a fraction, "12" or "0.035". What is finer than a microsecond is cut.
func seconds(b []byte) (t limit.Time, n int) {
	whole, n := integer(b)
	if n <= 0 {
		return 0, n
	}
	if whole > maxSeconds {
		return 0, tooLarge
	}
	micros, m := fraction(b[n:])
	return limit.Time(whole)*limit.Second + micros, n + m
}

// fraction reads a point or a comma with digits behind it, as microseconds; n is 0 when there is none.
func fraction(b []byte) (t limit.Time, n int) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0, 0
	}
	unit := limit.Second / 10
	for n = 1; n < len(b) && b[n]-'0' < 10; n++ {
		t += limit.Time(b[n]-'0') * unit
		unit /= 10
	}
	return t, n
}

// two reads exactly two digits. What is not two digits comes out as 100 or more, beyond the range of any caller.
func two(b []byte) int {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return 100
	}
	return int(tens)*10 + int(ones)
}

// four reads exactly four digits. What is not four digits comes out as 10,000 or more.
func four(b []byte) int {
	high, low := two(b), two(b[2:])
	if high > 99 || low > 99 {
		return 10000
	}
	return high*100 + low
}
