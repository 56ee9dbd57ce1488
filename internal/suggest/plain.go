package suggest

import (
	"slices"
	"strings"

	"shadow/internal/sweep"
	"shadow/limit"
)

// A limit that people deploy is one that they can explain: its numbers have two digits, and zeros behind them; a client
// that is refused is let in again within a time that a visitor waits; and what it admits in the long run is no less
// than people take who load one page after the other.

// DefaultRecover is the longest time in which a limit must forget, unless a flag says otherwise.
const DefaultRecover = 15 * limit.Minute

// plain returns the smallest limit from n on whose numbers have two digits, and zeros behind them.
func (f *family) plain(n int64) int64 {
	for _, m := range []int64{twoDigits(n-1) + 1, twoDigits(n)} { // what nginx calls burst is one less than what it admits
		if text, ok := f.text(m); m >= n && ok && isPlain(text) {
			return m
		}
	}
	return twoDigits(n)
}

// twoDigits returns the smallest number from n on that has two digits, and zeros behind them.
func twoDigits(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return limit.CeilDiv(n, unit) * unit
}

// isPlain reports whether the numbers in a text have at most two digits that are not zeros behind others.
func isPlain(text string) bool {
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return !slices.ContainsFunc(numbers, func(number string) bool { return len(strings.TrimRight(number, "0")) > 2 })
}

// leastLoads is the number of page loads that show a pace.
const leastLoads = 100

// tooSlow reports why a limit of a shape cannot be explained, apart from its number; Found if it can.
func (a *Advice) tooSlow(s sweep.Shape, n int64) Why {
	memory, count, per := s.Per, n, s.Per
	if s.Kind == sweep.Token {
		memory, count, per = refills(s.Rate, n), s.Rate.Count, s.Rate.Per
	}
	l := &a.Loads
	switch {
	case a.Short || a.isLogin(): // a flag names its period; or the harm of a password guessed is greater than that of waiting
	case a.Recover > 0 && memory > a.Recover:
		return SlowToForget
	case l.Count >= leastLoads && l.Gap > 0 && float64(count)*float64(l.Gap) < float64(l.P50)*float64(per):
		return BelowPace
	}
	return Found
}
