package bucket

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"shadow/limit"
)

// The RateLimit middleware of Traefik: traefik:N/P,burst=B
//
// A token bucket that holds B (1 without the option) and refills evenly, N (average) per P (period). A request takes a
// token even where there is none, and then has to wait until there would have been:
//
//	delay = −balance·P/N
//
// If that is at most 500 ms, or half an interval at one request per second and more (1 s/(2·⌊rate⌋)), the request is
// kept waiting for that long and passed on. Otherwise it is refused, and gives its token back.
//
// A key that was not seen for a while, admitted or refused, is forgotten and its bucket full: after 2 s at one request
// per second and more, else after 1+⌊1/rate⌋ s, by a clock of whole seconds: that of 0.9 s is forgotten at 2.0 s.
//
// Source: Traefik 3.4.0 (2.x is the same), pkg/middlewares/ratelimiter/rate_limiter.go, New and ServeHTTP, and
// in_memory_limiter.go, Allow; rate.Limiter of golang.org/x/time; mailgun/ttlmap, Get and Set. Traefik counts tokens in
// floating point and delays in nanoseconds, rounded down: ours is exact to a microsecond. It forgets more when there
// are more than 65,536 keys at a time, which we leave out, as well as what it does with Redis.
//
// State: as for Token; Level is more than all shares when tokens were taken that were not there.

// Traefik is a rate limit of Traefik.
type Traefik struct {
	Token
	capacity int64  // shares that an empty bucket lacks
	age      uint64 // seconds after which a key is forgotten
}

// NewTraefik makes the limit that spec describes: traefik:N/P with the option burst.
func NewTraefik(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", 1)
	if err := cmp.Or(args.Err(), check(spec, burst, 0)); err != nil {
		return nil, err
	}
	if spec.Count > math.MaxInt64/int64(time.Second) || spec.Period > math.MaxInt64/nanoseconds {
		return nil, fmt.Errorf("limit %q: too large for Traefik, which counts nanoseconds in 64 bits", spec)
	}
	// In floating point, as there: 1/rate of 1/93s is less than 93.
	rate := float64(spec.Count*int64(time.Second)) / float64(int64(spec.Period)*nanoseconds)
	age, longest := uint64(2), 500*time.Millisecond
	if rate < 1 {
		age = 1 + uint64(1/rate)
	} else {
		longest = time.Second / (time.Duration(rate) * 2)
	}
	token, inflow := shares(spec)
	// As many as come in less than a nanosecond more, which is rounded down; 5·10⁸ times 9.3·10⁹ is the most.
	below := (int64(longest+1)*inflow - 1) / nanoseconds
	t, err := newToken(spec, shape{burst: burst, initial: burst, token: token, inflow: inflow, below: below})
	if err != nil {
		return nil, err
	}
	b := &Traefik{Token: *t, capacity: burst * token, age: age}
	b.room += below
	b.horizon = min(b.horizon, limit.Time(age)*limit.Second)
	return b, nil
}

// Horizon is the time after which a key is forgotten, or in which the emptiest bucket refills if that is shorter.
func (b *Traefik) Horizon() limit.Time { return b.horizon }

// Cycle returns how soon a key can be forgotten again and again, and what it is admitted each time: from a full bucket
// on, in the first second of the clock.
func (b *Traefik) Cycle() (every limit.Time, admits int64) {
	refilled := b.inflow * int64(limit.Second-1)
	admits = 1 + b.room/b.token + refilled/b.token + (b.room%b.token+refilled%b.token)/b.token
	return limit.Time(b.age) * limit.Second, admits
}

// Most returns how many requests of one key are admitted in a span at most. Who is never silent gets less than who has a
// burst at the end of a second, and another one in each cycle; the last of these goes on to the end of the span, or one
// more comes.
func (b *Traefik) Most(span limit.Time) float64 {
	every, again := b.Cycle()
	cycles, rest := float64(span/every), span%every
	most := b.within(span)
	if cycles > 0 {
		most = max(most, b.within(1)+(cycles-1)*float64(again)+b.within(limit.Second-1+rest))
	}
	if left := limit.Second - 1 + rest - every; left > 0 {
		most = max(most, b.within(1)+cycles*float64(again)+b.within(left))
	}
	return most
}

// within returns what a full bucket admits in a span, at whose end nothing counts.
func (b *Traefik) within(span limit.Time) float64 {
	return 1 + math.Floor((float64(b.room)+float64(b.inflow)*float64(span-1))/float64(b.token))
}

// forgets reports whether a key seen at last, and then not for elapsed microseconds, is forgotten at t.
func (b *Traefik) forgets(last, t limit.Time, elapsed uint64) bool {
	if elapsed <= (b.age-1)*uint64(limit.Second) {
		return false
	}
	return elapsed >= b.age*uint64(limit.Second) || uint64(second(t)-second(last)) >= b.age
}

