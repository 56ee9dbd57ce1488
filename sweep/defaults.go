package sweep

import (
	"shadow/limit"
	"shadow/request"
)

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
	m, s := limit.Minute, limit.Second
	if by.Shared() {
		return []Rate{
			{6, m},
			{12, m},
			{30, m},
			{1, s},
			{2, s},
			{3, s},
			{5, s},
			{10, s},
			{20, s},
			{30, s},
			{50, s},
			{100, s},
			{200, s},
			{300, s},
			{500, s},
			{1000, s},
			{2000, s},
			{3000, s},
			{5000, s},
			{10_000, s},
		}
	}
	return []Rate{
		{6, limit.Hour},
		{12, limit.Hour},
		{30, limit.Hour},
		{1, m},
		{2, m},
		{3, m},
		{6, m},
		{10, m},
		{15, m},
		{20, m},
		{30, m},
		{1, s},
		{2, s},
		{3, s},
		{5, s},
		{10, s},
		{20, s},
		{30, s},
		{50, s},
		{100, s},
	}
}

// DefaultBursts are those for which it is counted how many requests a token bucket refuses.
func DefaultBursts() []int64 { return []int64{5, 10, 20, 50, 100, 200, 500, 1000} }
