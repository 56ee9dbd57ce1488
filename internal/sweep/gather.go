package sweep

import (
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// gathered holds when clients sent requests, client by client.
//
// Most requests are in order, and take their time alone. One that came too late, or steps back in time, may find that a
// limit has forgotten its client, which hangs on how long that limit remembers. So it takes four words: a mark, how long
// the client had been silent by the place where it came, the client's latest time before it, and its own.
type gathered struct {
	timelines traffic.Timelines
	clients   intern.PagedSlice[sender]
	times     arena[uint64] // ordinals, in the order of their places
	rows      []int32       // of the batch that are wanted, reused
	lateness  limit.Time
}

// A sender is what is known of a client. The zero sender is one never seen.
type sender struct {
	latest, place uint64 // of its latest request, of whatever action; 0: never seen
	requests      uint32 // that count
	block, n      uint32 // words in times
	class         uint8
}

// The marks, which are no ordinals of times.
const (
	oddRequest uint64 = iota // counts
	oddOther                 // of another action
	firstTime  uint64 = 1 << 62
)

// take takes in the requests of wanted clients, all if that is nil, and counts those of an action.
func (g *gathered) take(b *traffic.Batch, t *traffic.Tables, wanted func(client int32) bool, counts func(action uint16) bool) {
	l := &g.timelines
	l.By = request.ByClient
	if wanted == nil {
		l.Take(b, t)
	} else {
		g.rows = g.rows[:0]
		for row, client := range b.Client {
			if wanted(client) {
				g.rows = append(g.rows, int32(row))
			}
		}
		l.TakeSome(b, g.rows, t)
	}
	g.clients.Grow(l.Len)
	var start int32
	for i, end := range l.Ends {
		s, at := g.clients.At(l.Keys[i]), l.At[start:end]
		if counts == nil && b.Seq == nil && (s.place == 0 || ordinal(at[0]) >= s.latest) {
			g.addInOrder(s, at)
		} else {
			g.add(s, b, l.Rows[start:end], at, counts)
		}
		start = end
	}
}

// addInOrder adds requests in the order of time, which all count.
func (g *gathered) addInOrder(s *sender, at []limit.Time) {
	to := g.room(s, len(at))
	for i, t := range at {
		to[i] = ordinal(t)
	}
	s.requests += uint32(len(at))
	s.latest = to[len(at)-1]
	s.place = s.latest
}

// add adds requests.
func (g *gathered) add(s *sender, b *traffic.Batch, rows []int32, at []limit.Time, counts func(action uint16) bool) {
	seq := b.Sequence()
	for i, t := range at {
		now, place := ordinal(t), ordinal(seq[rows[i]])
		counted := counts == nil || counts(b.Action[rows[i]])
		switch {
		case now == place && now >= s.latest:
			if s.latest = now; counted {
				g.room(s, 1)[0] = now
			}
		default:
			mark, silent := oddRequest, uint64(0)
			if !counted {
				mark = oddOther
			}
			if s.place != 0 && place > s.place {
				silent = place - s.place
			}
			copy(g.room(s, 4), []uint64{mark, silent, s.latest, now})
			s.latest = latestAfter(s.latest, now, g.lateness)
		}
		if s.place = place; counted {
			s.requests++
		}
	}
}

// latestAfter returns a client's latest time after a request: time may be set back.
func latestAfter(latest, now uint64, lateness limit.Time) uint64 {
	if now+uint64(lateness) < latest {
		return now
	}
	return max(latest, now)
}

// room makes room for n more words of a client.
func (g *gathered) room(s *sender, n int) []uint64 {
	size := int(s.n) + n
	switch {
	case s.n == 0:
		s.class = classFor(n)
		s.block = g.times.take(s.class)
	case size > roomOf(s.class):
		class := classFor(size)
		block := g.times.take(class)
		copy(g.times.at(class, block), g.times.at(s.class, s.block)[:s.n])
		g.times.give(s.class, s.block)
		s.class, s.block = class, block
	}
	from := s.n
	s.n = uint32(size)
	return g.times.at(s.class, s.block)[from:size]
}

// of returns the words of a client.
func (g *gathered) of(s *sender) []uint64 { return g.times.at(s.class, s.block)[:s.n] }

// lives appends the times of requests as a limit sees them that remembers a client for as long as horizon: none is before
// the one before it, until the limit begins again. Ends are where it does so, and the end of all.
func lives(words []uint64, horizon, lateness limit.Time, times []uint64, ends []int) ([]uint64, []int) {
	idle := uint64(limit.Never)
	if horizon < limit.Never-lateness {
		idle = uint64(horizon + lateness)
	}
	var last uint64           // as the limit sees the requests that count
	var latest, before uint64 // of all, for this limit and for one that remembers forever
	for i := 0; i < len(words); i++ {
		now := words[i]
		if now >= firstTime {
			latest, before, last = max(latest, now), now, max(last, now)
			times = append(times, last)
			continue
		}
		silent, known := words[i+1], words[i+2]
		if known != before { // by a request of another action
			latest = max(latest, known)
		}
		now = words[i+3]
		if known != 0 && (now+uint64(lateness) < latest || idle < uint64(limit.Never) && silent > idle) {
			latest, last = 0, 0
			ends = append(ends, len(times))
		}
		latest, before = max(latest, now), latestAfter(known, now, lateness)
		if words[i] == oddRequest {
			last = max(last, now)
			times = append(times, last)
		}
		i += 3
	}
	return times, append(ends, len(times))
}

// ascend reports whether all requests of a client are in order.
func ascend(words []uint64) bool { return words[0] >= firstTime && slices.IsSorted(words) }

// actionOf returns what counts if only requests of an action do; nil: all.
func actionOf(name string, ids match.ActionIDs) func(action uint16) bool {
	if name == "" {
		return nil
	}
	return ids.Has
}