// second is t in whole seconds, rounded down.
func second(t limit.Time) int64 {
	s := int64(t / limit.Second)
	return s + int64(t-limit.Time(s)*limit.Second)>>63 // less 1 if there is a negative remainder
}

// pass returns the shares missing at t, given those missing at last.
func (b *Traefik) pass(missing int64, last, t limit.Time) int64 {
	elapsed := uint64(t - last) // as unsigned numbers, differences of times never overflow
	if b.forgets(last, t, elapsed) {
		return 0
	}
	return b.refill(missing, elapsed)
}

// missing returns the shares that the bucket lacks at t, and the later of t and the key's latest moment.
func (b *Traefik) missing(s *limit.State, t limit.Time) (int64, limit.Time) {
	switch {
	case s.Extra == 0:
		return 0, t
	case t <= s.At:
		return s.Level, s.At
	}
	return b.pass(s.Level, s.At, t), t
}

// late returns how long a request waits that finds so many shares missing.
func (b *Traefik) late(missing int64) limit.Time {
	return limit.Time(max(0, missing+b.token-b.capacity) / b.inflow)
}

// Wait implements limit.Limiter.
func (b *Traefik) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, now := b.missing(s, t)
	if missing <= b.room {
		return 0
	}
	wait := limit.Time(limit.CeilDiv(missing-b.room, b.inflow))
	return limit.WaitFrom(t, now, min(wait, b.untilForgotten(s.At)-(now-s.At)))
}

// untilForgotten is the time from the last request of a key until it is forgotten.
func (b *Traefik) untilForgotten(last limit.Time) limit.Time {
	into := last - limit.Time(second(last))*limit.Second
	return limit.Time(b.age)*limit.Second - into
}

// Delay implements limit.Delayer.
func (b *Traefik) Delay(s *limit.State, t limit.Time) limit.Time {
	missing, _ := b.missing(s, t)
	return b.late(missing)
}

// LongestDelay implements limit.Delayer: with the emptiest bucket.
func (b *Traefik) LongestDelay() limit.Time { return b.late(b.room) }

// Charge implements limit.Limiter.
func (b *Traefik) Charge(s *limit.State, t limit.Time, refused bool) {
	s.Level, s.At = b.missing(s, t)
	s.Extra = 1
	if !refused {
		s.Level += b.token
	}
}

// Bounds implements limit.Bounder.
func (b *Traefik) Bounds(slack limit.Time) (low, high limit.Limiter) { return limit.Enclose(b, slack) }

// Refuse implements limit.Limiter.
func (b *Traefik) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	dst, _ = b.judge(dst, nil, math.MaxInt64, s, at)
	return dst
}

// RefuseAndDelay implements limit.Delayer.
func (b *Traefik) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	return b.judge(dst, late, b.capacity-b.token+b.inflow, s, at) // where a request waits for a microsecond
}

// judge is Refuse, with the delays of admitted requests that find delayed shares missing, or more.
func (b *Traefik) judge(dst []int32, late []limit.Delayed, delayed int64, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	if len(at) == 0 {
		return dst, late
	}
	missing, last := b.missing(s, at[0])
	for i, t := range at {
		if t > last {
			missing = b.pass(missing, last, t)
			last = t
		}
		if missing > b.room {
			dst = append(dst, int32(i))
			continue
		}
		if missing >= delayed {
			late = append(late, limit.Delayed{Index: int32(i), By: b.late(missing)})
		}
		missing += b.token
	}
	s.At, s.Level, s.Extra = last, missing, 1
	return dst, late
}

// Level implements limit.Leveler.
func (b *Traefik) Level(s *limit.State, t limit.Time) float64 {
	missing, _ := b.missing(s, t)
	return float64(missing) / float64(b.token)
}

// Semantics implements limit.Describer.
func (b *Traefik) Semantics() string {
	longest := limit.FormatPeriod(limit.Time((b.room - b.capacity + b.token) / b.inflow))
	return fmt.Sprintf("token bucket of Traefik: %d at once, then one every %s, kept waiting for up to %s if need be; a refused request costs nothing; a key not seen for %d s is forgotten; exact to a microsecond",
		b.burst, limit.Interval(b.inflow, limit.Time(b.token)), longest, b.age)
}

// Shape implements limit.Describer.
func (b *Traefik) Shape() limit.Shape {
	return limit.Shape{
		Count: b.inflow, Period: limit.Time(b.token), AtOnce: b.burst, Kin: true,
		Unlike: fmt.Sprintf("it neither keeps a request waiting nor forgets a key after %d s", b.age),
	}
}
