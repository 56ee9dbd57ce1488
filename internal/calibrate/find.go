package calibrate

import (
	"cmp"
	"math"
	"slices"
)

// A Found is what explains the verdicts on some requests.
type Found struct {
	Requests, Clients, Refused int64 // by the server; Clients are keys

	Best    *Fit   // nil: the server refused nothing, or nothing fits
	Equal   []*Fit // limits that agree on as many requests, the plainest first
	AsGood  []*Fit // those that agree on fewer, by no more than could well be chance: plain ones early
	Percent float64
	Low     float64 // the interval in which the agreement lies with a probability of 95 %
	High    float64
	Unseen  float64 // percent of agreement on keys that were not used to choose
	Judged  int     // limits on all requests

	Contradictions []Contradiction
	Contradicted   int64 // keys with some

	timelines []timeline
}

// A Contradiction is the first request of a key on which the best limit decides otherwise than the server.
type Contradiction struct {
	Row     int32 // of the requests
	Key     int32 // of their column
	Verdict Verdict
	Limit   Verdict
	Wrong   int64 // requests of this key
}

// Search finds the limits by a column of keys that explain the verdicts on the rows that take part.
func (r *Requests) Search(keys []int32, part func(row int32) bool, o Options) *Found {
	const few = 20 // one in so many requests that contradict the server's own algorithm are few
	f := r.begin(keys, part)
	if f.Refused == 0 || f.Refused == f.Requests {
		return f
	}
	f.choose(keys, candidates(f.timelines, o), o)
	if o.Only && (f.Best == nil || f.Best.Wrong > f.Requests/few) {
		o.Only = false // perhaps the field is another's
		if other := r.Search(keys, part, o); other.Best != nil && (f.Best == nil || betterBy*other.Best.Wrong < f.Best.Wrong) {
			return other
		}
	}
	return f
}

// Judge holds some limits against the verdicts.
func (r *Requests) Judge(keys []int32, part func(row int32) bool, limits []string, o Options) *Found {
	f := r.begin(keys, part)
	if f.Requests > 0 {
		f.choose(keys, limits, o)
	}
	return f
}

func (r *Requests) begin(keys []int32, part func(row int32) bool) *Found {
	f := &Found{timelines: r.timelines(keys, part)}
	for i := range f.timelines {
		f.Requests += int64(len(f.timelines[i].at))
		f.Refused += f.timelines[i].refused
	}
	f.Clients = int64(len(f.timelines))
	return f
}

// blurred: in whole seconds most of what contradicts the best limit comes from when in their seconds requests lay. The
// limit that the server had may look worse by as much again.
const blurred = 2

// plainer: of limits in usual numbers and in others, those in usual ones may contradict one in so many more verdicts. Each
// step of oddness weighs as much.
const plainer = 20

// choose judges limits on all requests and keeps those that explain them best.
func (f *Found) choose(keys []int32, limits []string, o Options) {
	var all []*Fit
	s := &search{Options: o, span: span(f.timelines)}
	for _, text := range limits {
		if j, err := newJudge(text, o.Delays); err == nil {
			fit := fit(f.timelines, j, o.Delays)
			fit.text = text
			all = append(all, fit)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(x, y *Fit) int { return cmp.Compare(x.Wrong, y.Wrong) })
	best := all[0]
	var good []*Fit
	for _, fit := range all {
		if fit.asGood(best) || o.Whole && fit.Wrong <= blurred*best.Wrong {
			good = append(good, fit)
		}
	}
	// Of those that are as good, the algorithm that is meant goes first.
	if meant := slices.IndexFunc(good, func(fit *Fit) bool { return s.order(fit.text) < 0 && fit.asGood(best) }); meant > 0 {
		best = good[meant]
	}
	for _, fit := range good {
		if fit.Wrong == best.Wrong && s.likelier(fit.text, best.text) < 0 {
			best = fit
		}
	}
	if o.Whole { // people rather write usual numbers
		for _, fit := range good {
			if s.order(fit.text) == s.order(best.text) && plainer*fit.Wrong <= (plainer+1)*best.Wrong && oddness(fit.text, s.span) < oddness(best.text, s.span) &&
				fit.asGood(best) {
				best = fit
			}
		}
	}
	f.Best = best
	weight := func(f *Fit) int64 { return (f.Wrong + 1) * int64(plainer+oddness(f.text, s.span)) }
	slices.SortFunc(good, func(x, y *Fit) int { return cmp.Or(cmp.Compare(weight(x), weight(y)), s.likelier(x.text, y.text)) })
	for _, fit := range good {
		switch {
		case fit == best:
		case fit.Wrong == best.Wrong:
			f.Equal = append(f.Equal, fit)
		default:
			f.AsGood = append(f.AsGood, fit)
		}
	}
	f.Percent, f.Low, f.High = f.interval(best)
	f.Unseen, f.Judged = f.unseen(all), len(all)
	f.contradict(keys, o.Delays)
}

// interval is the share of requests on which a fit agrees, in percent, and Wilson's interval of it. A key's requests do
// not count as so many trials: there are as few as the spread between keys says.
func (f *Found) interval(fit *Fit) (percent, low, high float64) {
	n := float64(f.Requests)
	p := 1 - float64(fit.Wrong)/n
	effective := n
	if keys := float64(f.Clients); p < 1 && keys > 1 {
		var squares float64
		for i := range f.timelines {
			of := float64(len(f.timelines[i].at))
			d := of*(1-p) - float64(fit.keys[i])
			squares += d * d
		}
		if design := keys / (keys - 1) * squares / (n * p * (1 - p)); design > 1 {
			effective = n / design
		}
	}
	const z = 1.959964
	middle := p + z*z/(2*effective)
	half := z * math.Sqrt(p*(1-p)/effective+z*z/(4*effective*effective))
	below := 1 + z*z/effective
	return 100 * p, 100 * max(0, (middle-half)/below), 100 * min(1, (middle+half)/below)
}

// unseen is the agreement, in percent, of the limit that explains every other key best, on the keys between.
func (f *Found) unseen(all []*Fit) float64 {
	var wrong int64
	for half := range 2 {
		least, other := int64(math.MaxInt64), int64(0)
		for _, fit := range all {
			var of [2]int64
			for i, n := range fit.keys {
				of[i%2] += int64(n)
			}
			if of[half] < least {
				least, other = of[half], of[1-half]
			}
		}
		wrong += other
	}
	return 100 * (1 - float64(wrong)/float64(f.Requests))
}

// contradict lists the keys that contradict the best limit most, each with its first request that does.
func (f *Found) contradict(keys []int32, delays bool) {
	for i := range f.timelines {
		t := &f.timelines[i]
		if f.Best.keys[i] == 0 {
			continue
		}
		f.Contradicted++
		was := f.Best.judge.judge(t)
		at := 0
		for was[at] == t.verdict[at] || !delays && was[at] != Refused && t.verdict[at] != Refused {
			at++
		}
		f.Contradictions = append(f.Contradictions, Contradiction{
			Row: t.rows[at], Key: keys[t.rows[at]], Verdict: t.verdict[at], Limit: was[at], Wrong: int64(f.Best.keys[i]),
		})
	}
	slices.SortStableFunc(f.Contradictions, func(x, y Contradiction) int { return cmp.Compare(y.Wrong, x.Wrong) })
}
