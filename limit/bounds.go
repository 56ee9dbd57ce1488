package limit

// Bounds of a limit on a log whose stamps are too coarse. Of each request only a span is known, the slack, in which
// it came: from its stamp t to t + slack, in the order of the stamps. Two limiters that judge the stamps themselves
// enclose what the limit decides, wherever in their spans the requests came:
//
//	low     takes two requests to lie as far apart as they can:    t₂ − t₁ + slack, for requests of one span as well
//	high    takes two requests to lie as close as they can:        t₂ − t₁ − slack, or together
//
// Many limiters admit a request exactly when no stretch of requests that ends with it holds more than its length
// allows, and charge admitted requests only: token buckets, rolling windows. Judging in order then admits as many as
// can be admitted at all, and a longer stretch never allows less. So for one key low refuses no more requests than
// any placement, and high no fewer. Both are reached by some placement where the limit counts in real numbers, so
// nothing narrower holds. For other limiters, such as those that reopen a window with a request, both are placements
// that are bad or good for them, and no proof.

// A Bounder is a Limiter that knows its bounds.
type Bounder interface {
	Limiter

	// Bounds returns two limiters for stamps that are up to slack too early: low refuses no more requests of a key than
	// the limit, high no fewer.
	Bounds(slack Time) (low, high Limiter)
}

// A RefusalCounter is a Limiter that may charge refused requests like admitted ones.
type RefusalCounter interface {
	Limiter

	// CountsRefused reports whether it does.
	CountsRefused() bool
}

// Bounds returns the two limiters that enclose l on stamps that are up to slack too early. l keeps no times in the
// ring of its State, or is a Bounder.
func Bounds(l Limiter, slack Time) (low, high Limiter) {
	if b, ok := l.(Bounder); ok {
		return b.Bounds(slack)
	}
	return Enclose(l, slack)
}

// Enclose returns the bounds of a limiter that does not know its own.
func Enclose(l Limiter, slack Time) (low, high Limiter) {
	return Earliest(l, slack), &lagging{bound{l, slack}, countsRefused(l)}
}

// Earliest returns the low bound of a limiter: each request comes as soon as it is admitted, if that is within its
// span. Where refused requests count, waiting helps no client; there each request is asked for at the end of its span,
// and counts from the beginning.
func Earliest(l Limiter, slack Time) Limiter {
	if countsRefused(l) {
		return &askedLate{bound{l, slack}}
	}
	return &earliest{bound{l, slack}}
}

// Latest returns a high bound of a limiter for which no better one is known: a request that is refused at the
// beginning of its span comes there, any other at the end.
func Latest(l Limiter, slack Time) Limiter { return &latest{bound{l, slack}} }

func countsRefused(l Limiter) bool {
	c, ok := l.(RefusalCounter)
	return ok && c.CountsRefused()
}

// A bound is a limiter that judges requests at other moments than those of their stamps.
type bound struct {
	limit Limiter
	slack Time
}

// Horizon adds the span of a request at either end to the horizon of the limit.
func (b *bound) Horizon() Time { return Later(b.limit.Horizon(), 2*b.slack) }

// Later returns t + d, or Never where there is no such moment. d must not be negative.
func Later(t, d Time) Time {
	if t > Never-d {
		return Never
	}
	return t + d
}

