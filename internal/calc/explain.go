package calc

import (
	"math"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/limit"
)

// An Explanation says what one limit means, by asking its limiter and by trying it out.
type Explanation struct {
	Limit string `json:"limit"`
	Means string `json:"means"` // in a line

	Combine string `json:"combine,omitempty"` // the policy.Combine by which it shares a request with other limits

	// The rest is of the continuous bucket that comes closest.
	Bucket bool       `json:"bucket"`  // whether the limit is such a bucket
	AtOnce int64      `json:"at_once"` // requests of a client that has rested; 0: the limiter does not describe itself
	Count  int64      `json:"count"`   // sustained: so many
	Per    limit.Time `json:"per_us"`  // in that time
	Full   limit.Time `json:"rest_us"` // from empty to full

	// Recovers is the longest pause that a client admitted AtOnce at once needs to be so again, as tried out; 0: there
	// is no such time, or it was not tried.
	Recovers limit.Time `json:"recovers_us"`

	Trial       *Trial              `json:"trial"`   // nil: too large to try out
	Clients     []Client            `json:"clients"` // none: likewise, or they would send too much
	Variants    []Variant           `json:"variants"`
	Equivalents []policy.Equivalent `json:"servers"`
}

// A Variant is what an approximation may be as well, tried out in the same way. All else is of the middle assumption.
type Variant struct {
	Assumes string  `json:"assumes"`
	Trial   *Trial  `json:"trial"`
	Refused []int64 `json:"refused"` // by client
}

// A Trial is what became of a client never seen that sent requests at once until one was refused, and some more.
type Trial struct {
	AtOnce  int64 `json:"at_once"` // admitted
	Endless bool  `json:"endless"` // twice what the limit should admit at once was admitted, and none refused

	// By how much refused requests put off the next admission of that client.
	One  limit.Time `json:"one_us"`  // a single one, at once
	Many limit.Time `json:"many_us"` // and AtOnce of the Explanation more, half-way to the next admission
}

// mostTried is the most requests at once that are tried out.
const mostTried = 100_000

// mostVaried replaces mostTried for approximations: at each request, each of their variants looks at all that it remembers.
const mostVaried = 2000

// mostSent bounds the requests of a client, above what it takes for mostTried at once. Where more are admitted in
// a microsecond than at once, the least time it takes to fill has far more.
const mostSent = 10 * mostTried

// Explain explains each part; the levels of the clients are sampled at so many moments, at least 2.
func Explain(parts []policy.Part, levels int) []Explanation {
	return mapped.Of(parts, func(part policy.Part) Explanation { return explain(part, levels) })
}

func explain(p policy.Part, levels int) Explanation {
	e := Explanation{
		Limit: p.Spec.String(), Means: p.Spec.String(), Clients: []Client{}, Variants: []Variant{}, Equivalents: []policy.Equivalent{},
	}
	e.Means = p.Semantics()
	d, ok := p.Limiter.(limit.Describer)
	if !ok {
		return e
	}
	shape := d.Shape()
	e.Bucket, e.AtOnce, e.Count, e.Per = shape.Kin, shape.AtOnce, shape.Count, shape.Period
	e.Full = limit.Time(mulDivUp(shape.AtOnce, int64(shape.Period), shape.Count))
	e.Equivalents = policy.Equivalents(p.Spec, shape)
	approximation, varied := p.Limiter.(limit.Approximation)
	most := int64(mostTried)
	if varied {
		most = mostVaried
	}
	if shape.AtOnce <= most && e.Full < limit.Never/1000 {
		start := p.Spec.Period / 3 // off the grid that some limiters keep since the epoch
		e.Trial = tryOut(p.Limiter, start, shape.AtOnce)
		if !e.Trial.Endless {
			e.Recovers = recovery(p.Limiter, p.Spec.Period, shape.AtOnce, e.Full)
		}
		e.Clients = clients(p.Limiter, shape, start, e.Full, levels)
		if varied {
			e.vary(approximation, shape, start)
		}
	}
	return e
}

// vary tries the variants out as the approximation itself was, and widens the ranges by them.
func (e *Explanation) vary(a limit.Approximation, shape limit.Shape, start limit.Time) {
	for i := range e.Clients {
		c := &e.Clients[i]
		c.Range = &[2]int64{c.Refused, c.Refused}
	}
	for _, l := range a.Variants() {
		v := Variant{Refused: []int64{}, Trial: tryOut(l, start, shape.AtOnce)}
		if d, ok := l.(limit.Describer); ok {
			v.Assumes = d.Semantics()
		}
		for i, other := range clients(l, shape, start, e.Full, 2) {
			r := e.Clients[i].Range
			r[0], r[1] = min(r[0], other.Refused), max(r[1], other.Refused)
			v.Refused = append(v.Refused, other.Refused)
		}
		e.Variants = append(e.Variants, v)
	}
}

// tryOut tries a limiter out at start. It should admit so many at once.
func tryOut(l limit.Limiter, start limit.Time, atOnce int64) *Trial {
	var s limit.State
	defer s.Release()
	t := &Trial{}
	for ; l.Wait(&s, start) == 0; t.AtOnce++ {
		if t.AtOnce == 2*atOnce {
			t.Endless = true
			return t
		}
		l.Charge(&s, start, false)
	}
	free := limit.Later(start, l.Wait(&s, start))
	l.Charge(&s, start, true)
	next := limit.Later(start, l.Wait(&s, start))
	t.One = next - free
	half := start + (next-start)/2
	for range atOnce {
		l.Charge(&s, half, true)
	}
	t.Many = limit.Later(half, l.Wait(&s, half)) - free
	return t
}

// A Client is a made-up client, and what became of its requests.
type Client struct {
	Name   string     `json:"name"`
	Sends  string     `json:"pattern"`
	Burst  int64      `json:"burst,omitempty"` // requests in each burst
	Every  limit.Time `json:"every_us"`        // between two requests, or two bursts
	Length limit.Time `json:"length_us"`
	Run
	Range *[2]int64 `json:"range"` // refused at least and at most, under all assumptions; nil: the limit is exact
}

// clients sends three clients to the limiter that all send a quarter more than it sustains: steadily, in bursts of half
// as much again as it admits at once, and at random moments. That goes on for six times as long as it takes to fill.
func clients(l limit.Limiter, shape limit.Shape, start, full limit.Time, levels int) []Client {
	const few = 24 // intervals at least
	all := []Client{}
	if shape.Count > math.MaxInt64/5 || shape.Period > math.MaxInt64/4/few {
		return all
	}
	rate := Rate{shape.Count * 5, shape.Period * 4}
	size := shape.AtOnce + (shape.AtOnce+1)/2
	every := max(1, limit.Time(mulDivUp(size, int64(rate.Per), rate.Count)))
	length := max(6*full, limit.Time(mulDivUp(few, int64(shape.Period), shape.Count)))
	patterns := []Pattern{
		{kind: constant, rate: rate}, {kind: burst, size: size, every: every}, {kind: random, rate: rate},
	}
	for _, pattern := range patterns {
		if pattern.Requests(length) > mostSent {
			return all
		}
	}
	all = append(all, Client{Name: "steady", Every: rate.moment(1)}, Client{Name: "bursty", Every: every, Burst: size},
		Client{Name: "random", Every: rate.moment(1)})
	for i, pattern := range patterns {
		all[i].Sends, all[i].Length = pattern.String(), length
		all[i].Run = Simulate(l, limit.State{}, start, length, pattern.Moments(length, 1), levels)
	}
	return all
}
