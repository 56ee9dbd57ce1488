package suggest

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"shadow/internal/traffic/who"
	"shadow/limit"
)

// A Percent is a part of some clients, in hundred-millionths: 99.9 % is 99,900,000. So no percentage that people write is rounded.
type Percent int64

// whole is 100 %.
const whole Percent = 100_000_000

var errPercent = errors.New("want a share above 0% and up to 100%, with at most six digits behind the point, such as 99.9%")

// ParsePercent reads a percentage. The sign may be left out.
func ParsePercent(text string) (Percent, error) {
	digits, fraction, _ := strings.Cut(strings.TrimSuffix(text, "%"), ".")
	if len(fraction) > 6 {
		return 0, errPercent
	}
	n, err := strconv.ParseUint(digits+fraction+strings.Repeat("0", 6-len(fraction)), 10, 32)
	if err != nil || n == 0 || Percent(n) > whole {
		return 0, errPercent
	}
	return Percent(n), nil
}

// String is the percentage with its sign: 99.9%.
func (s Percent) String() string {
	text := fmt.Sprintf("%d.%06d", s/1_000_000, s%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

// Float is the percentage as a number.
func (s Percent) Float() float64 { return float64(s) / 1e6 }

// A Goal is the percentage of some clients that a limit must not hit: it refuses none of their requests. Reports call it a
// promise.
type Goal struct {
	Who     who.Set
	Percent Percent
	OneOf   bool // whether one may be hit of 10 to 99 clients, whatever the percentage
}

// ParseGoal reads browsers=99.9%.
func ParseGoal(text string) (p Goal, err error) {
	clients, share, found := strings.Cut(text, "=")
	if !found {
		return p, fmt.Errorf("%q: want which clients, and which share of them, such as browsers=99.9%%", text)
	}
	if p.Who, err = who.ParseSet(clients); err != nil {
		return p, err
	}
	if p.Percent, err = ParsePercent(share); err != nil {
		return p, fmt.Errorf("%q: %w", text, err)
	}
	return p, nil
}

// String is the promise as ParsePromise takes it.
func (p Goal) String() string { return p.Who.String() + "=" + p.Percent.String() }

// MayHit returns how many of so many clients may be hit: n·(1 − share), rounded down, or one with OneOf. There are less than
// 2³¹ clients.
func (p Goal) MayHit(clients int64) int64 {
	if p.OneOf && clients >= 10 && clients < 100 {
		return 1
	}
	return clients * int64(whole-p.Percent) / int64(whole)
}

// Sample returns how many clients it takes to tell, with 95 % confidence, that the share is kept if none is hit; 0 if
// no number does, as with 100 %. By the rule of three, 3/n is the upper bound of the share of a thing that happened to
// none of n (Hanley and Lippman-Hand, If nothing goes wrong, is everything all right?, JAMA 249 (1983), 1743–1745):
//
//	3/n ≤ 1 − share   ⇔   n ≥ 3/(1 − share)
func (p Goal) Sample() int64 {
	if p.Percent == whole {
		return 0
	}
	return limit.CeilDiv(3*int64(whole), int64(whole-p.Percent))
}

// Provable is the highest share that so many clients can show: 1 − 3/n, rounded down; 0 if they are too few for any.
func Provable(clients int64) Percent {
	if clients <= 3 {
		return 0
	}
	return whole - Percent(limit.CeilDiv(3*int64(whole), clients))
}

// A Scale says how many times as much clients may send as they did.
type Scale struct{ num, den int64 }

// ParseScale reads 2 or 1.5.
func ParseScale(text string) (Scale, error) {
	digits, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(digits+fraction, 10, 31)
	s := Scale{num: int64(n), den: 1}
	for range min(len(fraction), 4) {
		s.den *= 10
	}
	if err != nil || digits == "" || len(fraction) > 4 || 100*s.num < s.den || s.num > 1000*s.den {
		return Scale{}, errors.New("want a factor from 0.01 to 1000, with at most four digits behind the point, such as 2 or 1.5")
	}
	g := limit.GCD(s.num, s.den)
	return Scale{s.num / g, s.den / g}, nil
}

// One reports whether the scale changes nothing.
func (s Scale) One() bool { return s.num == s.den }

// Float is the scale as a number.
func (s Scale) Float() float64 { return float64(s.num) / float64(s.den) }

// String is the scale as ParseScale takes it.
func (s Scale) String() string { return strconv.FormatFloat(s.Float(), 'f', -1, 64) }

// Up is n times the scale, rounded up; n must be below 2³³.
func (s Scale) Up(n int64) int64 { return limit.CeilDiv(n*s.num, s.den) }

// times is count per period times the scale, exactly; false if that does not fit.
func (s Scale) times(count int64, per limit.Time) (int64, limit.Time, bool) {
	if count > math.MaxInt64/s.num || int64(per) > math.MaxInt64/s.den {
		return 0, 0, false
	}
	count *= s.num
	g := limit.GCD(count, s.den)
	return count / g, per * limit.Time(s.den/g), true
}

// Of is the share of n, rounded down; n must not be negative.
func (s Percent) Of(n int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(s))
	quotient, _ := bits.Div64(high, low, uint64(whole)) // high is less than whole, since s is not more
	return int64(quotient)
}
