package lex

import "shadow/limit"

// Numbers stand in a line among other text, so their readers take what lies at the start of b and return how long it
// is: n is 0 where there is no number, and TooLarge where there is one that no server means.

// maxDigits keeps ten to the power of it within an int64, so that no sum of digits can wrap.
const maxDigits = 18

// MaxSeconds is the last second of the year 9999. Nothing in a log lasts longer, so that a stamp less a duration
// cannot wrap either.
const MaxSeconds = 253402300799

// TooLarge is the length of a number that does not fit.
const TooLarge = -1

// Integer reads decimal digits.
func Integer(b []byte) (value int64, n int) {
	for n < len(b) && b[n]-'0' < 10 {
		if n == maxDigits {
			return 0, TooLarge
		}
		value = 10*value + int64(b[n]-'0')
		n++
	}
	return value, n
}

// Seconds reads decimal digits with or without a fraction, "12" or "0.035". What is finer than a microsecond is cut.
func Seconds(b []byte) (t limit.Time, n int) {
	whole, n := Integer(b)
	if n <= 0 {
		return 0, n
	}
	if whole > MaxSeconds {
		return 0, TooLarge
	}
	micros, m := Fraction(b[n:])
	return limit.Time(whole)*limit.Second + micros, n + m
}

// Fraction reads a point or a comma with digits behind it, as microseconds; n is 0 when there is none.
func Fraction(b []byte) (t limit.Time, n int) {
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

// Two reads exactly two digits. What is not two digits comes out as 100 or more, beyond the range of any caller.
func Two(b []byte) int {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return 100
	}
	return int(tens)*10 + int(ones)
}

// Four reads exactly four digits. What is not four digits comes out as 10,000 or more.
func Four(b []byte) int {
	high, low := Two(b), Two(b[2:])
	if high > 99 || low > 99 {
		return 10000
	}
	return high*100 + low
}
