package policy

import (
	"cmp"
	"sync"

	"shadow/limit"
)

// Replicas, on any limit: …,replicas=N
//
// N hosts have the limit, and each counts what it gets. With cache=P each judges by a copy of one count instead:
//
//	              ├────────────├────▶   lines of the epoch's grid, on which each copy becomes what one limit with all
//	replica 0        a      c  └ abc    requests before would remember; a request that has no room there counts as
//	replica 1           b      └ abc    refused, as where a limit counts what it may not refuse
//
// No log says where a request went. In the middle each goes to a replica by chance: numbers that begin with the key's
// first moment, so runs repeat exactly. They begin again when the key was idle for as long as the limit remembers it,
// so it may be forgotten. In the other ways nothing has to: replicas that remember nothing are alike, whichever is
// next.
//
// State: At is the latest moment, Level how many times the key went to the next replica, or the latest of the numbers,
// and Extra 1 once there was a request. Parts are what the replicas remember. With a cache these are copies, behind
// what one limit remembers and what it did on the latest line; where they end, the others are as on that line.

// A dealing is a way to deal requests to replicas: after so long without one, a key goes to the next.
type dealing struct {
	name, text string
	idle       limit.Time
}

var dealings = []dealing{
	{"hash", "all requests of a key go to one", limit.Never},
	{"turn", "each request of a key goes to the next", 0},
	{"connection", "a request less than 75s after the one before goes where that went, others to the next", 75 * limit.Second},
}

// byChance is not knowing. 75 s are the keepalive_timeout of nginx.
var byChance = dealing{text: "each request goes to one by chance", idle: limit.Never}

// What a State remembers before copies.
const (
	ofAll = iota
	onLine
	copies
)

// replicas holds the options.
type replicas struct {
	n      int64 // 0: there are none
	how    dealing
	cell   limit.Time // between two lines; 0: each counts for itself
	forget limit.Time // chance begins again after this long; 0: when the limit forgets

	variant bool // whether it is one of a limit that has replicas
}

// replicated is a limit with replicas.
type replicated struct {
	replicas
	limit limit.Weigher
	is    limit.Limiter // the limit as it was, which may be no limit.Weigher
}

// oneEach is a limit whose requests cost one each.
type oneEach struct{ limit.Limiter }

// WaitFor implements limit.Weigher.
func (o oneEach) WaitFor(s *limit.State, t limit.Time, _ int64) limit.Time { return o.Wait(s, t) }

// ChargeFor implements limit.Weigher.
func (o oneEach) ChargeFor(s *limit.State, t limit.Time, _ int64, refused bool) {
	o.Charge(s, t, refused)
}

// replicatedDelayer is one whose limit delays, too.
type replicatedDelayer struct {
	*replicated
	delayer limit.Delayer
}

// guesses holds the variants of a limit that they make an approximation.
type guesses []limit.Limiter

// Variants implements limit.Approximation.
func (g guesses) Variants() []limit.Limiter { return g }

// around puts replicas on a limit, an approximation if nothing says how they are dealt to.
func (o replicas) around(l limit.Limiter) limit.Limiter {
	var others guesses
	if o.forget = cmp.Or(o.forget, l.Horizon()); o.how == byChance {
		for _, how := range dealings {
			others = append(others, replicas{o.n, how, o.cell, o.forget, true}.around(l))
		}
	}
	weigher, weighs := l.(limit.Weigher)
	if !weighs {
		weigher = oneEach{l}
	}
	delayer, delays := l.(limit.Delayer)
	r := &replicated{o, weigher, l}
	switch d := (&replicatedDelayer{r, delayer}); {
	case delays && others != nil:
		return &struct {
			*replicatedDelayer
			guesses
		}{d, others}
	case delays:
		return d
	case others != nil:
		return &struct {
			*replicated
			guesses
		}{r, others}
	}
	return r
}

// Horizon implements limit.Limiter.
func (r *replicated) Horizon() limit.Time { return r.limit.Horizon() }

// now returns the moment at which a request at t counts, whichever replica gets it.
func (r *replicated) now(s *limit.State, t limit.Time) limit.Time {
	if s.Extra == 0 {
		return t
	}
	return max(t, s.At)
}

// deal returns to which replica a request at t goes, which is not before the latest moment, and the Level of s after
// it.
func (r *replicated) deal(s *limit.State, t limit.Time) (replica int, level int64) {
	idle := uint64(t - s.At) // as unsigned numbers, differences of times never overflow
	if level = s.Level; r.how != byChance {
		if s.Extra == 0 || idle >= uint64(r.how.idle) {
			level++
		}
		return int(uint64(level-1) % uint64(r.n)), level
	}
	if s.Extra == 0 || idle >= uint64(r.forget) {
		level = int64(t)
	}
	// This is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
	z := uint64(level) + 0x9e3779b97f4a7c15
	level = int64(z)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(r.n)), level
}

// renews reports whether copies are renewed between the latest moment and t.
func (r *replicated) renews(s *limit.State, t limit.Time) bool {
	return r.cell > 0 && s.Extra != 0 && lineBefore(t, r.cell) > lineBefore(s.At, r.cell)
}

