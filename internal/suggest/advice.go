package suggest

import (
	"math/bits"
	"slices"

	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
)

// A Question says what the user wants.
type Question struct {
	Goals  []Goal
	Target who.Set
	Scale  Scale
	Server Market // whose limits are wanted
	Stated bool   // whether the user says which clients to protect
	Short  bool   // whether windows of hours may have fewer than leastOfHours requests: a flag asks for them

	Recover limit.Time // the longest time in which a limit must forget; 0: any
}

// Protected are the clients of all goals.
func (q *Question) Protected() (all who.Set) {
	for _, p := range q.Goals {
		all |= p.Who
	}
	return all
}

// bothSides reports whether some clients are protected and a target.
func (q *Question) bothSides() bool { return q.Target&q.Protected() != 0 }

// Keeps reports whether a limit meets all goals, if there are so many clients.
func (q *Question) Keeps(f *Figures, clients *who.Groups) bool {
	return !slices.ContainsFunc(q.Goals, func(p Goal) bool { return f.Hit.Of(p.Who) > p.MayHit(clients.Of(p.Who)) })
}

// hitsNone reports whether a limit hits no client to protect.
func (q *Question) hitsNone(f *Figures) bool { return f.Hit.Of(q.Protected()) == 0 }

// shortest is the number of times that a limit's memory must fit into the parts that it is chosen on.
const shortest = 3

// refills tells how long an empty bucket takes to fill: burst tokens at count per period.
func refills(rate sweep.Rate, burst int64) limit.Time {
	high, low := bits.Mul64(uint64(burst), uint64(rate.Per))
	if high >= uint64(rate.Count) {
		return limit.Never
	}
	time, _ := bits.Div64(high, low, uint64(rate.Count))
	return limit.Time(min(time, uint64(limit.Never)))
}

// leastOfHours is the least that a window of an hour or longer may admit in it, unless a flag asks for such windows: a
// few requests a day are a figure of the log and not of the people who visit the site.
const leastOfHours = 20

// Advice is the answer to a question about the requests of one action, or all.
type Advice struct {
	Question
	Action      string // "" for all
	Parts       [PartCount]*Part
	Loads       Loads
	Suggestions []Suggestion // one for each curve, in their order
	Looser      []Suggestion // in place of those among which the answer is and that refuse more than half of the log
	Own         []Suggestion // one for each family of the server's limits; none if any limit will do
	Whole       *Whole       // what a replay of the whole log finds; nil until NameWhole
	Reach       *Reach       // how much of the target any limit by client can reach; nil: unknown
	ByKey       []KeyReach   // the same by other keys, as far as they were looked at
	Ceilings    []Ceiling    // limits by what they still allow, where there is no client to protect
	Answer      Answer
	Broken      *replay.Hit  // the protected client that the limit of Answer.Broke refuses most; nil: none is known
	Explored    *Exploration // nil: not asked for
	loosenings  []loosening
	all         int64 // requests of the log, of whatever action, on the parts that choose
	excess      bool  // whether limits that hit no client to protect refuse more than half of the log
	tooMuch     bool  // whether an answer did so to the whole log
	room        int64 // percent by which a safety net is looser than the parts that choose want, as the whole log does
}

// Choosing are the parts that limits are chosen on.
func (a *Advice) Choosing() []*Part {
	return slices.DeleteFunc([]*Part{a.Parts[First], a.Parts[Second]}, func(p *Part) bool { return p == nil })
}

// Banded reports whether more than the log as it is was looked at.
func (a *Advice) Banded() bool {
	return slices.ContainsFunc(a.Parts[:], func(p *Part) bool { return p != nil && len(p.Placements) > 1 })
}

// fits reports whether a limit with such a memory can be judged by the parts that choose.
func (a *Advice) fits(length limit.Time) bool {
	parts := a.Choosing()
	return fits(length, parts[len(parts)-1].Last-parts[0].First)
}

// fits reports whether a limit with such a memory can be judged by so much of a log.
func fits(length, log limit.Time) bool { return log/shortest >= length }

// drawn reports whether there are curves of a shape: windows that are too long have none.
func (a *Advice) drawn(s sweep.Shape) bool { return s.Kind == sweep.Token || a.fits(s.Per) }

// A Suggestion is the limit of one shape, or why there is none.
type Suggestion struct {
	sweep.Shape
	Why    Why
	Chosen Candidate
	Proof  Proof
	Others []Candidate // runners-up from the strictest to the loosest, without the chosen one
	Knee   Candidate   // its Limit is 0 if there is none

	curve  int // which one tells of it
	family family
	tries  []Candidate // limits near the chosen one, of a server's own arithmetic
}

// Why tells why there is a limit, or none.
type Why uint8

// The reasons.
const (
	Found   Why = iota
	TooLong     // the window, or the time in which the bucket refills, is too long for the log
	Nobody      // no client to protect is in the parts that limits are chosen on
	Broken      // every limit breaks the promise
	TooFew      // a window of hours would admit fewer than leastOfHours

	SlowToForget // it takes longer to forget than Question.Recover
	BelowPace    // people who load one page after the other take more
)

// Proof says how the limit does on the rest of the log.
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
	Limit int64              // on the log as it is: the scale is not in it; 0: none
	On    [PartCount]Figures // of each part
}

