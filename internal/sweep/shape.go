package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/limit"
)

// A Kind is a kind of limit of which there are curves.
type Kind uint8

// The kinds.
const (
	Window    Kind = iota // window:N/W
	Fixed                 // fixed:N/W
	WindowAll             // window:N/W,charge=all
	Token                 // token:RATE,burst=N
	UnderWay              // conn:N, of logs that tell how long requests take
	KindCount
)

var kindNames = [KindCount]string{"window", "fixed", "window,charge=all", "token", "conn"}

// String is the kind as --kind takes it.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns the names of all kinds, conn last.
func Kinds() []string { return kindNames[:] }

// ParseKind reads the name of a kind.
func ParseKind(text string) (Kind, error) {
	for k, name := range kindNames {
		if text == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("kind %q: there are no curves of that%s; want one of %s",
		text, limit.Hint(text, kindNames[:]), strings.Join(kindNames[:], "; "))
}

// A Rate is that at which a token bucket refills.
type Rate struct {
	Count int64
	Per   limit.Time
}

// ParseRates reads 10/s, 30/m or 5..20:5/s.
func ParseRates(text string) ([]Rate, error) {
	specs, err := limit.ParseAll(text)
	if err != nil {
		return nil, fmt.Errorf("rate %q: want COUNT/PERIOD, such as 10/s: %w", text, err)
	}
	var rates []Rate
	for _, s := range specs {
		if s.Algorithm != "" || s.Options != "" || s.Count < 1 {
			return nil, fmt.Errorf("rate %q: want COUNT/PERIOD and nothing else, such as 10/s", text)
		}
		rate := Rate{s.Count, s.Period}
		if rate.MostBurst() < 1 {
			return nil, fmt.Errorf("rate %q: too large to be exact; take a shorter period or a rounder count", text)
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

// String is the rate as --rate takes it, 10/1s.
func (r Rate) String() string {
	return strconv.FormatInt(r.Count, 10) + "/" + limit.FormatPeriod(r.Per)
}

// MostBurst is the largest burst that can be counted exactly with the rate, as in package bucket; 0 if there is none.
func (r Rate) MostBurst() int64 {
	g := limit.GCD(r.Count, int64(r.Per))
	return (math.MaxInt64 - r.Count/g) / (int64(r.Per) / g)
}

// A Shape is a kind of limit with all its numbers but one, which the curve goes over: the limit N of a window, the burst
// of a token bucket.
type Shape struct {
	Kind Kind
	Per  limit.Time // of windows
	Rate Rate       // of token buckets
}

// Limit is the limit with a number put in, as --limit takes it.
func (s Shape) Limit(n int64) string { return s.with(strconv.FormatInt(n, 10)) }

// String is the limit with N in the place of the number.
func (s Shape) String() string { return s.with("N") }

func (s Shape) with(n string) string {
	switch s.Kind {
	case Window, Fixed:
		return fmt.Sprintf("%s:%s/%s", s.Kind, n, limit.FormatPeriod(s.Per))
	case UnderWay:
		return "conn:" + n
	case WindowAll:
		return fmt.Sprintf("window:%s/%s,charge=all", n, limit.FormatPeriod(s.Per))
	}
	return fmt.Sprintf("token:%s,burst=%s", s.Rate, n)
}

// PerText returns the period of a window as a limit has it, "" for other kinds.
func (s Shape) PerText() string {
	if s.Kind >= Token {
		return ""
	}
	return limit.FormatPeriod(s.Per)
}

// RateText returns the rate of a bucket as a limit has it, "" for other kinds.
func (s Shape) RateText() string {
	if s.Kind != Token {
		return ""
	}
	return s.Rate.String()
}

// What is looked at unless flags say otherwise.

// DefaultPeriods are lengths of windows: those that servers and people choose.
func DefaultPeriods() []limit.Time {
	return []limit.Time{
		limit.Second, 10 * limit.Second, 30 * limit.Second, limit.Minute, 5 * limit.Minute, 15 * limit.Minute, limit.Hour, limit.Day,
	}
}

// DefaultRates are 20 rates of token buckets, each about twice the one before: for one client from one in ten minutes, for
// keys that clients share from one in ten seconds.
func DefaultRates(by request.Key) []Rate {
	if by.Shared() {
		return slices.Concat(perPeriod(limit.Minute, 6, 12, 30),
			perPeriod(limit.Second, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10_000))
	}
	return slices.Concat(perPeriod(limit.Hour, 6, 12, 30), perPeriod(limit.Minute, 1, 2, 3, 6, 10, 15, 20, 30),
		perPeriod(limit.Second, 1, 2, 3, 5, 10, 20, 30, 50, 100))
}

// perPeriod makes rates of counts per period.
func perPeriod(per limit.Time, counts ...int64) []Rate {
	return mapped.Of(counts, func(count int64) Rate { return Rate{count, per} })
}

// DefaultBursts returns the bursts for which it is counted how many requests a token bucket refuses.
func DefaultBursts() []int64 { return []int64{5, 10, 20, 50, 100, 200, 500, 1000} }

// Shapes returns the shapes that options name.
func (o *Options) Shapes() (all []Shape) {
	for _, kind := range o.Kinds {
		if kind == UnderWay {
			all = append(all, Shape{Kind: kind})
		}
		for _, per := range o.Periods {
			if kind < Token {
				all = append(all, Shape{Kind: kind, Per: per})
			}
		}
		for _, rate := range o.Rates {
			if kind == Token {
				all = append(all, Shape{Kind: kind, Rate: rate})
			}
		}
	}
	return all
}