// pass brings s to a request at t, not before the latest moment, and returns what the replica remembers that gets it.
func (r *replicated) pass(s *limit.State, t limit.Time) *limit.State {
	i, level := r.deal(s, t)
	if r.renews(s, t) {
		line := s.Part(ofAll).Clone()
		s.DropParts(onLine)
		*s.Part(onLine) = line
	}
	if s.At, s.Level, s.Extra = t, level, 1; r.cell == 0 {
		return s.Part(i)
	}
	for s.Part(onLine); s.Parts() <= copies+i; {
		line := s.Part(onLine).Clone()
		*s.Part(s.Parts()) = line
	}
	return s.Part(copies + i)
}

// blanks holds zero States, for limits that are asked about a key they have not seen.
var blanks = sync.Pool{New: func() any { return new(limit.State) }}

// ask calls f with what the replica remembers that gets a request at t. f does not change it.
func (r *replicated) ask(s *limit.State, t limit.Time, f func(*limit.State) limit.Time) limit.Time {
	i, _ := r.deal(s, t)
	switch {
	case r.cell == 0:
	case r.renews(s, t):
		i = ofAll
	case copies+i < s.Parts():
		i += copies
	default:
		i = onLine
	}
	if i < s.Parts() {
		return f(s.Part(i))
	}
	blank := blanks.Get().(*limit.State)
	defer blanks.Put(blank)
	return f(blank)
}

// WaitFor implements limit.Weigher. From a line on, or the end of a connection, other counts say how long.
func (r *replicated) WaitFor(s *limit.State, t limit.Time, cost int64) limit.Time {
	now, next := r.now(s, t), limit.Never
	wait := r.ask(s, now, func(s *limit.State) limit.Time { return r.limit.WaitFor(s, now, cost) })
	if r.cell > 0 && !r.renews(s, now) {
		next = on(lineBefore(now, r.cell), r.cell)
	}
	if end := on(s.At, r.how.idle); end > now {
		next = min(next, end)
	}
	switch {
	case wait == 0:
		return 0
	case s.Extra == 0 || next == limit.Never || uint64(wait) < uint64(next-now):
		return limit.WaitFrom(t, now, wait)
	}
	return limit.WaitFrom(t, next, r.WaitFor(s, next, cost))
}

// ChargeFor implements limit.Weigher.
func (r *replicated) ChargeFor(s *limit.State, t limit.Time, cost int64, refused bool) {
	t = r.now(s, t)
	r.count(s, r.pass(s, t), t, cost, refused)
}

// count charges what pass has returned, and with a cache what one limit remembers.
func (r *replicated) count(s, part *limit.State, t limit.Time, cost int64, refused bool) {
	if r.cell > 0 && part != s.Part(ofAll) {
		r.count(s, s.Part(ofAll), t, cost, refused || r.limit.WaitFor(s.Part(ofAll), t, cost) > 0)
	}
	r.limit.ChargeFor(part, t, cost, refused)
}

// Wait implements limit.Limiter.
func (r *replicated) Wait(s *limit.State, t limit.Time) limit.Time { return r.WaitFor(s, t, 1) }

// Charge implements limit.Limiter.
func (r *replicated) Charge(s *limit.State, t limit.Time, refused bool) {
	r.ChargeFor(s, t, 1, refused)
}

// Refuse implements limit.Limiter.
func (r *replicated) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	dst, _ = (&replicatedDelayer{replicated: r}).RefuseAndDelay(dst, nil, s, at)
	return dst
}

// Bar implements limit.Barrer: the request has reached a replica.
func (r *replicated) Bar(s *limit.State, t limit.Time) {
	if b, ok := r.is.(limit.Barrer); ok {
		t = r.now(s, t)
		if b.Bar(r.pass(s, t), t); r.cell > 0 {
			b.Bar(s.Part(ofAll), t)
		}
	}
}

// Bounds implements limit.Bounder: each replica lies between its own. With a cache they are no proof.
func (r *replicated) Bounds(slack limit.Time) (low, high limit.Limiter) {
	low, high = limit.Bounds(r.is, slack)
	return r.around(low), r.around(high)
}

// Delay implements limit.Delayer.
func (r *replicatedDelayer) Delay(s *limit.State, t limit.Time) limit.Time {
	t = r.now(s, t)
	return r.ask(s, t, func(s *limit.State) limit.Time { return r.delayer.Delay(s, t) })
}

// LongestDelay implements limit.Delayer.
func (r *replicatedDelayer) LongestDelay() limit.Time { return r.delayer.LongestDelay() }

// RefuseAndDelay implements limit.Delayer.
func (r *replicatedDelayer) RefuseAndDelay(
	dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time,
) ([]int32, []limit.Delayed) {
	for i, t := range at {
		t = r.now(s, t)
		part, by := r.pass(s, t), limit.Time(0)
		refused := r.limit.Wait(part, t) > 0
		if refused {
			dst = append(dst, int32(i))
		} else if r.delayer != nil {
			by = r.delayer.Delay(part, t)
		}
		if by > 0 {
			late = append(late, limit.Delayed{Index: int32(i), By: by})
		}
		r.count(s, part, t, 1, refused)
	}
	return dst, late
}