// refused counts the requests of some clients that a limit refuses on the parts that choose.
func (c *Candidate) refused(some who.Set) int64 {
	return c.On[First].Refused.Of(some) + c.On[Second].Refused.Of(some)
}

// Advise chooses a limit of each shape, and of each family of the server. What token buckets refuse, and what the
// server's arithmetic makes of them all, is to be counted afterwards: see Uncounted and Alternatives.
func Advise(q Question, action string, parts [PartCount]*Part, loads Loads) *Advice {
	a := &Advice{Question: q, Action: action, Parts: parts, Loads: loads}
	for i := range parts[First].Placements[0] {
		shape := parts[First].Placements[0][i].Shape
		a.Suggestions = append(a.Suggestions, a.choose(family{shape: shape}, i))
	}
	for _, f := range q.Server.families {
		for i := range a.Suggestions {
			if a.Suggestions[i].Shape == f.shape {
				a.Own = append(a.Own, a.choose(f, i))
				break
			}
		}
	}
	return a
}

// choose chooses the limit of one shape: the smallest that keeps the promise on both parts that choose.
func (a *Advice) choose(f family, curve int) Suggestion {
	s := Suggestion{Shape: f.shape, family: f, curve: curve}
	n, why := a.smallest(&s, a.Keeps)
	if s.Why = why; why != Found {
		return s
	}
	n = f.plain(n)
	s.Chosen = a.candidate(&s, n)
	if f.own != nil {
		return s
	}
	s.Proof = a.prove(curve, n)
	below := stricter(n)
	slices.Reverse(below)
	for _, other := range slices.Concat(below, looser(n)) {
		s.Others = append(s.Others, a.candidate(&s, other))
	}
	if knee, ok := a.Parts[First].Placements[0][curve].Knee(a.Protected()); ok {
		s.Knee = a.candidate(&s, knee)
	}
	return s
}

// smallest is the smallest limit of a shape that keeps a promise on both parts that choose.
func (a *Advice) smallest(s *Suggestion, keeps func(*Figures, *who.Groups) bool) (n int64, why Why) {
	why = Nobody
	for _, p := range a.Choosing() {
		if p.Clients.Of(a.Protected()) == 0 {
			continue
		}
		if !a.drawn(s.Shape) {
			return 0, TooLong
		}
		here, ok := Strictest(p.curve(s.curve), func(f *Figures) bool { return keeps(f, &p.Clients) })
		if !ok {
			return 0, Broken
		}
		n, why = max(n, here), Found
	}
	if s.Kind == sweep.Token && a.Banded() { // what a smaller bucket refuses hangs on how requests lay within a second
		n = max(n, ceilProduct(s.Rate.Count, int64(limit.Second), int64(s.Rate.Per)))
	}
	switch token := s.Kind == sweep.Token; {
	case why != Found:
		return 0, why
	case token && n > s.Rate.MostBurst():
		return 0, Broken
	case token && !a.fits(refills(s.Rate, n)):
		return 0, TooLong
	case !a.Short && a.Action == "" && a.ofHours(s.Shape, n) && Admits(s.Shape, n, limit.Hour) < leastOfHours:
		return 0, TooFew
	}
	if why := a.tooSlow(s.Shape, n); why != Found {
		return 0, why
	}
	return n, Found
}

// ofHours reports whether a limit remembers an hour or more.
func (a *Advice) ofHours(s sweep.Shape, n int64) bool {
	if s.Kind == sweep.Token {
		return refills(s.Rate, n) >= limit.Hour
	}
	return s.Per >= limit.Hour
}

// candidate is a limit with what curves tell of it. They tell nothing of a server's own arithmetic.
func (a *Advice) candidate(s *Suggestion, n int64) Candidate {
	c := Candidate{Limit: n}
	for i, part := range a.Parts {
		if part == nil {
			c.On[i].Counted = true
		} else if c.On[i] = part.Placements[0][s.curve].At(n); s.family.own != nil || !a.drawn(s.Shape) {
			c.On[i].Counted = false
		}
	}
	return c
}

// prove tries a limit on the rest.
func (a *Advice) prove(curve int, n int64) Proof {
	rest := a.Parts[Rest]
	switch {
	case rest == nil:
		return NotTried
	case rest.Clients.Of(a.Protected()) == 0:
		return Nothing
	}
	for _, c := range rest.curve(curve) {
		if f := c.At(n); !a.Keeps(&f, &rest.Clients) {
			return Fails
		}
	}
	return Holds
}

// keeps reports whether a limit keeps the promise on both parts that choose, as far as its figures tell.
func (a *Advice) keeps(c *Candidate, promise func(*Figures, *who.Groups) bool) bool {
	for i, p := range a.Parts[:Rest] {
		if p != nil && !promise(&c.On[i], &p.Clients) {
			return false
		}
	}
	return true
}

// Count returns what a replay found of a limit.
func Count(hits *replay.Hits, labels who.Identities) Figures {
	f := Figures{Counted: true}
	for hit := range hits.All() {
		g := labels.Of(hit.Client)
		f.Refused[g] += hit.Refused
		f.Hit[g]++
	}
	return f
}

// Text is the limit of a suggestion's candidate as replay takes it, scaled; false if its numbers do not fit.
func (a *Advice) Text(s *Suggestion, n int64) (string, bool) { return s.family.scaled(a.Scale, n) }
