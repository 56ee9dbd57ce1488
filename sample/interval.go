package sample

import "math"

// How far from an estimate the truth may be.
//
// A unit u is in the sample with probability p(u), each by itself. It has a figure y(u), such as its refused requests,
// known only if it is in the sample. The estimate of Σ y is that of Horvitz and Thompson (1952): S = Σ y/p over the sample.
// What a unit can add to S has a limit that is known for all units: y ≤ m, its requests, so y/p ≤ m/p ≤ w. For T = Σ y and
// every λ > 0 the exponential function is convex, so each factor of the Chernoff bound (1952; Hoeffding 1963) obeys
//
//	1 + p·(exp(±λ·y/p) − 1)  ≤  exp(y/w · (exp(±λ·w) − 1))
//
// and S/w strays no more than a Poisson variable of mean T/w may according to the same bound:
//
//	P(S/w ≥ x) ≤ exp(−h(x, T/w)) for x ≥ T/w,   P(S/w ≤ x) ≤ exp(−h(x, T/w)) for x ≤ T/w,
//	h(x, μ) = μ − x + x·ln(x/μ)
//
// All T with h(S/w, T/w) ≤ ln(2/α) are an interval that holds the truth with probability 1−α or more, for every log. It
// supposes nothing about how y is distributed: heavy tails cost width, not truth.

// Miss is how often the truth of one figure may lie outside of its interval.
const Miss = 0.05

// An Interval is an estimate, and the least and the most that the figure of the whole log may be.
type Interval struct{ Estimate, Low, High int64 }

// Ends are its least and its most.
func (i Interval) Ends() [2]int64 { return [2]int64{i.Low, i.High} }

// A Sum is what a sample tells of the sum of a figure over all units.
type Sum struct {
	Certain  int64   // of units that are in every sample
	Seen     int64   // of the others that are in this sample
	Weighted float64 // of these, each divided by its probability
}

// A Bound is what is known of a figure whether or not a unit is in the sample: how large it can be.
type Bound struct {
	Largest float64 // that one unit can add to Sum.Weighted
	Unseen  int64   // the sum of how large it can be of units that are not in the sample
}

// Add takes in the figure of a unit that is in the sample with probability p.
func (s *Sum) Add(y int64, p float64) {
	if p >= 1 {
		s.Certain += y
		return
	}
	s.Seen += y
	s.Weighted += float64(y) / p
}

// Interval is what holds the figure of the whole log but in a share of miss of all samples.
func (s *Sum) Interval(b Bound, miss float64) Interval {
	low, high := float64(s.Seen), float64(s.Seen)+float64(b.Unseen)
	if b.Largest > 0 {
		x, deviation := s.Weighted/b.Largest, math.Log(2/miss)
		low = max(low, math.Floor(b.Largest*poissonLow(x, deviation)))
		high = min(high, math.Ceil(b.Largest*poissonHigh(x, deviation)))
	}
	i := Interval{Low: s.Certain + int64(low), High: s.Certain + int64(max(low, high))}
	i.Estimate = min(max(s.Certain+int64(math.Round(s.Weighted)), i.Low), i.High)
	return i
}

// deviation is h above: the exponent of the Chernoff bound of a Poisson variable.
func deviation(x, mean float64) float64 {
	if x == 0 {
		return mean
	}
	return mean - x + x*math.Log(x/mean)
}

// poissonHigh is the largest mean with which a Poisson variable may be x or less.
func poissonHigh(x, most float64) float64 {
	low, high := x, x+1
	for deviation(x, high) < most {
		high = x + 2*(high-x)
	}
	return bisect(low, high, func(mean float64) bool { return deviation(x, mean) >= most })
}

// poissonLow is the smallest mean with which a Poisson variable may be x or more.
func poissonLow(x, most float64) float64 {
	if x == 0 {
		return 0
	}
	return bisect(0, x, func(mean float64) bool { return mean > 0 && deviation(x, mean) <= most })
}

// bisect is where a condition begins to hold, between a value where it does not and one where it does.
func bisect(low, high float64, holds func(float64) bool) float64 {
	for range 100 {
		if middle := low + (high-low)/2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low + (high-low)/2
}