// RefuseEach is Refuse by way of Wait and Charge.
func RefuseEach(l Limiter, dst []int32, s *State, at []Time) []int32 {
	for i, t := range at {
		refused := l.Wait(s, t) > 0
		l.Charge(s, t, refused)
		if refused {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// earliest has requests come as soon as they are admitted.
type earliest struct{ bound }

// Wait implements Limiter.
func (b *earliest) Wait(s *State, t Time) Time {
	wait := b.limit.Wait(s, t)
	if wait == Never {
		return Never
	}
	return max(0, wait-b.slack)
}

// Charge implements Limiter.
func (b *earliest) Charge(s *State, t Time, refused bool) {
	if !refused {
		if wait := b.limit.Wait(s, t); wait <= b.slack {
			t += wait
		}
	}
	b.limit.Charge(s, t, refused)
}

// Refuse implements Limiter.
func (b *earliest) Refuse(dst []int32, s *State, at []Time) []int32 { return RefuseEach(b, dst, s, at) }

// askedLate asks at the end of the span and charges at its beginning.
type askedLate struct{ bound }

// Wait implements Limiter.
func (b *askedLate) Wait(s *State, t Time) Time { return b.limit.Wait(s, t+b.slack) }

// Charge implements Limiter.
func (b *askedLate) Charge(s *State, t Time, refused bool) { b.limit.Charge(s, t, refused) }

// Refuse implements Limiter.
func (b *askedLate) Refuse(dst []int32, s *State, at []Time) []int32 {
	return RefuseEach(b, dst, s, at)
}

// latest has admitted requests come at the end of their span.
type latest struct{ bound }

// Wait implements Limiter.
func (b *latest) Wait(s *State, t Time) Time { return b.limit.Wait(s, t) }

// Charge implements Limiter.
func (b *latest) Charge(s *State, t Time, refused bool) {
	if !refused {
		t += b.slack
	}
	b.limit.Charge(s, t, refused)
}

// Refuse implements Limiter.
func (b *latest) Refuse(dst []int32, s *State, at []Time) []int32 { return RefuseEach(b, dst, s, at) }

// lagging is the high bound of a limiter: a request counts as if it came with the one that is judged, until the end
// of its span, and from then on as if it had come at that end.
//
//	   span of a           a counts at b, as if they came together,
//	├─────────────┤        and at c as if it came at the end of its span
//	a          b      c
//
// State: At, Level and Extra are what the limit remembers with all requests, as of the latest one. The ring holds
// what it remembers without those whose span is not over, and the latest moment, and then the stamps of these.
type lagging struct {
	bound
	all bool // whether refused requests count
}

// The head of the ring.
const (
	lagAt = iota
	lagLevel
	lagExtra
	lagNow
	lagHead
)

// Wait implements Limiter.
func (b *lagging) Wait(s *State, t Time) Time {
	if s.ring == nil || t <= s.ring.Nth(lagNow) {
		return b.ask(s, t)
	}
	kept := *s
	b.look(s, t)
	wait := b.limit.Wait(s, t)
	*s = kept
	return wait
}

// ask asks the limit, which knows nothing of the ring, at the latest moment.
func (b *lagging) ask(s *State, t Time) Time {
	r := s.ring
	s.ring = nil
	wait := b.limit.Wait(s, t)
	s.ring = r
	return wait
}

// look sets s to the state of the limit at t, without the ring, and returns the state without pending requests, and how
// many spans have ended. There are at least as many times in the ring as the head has.
func (b *lagging) look(s *State, t Time) (over State, ended int) {
	r := s.ring
	*s = State{At: r.Nth(lagAt), Level: int64(r.Nth(lagLevel)), Extra: int64(r.Nth(lagExtra))}
	i, n := lagHead, r.Len()
	for ; i < n && uint64(t-r.Nth(i)) >= uint64(b.slack); i++ {
		b.limit.Charge(s, r.Nth(i)+b.slack, false)
	}
	over, ended = *s, i-lagHead
	for ; i < n; i++ {
		b.limit.Charge(s, t, false)
	}
	return over, ended
}

// Charge implements Limiter.
func (b *lagging) Charge(s *State, t Time, refused bool) {
	t = b.advance(s, t)
	if !refused || b.all {
		b.charge(s, t)
	}
}

// advance brings s to t, or to its latest moment if that is later, which it returns.
func (b *lagging) advance(s *State, t Time) Time {
	switch {
	case s.ring == nil:
		for range lagHead {
			s.append(0)
		}
		s.ring.set(lagNow, t)
	case t > s.ring.Nth(lagNow):
		r := s.ring
		over, ended := b.look(s, t)
		s.ring = r
		r.Drop(ended)
		if r.size <= r.full/4 {
			r = s.moveRing(classFor(r.size))
		}
		r.set(lagAt, over.At)
		r.set(lagLevel, Time(over.Level))
		r.set(lagExtra, Time(over.Extra))
		r.set(lagNow, t)
	default:
		t = s.ring.Nth(lagNow)
	}
	return t
}

// charge has a request count that comes at the latest moment, t.
func (b *lagging) charge(s *State, t Time) {
	r := s.ring
	s.ring = nil
	b.limit.Charge(s, t, false)
	s.ring = r
	s.append(t)
}

// Refuse implements Limiter.
func (b *lagging) Refuse(dst []int32, s *State, at []Time) []int32 {
	for i, t := range at {
		t = b.advance(s, t)
		refused := b.ask(s, t) > 0
		if refused {
			dst = append(dst, int32(i))
		}
		if !refused || b.all {
			b.charge(s, t)
		}
	}
	return dst
}
