// Package format writes numbers, shares, sizes, moments and lengths of time as people read them, and values as JSON:
// a figure comes in, a text goes out. docs/report.md says how figures are rounded.
package format

import (
	"fmt"
	"strconv"
	"strings"

	"shadow/internal/mapped"
)

// PercentOf is part of whole in percent, 0 of nothing.
func PercentOf(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Percent writes a share with two digits, and rounds neither something to nothing nor nearly all to all.
func Percent(p float64) string {
	switch {
	case p > 0 && p < 0.01:
		return "<0.01"
	case p > 99.99 && p < 100:
		return ">99.99"
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// Percentage writes a share as texts have it: "27.15 %". Flags and conditions take the sign without a space.
func Percentage(p float64) string { return Percent(p) + " %" }

// Thousands writes n in groups of three digits: 1,234,567.
func Thousands(n int64) string {
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

// Count writes a number with its noun: "1 client", "2,000 clients".
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Size writes a number of bytes in powers of 1,000, with three digits: "12.3 MB".
func Size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes), -1
	for value >= 999.5 && unit < len(SizeUnits)-1 {
		value /= 1000
		unit++
	}
	digits := 0
	switch {
	case value < 9.995:
		digits = 2
	case value < 99.95:
		digits = 1
	}
	return fmt.Sprintf("%.*f %cB", digits, value, SizeUnits[unit])
}

// SizeUnits are the prefixes of sizes, each a thousand times the one before.
const SizeUnits = "kMGTPE"

// Runs names stored runs by their numbers: "run 7", "runs 3, 4 and 7".
func Runs(runs []int32) string {
	texts := mapped.Of(runs, func(run int32) string { return strconv.Itoa(int(run)) })
	switch last := len(texts) - 1; {
	case last < 0:
		return "no run"
	case last == 0:
		return "run " + texts[0]
	default:
		return "runs " + strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
}

// Share is a part of a whole as a count, with its percentage.
func Share(part, whole int64) string {
	return Thousands(part) + " (" + Percentage(PercentOf(part, whole)) + ")"
}

// ShareText writes thousandths as a percentage, 0.1 % each.
func ShareText(thousandths int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", thousandths/10, thousandths%10), ".0") + " %"
}

// ShareOf is part of whole, 0 of nothing.
func ShareOf(part, whole int64) float64 { return PercentOf(part, whole) / 100 }

// FromTo writes a range; one number where it has no length.
func FromTo(r [2]int64) string {
	if r[0] == r[1] {
		return Thousands(r[0])
	}
	return Thousands(r[0]) + "–" + Thousands(r[1])
}

// Percents writes a range of shares likewise.
func Percents(r [2]float64) string {
	low, high := Percent(r[0]), Percent(r[1])
	if low == high {
		return low
	}
	return low + "–" + high
}

// Between writes a range. Also one without any length tells that the figure is an approximation's.
func Between(r [2]int64) string {
	return " (" + Thousands(r[0]) + "–" + Thousands(r[1]) + ")"
}

// Signed writes a difference with its sign, 0 without one.
func Signed(n int64) string {
	if n > 0 {
		return "+" + Thousands(n)
	}
	return Thousands(n)
}

// MoreThan says how long a list would be that shows only its first rows.
func MoreThan(shown int, all int64) string {
	if int64(shown) == all {
		return ""
	}
	return fmt.Sprintf(" (the first %s of %s)", Thousands(int64(shown)), Thousands(all))
}

// Plural writes a count of things that noun names.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Sentence begins with a capital letter; s does with an ASCII one.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Plain writes a number for programs.
func Plain(n int64) string { return strconv.FormatInt(n, 10) }

// PlainSeconds writes seconds for programs.
func PlainSeconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) }

// ShortPercentage writes a share with as many digits as it has.
func ShortPercentage(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) + " %" }

// List joins texts, and names the first few.
func List(texts []string, most int) string {
	return Named(texts[:min(len(texts), most)], int64(len(texts)))
}

// Named joins names, and says how many more there are in all.
func Named(names []string, all int64) string {
	text := strings.Join(names, ", ")
	if more := all - int64(len(names)); more > 0 {
		text += ", and " + Thousands(more) + " more"
	}
	return text
}
