package calc

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"shadow/limit"
)

// A Rate is a number of requests, or tokens, per length of time. People write 100/s, 30/m, 0.5/s or 5/20s; a plain 100
// is per second. The zero Rate means: no rate. Decimals are kept exactly: 0.5/s is 1 per 2s.
type Rate struct {
	Count int64
	Per   limit.Time
}

// ParseRate reads a rate, which must be more than nothing.
func ParseRate(text string) (Rate, error) {
	number, per, found := strings.Cut(text, "/")
	if !found {
		per = "s"
	}
	period, err := limit.ParsePeriod(per)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w", text, err)
	}
	whole, fraction, _ := strings.Cut(number, ".")
	count, err := strconv.ParseUint(whole+fraction, 10, 63)
	if err != nil || whole == "" || len(fraction) > 9 {
		return Rate{}, fmt.Errorf("rate %q: want a rate such as 100/s, 30/m or 0.5/s", text)
	}
	scale := int64(math.Pow10(len(fraction)))
	switch {
	case count == 0:
		return Rate{}, fmt.Errorf("rate %q: must be more than 0, such as 100/s", text)
	case int64(period) > math.MaxInt64/scale:
		return Rate{}, fmt.Errorf("rate %q: has too many digits for so long a period", text)
	}
	g := limit.GCD(int64(count), scale)
	return Rate{int64(count) / g, period * limit.Time(scale/g)}, nil
}

// PerSecond is the rate as a number, for reports.
func (r Rate) PerSecond() float64 {
	if r.Per == 0 {
		return 0
	}
	return float64(r.Count) / seconds(r.Per)
}

// moment is when request number k of a steady client comes, the first being number 0: ⌈k·per/count⌉. It is rounded up,
// because the token that it waits for is not there any earlier.
func (r Rate) moment(k int64) limit.Time { return limit.Time(mulDivUp(k, int64(r.Per), r.Count)) }

// mulDivUp is ⌈a·b/c⌉ of numbers that are not negative, c not 0, or the largest number if that does not fit.
func mulDivUp(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	quotient, rest := bits.Div64(hi, lo, uint64(c))
	if rest > 0 {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}

func seconds(t limit.Time) float64 { return float64(t) / float64(limit.Second) }

// String is the rate as ParseRate reads it.
func (r Rate) String() string {
	if r.Per == 0 {
		return ""
	}
	per := limit.FormatPeriod(r.Per)
	if unit, single := strings.CutPrefix(per, "1"); single && unit[0] > '9' {
		per = unit
	}
	return fmt.Sprintf("%d/%s", r.Count, per)
}
