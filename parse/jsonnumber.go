package parse

import (
	"math"

	"shadow/limit"
)

// Numbers of JSON logs, without floating point: 1693840791.7564995 is 16938407917564995 × 10^−7, and taking it to
// microseconds is a shift by six places. Digits beyond what an int64 holds are cut off.

// The units of durations: the power of ten that makes one microseconds.
const (
	UnitSeconds int8 = 6
	unitMillis  int8 = 3
	unitMicros  int8 = 0
	unitNanos   int8 = -3
)

// unitOfKey is the unit that a key names at its end; without a name it is the second.
func unitOfKey(key string) int8 {
	switch key[max(0, len(key)-3):] {
	case "_ms":
		return unitMillis
	case "_us":
		return unitMicros
	case "_ns":
		return unitNanos
	}
	return UnitSeconds
}

// decimal reads the number that b begins with: mantissa × 10^exp, and how many bytes of b that took, 0 for none.
func decimal(b []byte) (mantissa int64, exp, n int) {
	negative := n < len(b) && b[n] == '-'
	if negative {
		n++
	}
	digits, point := 0, false
	for ; n < len(b); n++ {
		c := b[n]
		if c == '.' && !point && digits > 0 {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if mantissa < 1e17 {
			mantissa = mantissa*10 + int64(c-'0')
			if point {
				exp--
			}
		} else if !point {
			exp++
		}
	}
	if digits == 0 || b[n-1] == '.' {
		return 0, 0, 0
	}
	if negative {
		mantissa = -mantissa
	}
	power, width := exponent(b[n:])
	return mantissa, exp + power, n + width
}

// exponent reads e+09 at the beginning of b. It stops at thousands: no number in a log has more.
func exponent(b []byte) (power, n int) {
	if len(b) < 2 || b[0]|0x20 != 'e' {
		return 0, 0
	}
	at, sign := 1, 1
	if b[at] == '+' || b[at] == '-' {
		if b[at] == '-' {
			sign = -1
		}
		at++
	}
	for ; at < len(b) && '0' <= b[at] && b[at] <= '9'; at++ {
		power = min(power*10+int(b[at]-'0'), 9999)
		n = at + 1
	}
	return sign * power, n
}

// shift is mantissa × 10^places, cut to whole numbers; ok is false if that is more than an int64 holds.
func shift(mantissa int64, places int) (v int64, ok bool) {
	for ; places > 0 && mantissa != 0; places-- {
		if mantissa > 9e17 || mantissa < -9e17 {
			return 0, false
		}
		mantissa *= 10
	}
	for ; places < 0 && mantissa != 0; places++ {
		mantissa /= 10
	}
	return mantissa, true
}

// wholeNumber reads all of b as a number, cut to an integer.
func wholeNumber(b []byte) (v int64, ok bool) {
	mantissa, exp, n := decimal(b)
	if n == 0 || n < len(b) {
		return 0, false
	}
	return shift(mantissa, exp)
}

// RoundUp reads all of b as a number, rounded up to an integer: 0 for a negative one, the largest for one beyond it.
func RoundUp(b []byte) (v int64, ok bool) {
	mantissa, exp, n := decimal(b)
	if n == 0 || n < len(b) {
		return 0, false
	}
	mantissa = max(0, mantissa)
	if v, ok = shift(mantissa, exp); !ok {
		return math.MaxInt64, true
	}
	if back, _ := shift(v, -exp); back < mantissa {
		v++
	}
	return v, true
}

// Epoch reads all of b as a time since the epoch, in seconds, or in milli-, micro- or nanoseconds, which its
// magnitude shows: 1e11 seconds would lie in the year 5138, as many milliseconds in 1973.
func Epoch(b []byte) (t limit.Time, ok bool) {
	mantissa, exp, n := decimal(b)
	if n == 0 || n < len(b) {
		return 0, false
	}
	whole, ok := shift(mantissa, exp)
	if !ok {
		return 0, false
	}
	unit := UnitSeconds
	for bound := int64(1e11); unit > unitNanos && (whole >= bound || whole <= -bound); bound *= 1000 {
		unit -= 3
	}
	micros, ok := shift(mantissa, exp+int(unit))
	return limit.Time(micros), ok
}

// Duration reads all of b as a duration: a number of the unit, or numbers that name theirs ("1m2.5s", "350µs").
func Duration(b []byte, unit int8) (d limit.Time, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for len(b) > 0 {
		mantissa, exp, n := decimal(b)
		if n == 0 {
			return 0, false
		}
		b = b[n:]
		power, times := int(unit), int64(1)
		if len(b) > 0 {
			if power, times, n = namedUnit(b); n == 0 {
				return 0, false
			}
			b = b[n:]
		}
		part, ok := shift(mantissa, exp+power)
		if !ok || part < 0 || part > int64(maxDuration-d)/times {
			return 0, false
		}
		d += limit.Time(part * times)
	}
	return d, true
}

// maxDuration bounds what is taken for the time of a request: beyond ten thousand days it is something else.
const maxDuration = 10000 * limit.Day

// namedUnit reads a unit as Go writes it: a power of ten that makes it microseconds, and a factor for what is not a
// power of ten of a second.
func namedUnit(b []byte) (power int, times int64, n int) {
	for _, u := range [...]struct {
		name  string
		power int8
		times int64
	}{
		{"ms", unitMillis, 1},
		{"us", unitMicros, 1},
		{"µs", unitMicros, 1},
		{"ns", unitNanos, 1},
		{"s", UnitSeconds, 1},
		{"m", UnitSeconds, 60},
		{"h", UnitSeconds, 3600},
	} {
		if len(b) >= len(u.name) && string(b[:len(u.name)]) == u.name {
			return int(u.power), u.times, len(u.name)
		}
	}
	return 0, 0, 0
}

// isJSONNumber reports whether b is a number as RFC 8259 has it: no leading zeros, no lone point.
func isJSONNumber(b []byte) bool {
	digits := b
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return false
	}
	if digits[0] == '0' && len(digits) > 1 && '0' <= digits[1] && digits[1] <= '9' {
		return false
	}
	_, _, n := decimal(b)
	return n == len(b)
}
