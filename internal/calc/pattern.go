package calc

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"shadow/limit"
)

// A Pattern is when a made-up client sends its requests, from time 0 on:
//
//	none              never
//	constant:150/s    one each 1/150 s, the first at 0
//	burst:500@10s     500 at once, every 10 s, the first at 0
//	random:150/s      as many as constant:150/s, each at a moment of its own, drawn with a seed
//
// Moments are whole microseconds. The zero Pattern means: no requests.
type Pattern struct {
	kind  kind
	rate  Rate       // of constant and random
	size  int64      // requests in a burst
	every limit.Time // between the beginnings of two bursts
}

type kind uint8

const (
	none kind = iota
	constant
	burst
	random
)

var kindNames = [...]string{"none", "constant", "burst", "random"}

// Patterns are the names of the patterns, with an example each.
func Patterns() []string { return []string{"none", "constant:150/s", "burst:500@10s", "random:150/s"} }

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	name, value, _ := strings.Cut(text, ":")
	p := Pattern{kind: kind(max(0, slices.Index(kindNames[:], name)))}
	var err error
	switch {
	case text == "none":
	case p.kind == burst:
		number, period, _ := strings.Cut(value, "@")
		if p.size, err = strconv.ParseInt(number, 10, 64); err != nil || p.size < 1 || period == "" {
			err = errors.New("want the requests in a burst and the time between two, such as burst:500@10s")
			break
		}
		p.every, err = limit.ParsePeriod(period)
	case p.kind == none:
		err = fmt.Errorf("want one such as %s", strings.Join(Patterns(), ", "))
	default:
		p.rate, err = ParseRate(value)
	}
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return p, nil
}

// String is the pattern as ParsePattern reads it.
func (p Pattern) String() string {
	switch p.kind {
	case none:
		return "none"
	case burst:
		return fmt.Sprintf("burst:%d@%s", p.size, limit.FormatPeriod(p.every))
	}
	return kindNames[p.kind] + ":" + p.rate.String()
}

// Random reports whether the pattern depends on a seed.
func (p Pattern) Random() bool { return p.kind == random }

// Requests returns the number of requests in [0, window), or the largest number if they are more than that.
func (p Pattern) Requests(window limit.Time) int64 {
	switch p.kind {
	case constant, random:
		return mulDivUp(int64(window), p.rate.Count, int64(p.rate.Per)) // from a request on
	case burst:
		bursts := limit.CeilDiv(int64(window), int64(p.every))
		if bursts > math.MaxInt64/p.size {
			return math.MaxInt64
		}
		return bursts * p.size
	}
	return 0
}

// Moments are the times of the requests in [0, window), in order. A random pattern gives each request a moment of the
// window, all of them as likely, in whole numbers only, so that a seed means the same on every machine.
func (p Pattern) Moments(window limit.Time, seed uint64) iter.Seq[limit.Time] {
	if p.kind == random {
		r := rand.New(rand.NewPCG(seed, 0))
		moments := make([]limit.Time, p.Requests(window))
		for i := range moments {
			moments[i] = limit.Time(r.Int64N(int64(window)))
		}
		slices.Sort(moments)
		return slices.Values(moments)
	}
	return func(yield func(limit.Time) bool) {
		for k := range p.Requests(window) {
			if !yield(min(p.moment(k), window-1)) {
				return
			}
		}
	}
}

// moment is when request number k comes.
func (p Pattern) moment(k int64) limit.Time {
	if p.kind == burst {
		return limit.Time(k/p.size) * p.every
	}
	return p.rate.moment(k)
}
