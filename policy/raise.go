package policy

import (
	"fmt"

	"shadow/limit"
)

// Each limit has a number that says how much it admits at once, and that one would raise for the clients that it refuses: the
// burst where the algorithm has one, so that the rate stays, and the count otherwise.

// bursts are the algorithms with a burst, and what it is when the limit does not say.
var bursts = map[string]func(limit.Spec) int64{
	"token":       func(s limit.Spec) int64 { return s.Count },
	"envoy-local": func(s limit.Spec) int64 { return s.Count },
	"traefik":     func(limit.Spec) int64 { return 1 },
	"nginx":       func(limit.Spec) int64 { return 0 },
	"gcra":        func(limit.Spec) int64 { return 0 },
}

// Number is the number to raise: what it is called, "burst" or "count", and what it is.
func (p Part) Number() (name string, n int64) {
	if missing, ok := bursts[p.Spec.Algorithm]; ok {
		return "burst", p.Spec.Args().Int("burst", missing(p.Spec))
	}
	return "count", p.Spec.Count
}

// WithNumber is the same limit, for the same requests, with another number.
func (p Part) WithNumber(n int64) (Part, error) {
	spec := p.Spec
	if _, ok := bursts[spec.Algorithm]; ok {
		rest, _, _ := cutOption(spec, "burst")
		var err error
		if spec, err = limit.Parse(fmt.Sprintf("%s,burst=%d", rest, n)); err != nil {
			return Part{}, err
		}
	} else {
		spec.Count = n
	}
	other, err := newPart(spec, p.By)
	other.Match, other.Count, other.MatchText, other.CountText = p.Match, p.Count, p.MatchText, p.CountText
	return other, err
}
