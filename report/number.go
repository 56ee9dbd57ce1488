package report

import (
	"fmt"
	"strconv"
	"strings"
)

// percentOf is part of whole in percent, 0 of nothing.
func percentOf(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// percent writes a share with two digits, and rounds neither something to nothing nor nearly all to all.
func percent(p float64) string {
	switch {
	case p > 0 && p < 0.01:
		return "<0.01"
	case p > 99.99 && p < 100:
		return ">99.99"
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// thousands writes n in groups of three digits: 1,234,567.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// count writes a number with its noun: "1 client", "2,000 clients".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// size writes a number of bytes in powers of 1,000, with three digits: "12.3 MB".
func size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes), -1
	for value >= 999.5 && unit < len(sizeUnits)-1 {
		value /= 1000
		unit++
	}
	return fmt.Sprintf("%.*f %cB", sizeDigits(value), value, sizeUnits[unit])
}

const sizeUnits = "kMGTPE"

func sizeDigits(value float64) int {
	switch {
	case value < 9.995:
		return 2
	case value < 99.95:
		return 1
	}
	return 0
}

// Count writes a number with its noun: "1 client", "2,000 clients".
func Count(n int64, noun string) string { return count(n, noun) }

// Size writes a number of bytes as people say it: "12.3 MB".
func Size(bytes int64) string { return size(bytes) }

// Runs names stored runs by their numbers: "run 7", "runs 3, 4 and 7".
func Runs(runs []int32) string {
	texts := make([]string, len(runs))
	for i, run := range runs {
		texts[i] = strconv.Itoa(int(run))
	}
	switch last := len(texts) - 1; {
	case last < 0:
		return "no run"
	case last == 0:
		return "run " + texts[0]
	default:
		return "runs " + strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
}

// Thousands writes n in groups of three digits: 1,234,567.
func Thousands(n int64) string { return thousands(n) }

// Percent writes what part is of whole, in percent and without the sign: 12.34, <0.01.
func Percent(part, whole int64) string { return percent(percentOf(part, whole)) }
