package suggest

import (
	"math/bits"
	"slices"

	"shadow/limit"
	"shadow/replay"
	"shadow/sweep"
)

// A Question is what somebody wants.
type Question struct {
	Goals  []Goal
	Target Set
	Scale  Scale
}

// protected are the clients of all goals.
func (q *Question) protected() (who Set) {
	for _, p := range q.Goals {
		who |= p.Who
	}
	return who
}

// Keeps reports whether a limit meets all goals, if there are so many clients.
func (q *Question) Keeps(f *Figures, clients *Groups) bool {
	for _, p := range q.Goals {
		if f.Hit.Of(p.Who) > p.MayHit(clients.Of(p.Who)) {
			return false
		}
	}
	return true
}

// A Part of the log: the one that limits are chosen on, or the one that they are proven on.
type Part struct {
	First, Last limit.Time // of its requests; both 0 without any
	Clients     Groups
	Requests    Groups
	Placements  [][]Curve // the curves of the log as it is, and then of other ways in which its requests may have lain
}

// curve is the curves of shape i, one for each placement.
func (p *Part) curve(i int) (same []*Curve) {
	for _, curves := range p.Placements {
		same = append(same, &curves[i])
	}
	return same
}

// shortest is how many times what a limit remembers must fit into the part that it is chosen on, to say something about it.
const shortest = 3

// fits reports whether a limit with such a memory can be judged by the part.
func (p *Part) fits(length limit.Time) bool { return (p.Last-p.First)/shortest >= length }

// refills tells how long an empty bucket takes to fill: burst tokens at count per period.
func refills(rate sweep.Rate, burst int64) limit.Time {
	high, low := bits.Mul64(uint64(burst), uint64(rate.Per))
	if high >= uint64(rate.Count) {
		return limit.Never
	}
	time, _ := bits.Div64(high, low, uint64(rate.Count))
	return limit.Time(min(time, uint64(limit.Never)))
}

// Advice is the answer to a question about the requests of one action, or all.
type Advice struct {
	Question
	Action      string // "" for all
	First       *Part
	Rest        *Part // nil: nothing was held out
	Loads       Loads
	Suggestions []Suggestion // one for each curve, in their order
	Nginx       *Nginx       // what nginx is to be told; nil: it has none of them, or BestNginx was not called
	Whole       *Whole       // what a replay of the whole log finds; nil until NameWhole
	Ceilings    []Ceiling    // limits by what they still allow, where there is no client to protect
}

// Banded reports whether more than the log as it is was looked at.
func (a *Advice) Banded() bool {
	return len(a.First.Placements) > 1 || a.Rest != nil && len(a.Rest.Placements) > 1
}

// A Suggestion is the limit of one shape, or why there is none.
type Suggestion struct {
	sweep.Shape
	Why    Why
	Chosen Candidate
	Proof  Proof
	Both   Candidate   // the strictest that keeps the promise on both parts; its Limit is 0 if there is none, or no rest
	Others []Candidate // runners-up from the strictest to the loosest, without the chosen one
	Knee   Candidate   // its Limit is 0 if there is none

	InNginx bool // whether nginx has such a limit
}

// Why tells why there is a limit, or none.
type Why uint8

// The reasons.
const (
	Found   Why = iota
	TooLong     // the window, or the time in which the bucket refills, is too long for the log
	Nobody      // no client to protect is in the part that limits are chosen on
	Broken      // every limit breaks the promise
)

// Proof is what the rest of the log says of a limit.
type Proof uint8

// The outcomes.
const (
	NotTried Proof = iota // nothing was held out
	Nothing               // no client to protect is in the rest
	Holds                 // the promise is kept there as well
	Fails
)

var proofNames = [...]string{"not tried", "nobody there", "holds", "fails"}

// String is the outcome in a word or two.
func (p Proof) String() string { return proofNames[p] }

// A Candidate is one limit with its price.
type Candidate struct {
	Limit int64   // on the log as it is: the scale is not in it; 0: none
	First Figures // on the part that limits are chosen on
	Rest  Figures // on the rest
}

// Advise chooses a limit of each shape. What token buckets refuse is to be counted
// afterwards: see Uncounted and Alternatives.
func Advise(q Question, action string, first, rest *Part, loads Loads) *Advice {
	a := &Advice{Question: q, Action: action, First: first, Rest: rest, Loads: loads}
	for i := range first.Placements[0] {
		a.Suggestions = append(a.Suggestions, a.choose(i))
	}
	return a
}

