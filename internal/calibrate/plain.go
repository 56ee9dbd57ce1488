package calibrate

import (
	"cmp"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/limit"
)

// Of limits that explain as much, people rather write the plainer: with few options, in round numbers, by usual
// periods.

// likelier orders limits that explain as much: those that are meant first, then the plainer ones, those of shorter
// periods.
func (s *search) likelier(x, y string) int {
	period := func(text string) limit.Time { spec, _ := limit.Parse(text); return spec.Period }
	return cmp.Or(cmp.Compare(min(0, s.order(x)), min(0, s.order(y))), cmp.Compare(oddness(x, s.span), oddness(y, s.span)),
		cmp.Compare(s.order(x), s.order(y)), cmp.Compare(period(x), period(y)), strings.Compare(x, y))
}

// order is the place of a limit's algorithm among others that explain as much.
func (s *search) order(text string) int {
	name, _ := limit.CutAlgorithm(text)
	if name == s.Prefer {
		return -1
	}
	return slices.IndexFunc(policy.Algorithms, func(a policy.Algorithm) bool { return a.Name == name })
}

// What makes a limit odd: each option, each digit.
const option, digit = 3, 2

// oddness says how far a limit is from plain: by its options, the digits of its numbers, and how rare its period is.
func oddness(text string, span limit.Time) (odd int) {
	for part := range strings.SplitSeq(text, "+") {
		_, rest := limit.CutAlgorithm(part)
		odd += option * strings.Count(rest, ",")
		for number := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r < '0' || r > '9' }) {
			odd += digit * len(strings.TrimRight(number, "0"))
		}
		if spec, err := limit.Parse(part); err == nil {
			odd += rarity(spec.Period, span)
		}
	}
	return odd
}

// rarity is 0 for a period by which limits are usually written, 1 for rarer ones, and 2 for others and those that the
// log is far too short for.
func rarity(per, span limit.Time) int {
	const usual = 8
	at := slices.Index(ratePeriods, per)
	if at < 0 || per/2 > span {
		return 2
	}
	return at / usual
}

// Known lists what users of libraries and servers call the limit, where that is plainer than its text: the plainest
// first.
func (f *Fit) Known() []string {
	spec, err := limit.Parse(f.Limit)
	if err != nil {
		return nil // a pair
	}
	odd := func(text string) int { return oddness(text, limit.Never) }
	names := slices.DeleteFunc(policy.KnownAs(spec), func(name string) bool { return odd(name) >= odd(f.Limit) })
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(odd(x), odd(y)) })
	return slices.DeleteFunc(names, func(name string) bool { return odd(name) > odd(names[0])+option })
}