// choose chooses the limit of one shape.
func (a *Advice) choose(i int) Suggestion {
	curve := &a.First.Placements[0][i]
	s := Suggestion{Shape: curve.Shape}
	switch {
	case a.First.Clients.Of(a.protected()) == 0:
		s.Why = Nobody
	case s.Kind != sweep.Token && !a.First.fits(s.Per):
		s.Why = TooLong
	}
	if s.Why != Found {
		return s
	}
	n, ok := Strictest(a.First.curve(i), func(f *Figures) bool { return a.Keeps(f, &a.First.Clients) })
	switch {
	case !ok || s.Kind == sweep.Token && n > s.Rate.MostBurst():
		s.Why = Broken
		return s
	case s.Kind == sweep.Token && !a.First.fits(refills(s.Rate, n)):
		s.Why = TooLong
		return s
	}
	s.Chosen = a.candidate(i, n)
	_, s.InNginx = a.twin(&s, n, true)
	if s.Proof = a.prove(i, n); s.Proof == Holds || s.Proof == Fails {
		if there, ok := Strictest(a.Rest.curve(i), func(f *Figures) bool { return a.Keeps(f, &a.Rest.Clients) }); ok {
			s.Both = a.candidate(i, max(n, there))
		}
	}
	below := stricter(n)
	slices.Reverse(below)
	for _, other := range slices.Concat(below, looser(n)) {
		s.Others = append(s.Others, a.candidate(i, other))
	}
	if knee, ok := curve.Knee(a.protected()); ok {
		s.Knee = a.candidate(i, knee)
	}
	return s
}

func (a *Advice) candidate(i int, n int64) Candidate {
	c := Candidate{Limit: n, First: a.First.Placements[0][i].At(n)}
	if a.Rest != nil {
		c.Rest = a.Rest.Placements[0][i].At(n)
	}
	return c
}

// prove tries a limit on the rest.
func (a *Advice) prove(i int, n int64) Proof {
	switch {
	case a.Rest == nil:
		return NotTried
	case a.Rest.Clients.Of(a.protected()) == 0:
		return Nothing
	}
	for _, curve := range a.Rest.curve(i) {
		if f := curve.At(n); !a.Keeps(&f, &a.Rest.Clients) {
			return Fails
		}
	}
	return Holds
}

// Uncounted are the chosen limits of which it is not known what they refuse.
func (a *Advice) Uncounted() (all []Priced) {
	for i := range a.Suggestions {
		s := &a.Suggestions[i]
		all = a.uncounted(all, s, &s.Chosen)
	}
	return all
}

// Alternatives are the others beside the best limit of each kind of which it is not known what they refuse, and what nginx
// makes of the one that it is told. What the chosen ones refuse must be known.
func (a *Advice) Alternatives() (all []Priced) {
	for _, s := range a.BestOfAll() {
		all = a.uncounted(all, s, &s.Both)
		all = a.uncounted(all, s, &s.Knee)
		for i := range s.Others {
			all = a.uncounted(all, s, &s.Others[i])
		}
	}
	if a.Nginx != nil {
		all = append(all, a.Nginx.measured(a)...)
	}
	return all
}

// A Priced is a limit whose price is to be found by a replay.
type Priced struct {
	*Candidate
	Text string // its limit as replay takes it
}

func (a *Advice) uncounted(all []Priced, s *Suggestion, c *Candidate) []Priced {
	if c.Limit == 0 || c.First.Counted && (a.Rest == nil || c.Rest.Counted) {
		return all
	}
	return append(all, Priced{c, s.Shape.Limit(c.Limit)})
}

// Count is what a replay found of a limit.
func Count(hits *replay.Hits, labels Labels) Figures {
	f := Figures{Counted: true}
	for hit := range hits.All() {
		g := labels.Of(hit.Client)
		f.Refused[g] += hit.Refused
		f.Hit[g]++
	}
	return f
}

// Text is the limit of a suggestion's candidate as replay takes it, scaled; false if its numbers do not fit.
func (a *Advice) Text(s *Suggestion, n int64) (string, bool) {
	shape := s.Shape
	if shape.Kind == sweep.Token {
		count, per, ok := a.Scale.times(shape.Rate.Count, shape.Rate.Per)
		if !ok {
			return "", false
		}
		shape.Rate = sweep.Rate{Count: count, Per: per}
	}
	return shape.Limit(a.Scale.Up(n)), true
}
