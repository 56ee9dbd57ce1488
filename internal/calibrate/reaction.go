package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/request"
	"shadow/limit"
)

// What clients do after a refusal: nothing any more, or another request, after a while, for the same path or another one.

// A Reaction is what the clients of a class do. Refusals so near the end of the log that there was no time for more are
// left out.
type Reaction struct {
	Class    request.Class
	Clients  int64 // refused
	Refusals int64
	Silent   int64      // of those: the client sent nothing more
	SamePath int64      // the next request was for the same path
	Median   limit.Time // until the next request
	P90      limit.Time
	Asked    int64 // refusals that told the client how long to stay away
	Honoured int64 // of those: it did, or sent nothing more
}

// patience is the least time from a refusal that counts to the end of the log.
const patience = limit.Minute

// A reacting is a Reaction that is being counted.
type reacting struct {
	Reaction
	gaps   []limit.Time // from refusals to the next requests
	latest *timeline    // of the client that was counted last
}

// Reactions returns the reactions of the classes, as far as they were refused.
func (r *Requests) Reactions(wait []limit.Time) (all []Reaction) {
	byClient, last := r.timelines(r.Client, nil), r.last()
	of := map[request.Class]*reacting{}
	for i := range byClient {
		t := &byClient[i]
		for j, row := range t.rows {
			if t.verdict[j] != Refused || t.at[j] > last-patience {
				continue
			}
			class := r.Class[row]
			if of[class] == nil {
				of[class] = &reacting{Reaction: Reaction{Class: class}}
			}
			asked := r.Retry[row]
			if asked == 0 && wait != nil {
				asked = wait[row]
			}
			of[class].add(r, t, j, asked)
		}
	}
	for _, c := range of {
		if g := c.gaps; len(g) > 0 {
			slices.Sort(g)
			c.Median, c.P90 = g[len(g)/2], g[len(g)*9/10]
		}
		all = append(all, c.Reaction)
	}
	slices.SortFunc(all, func(x, y Reaction) int { return cmp.Compare(x.Class, y.Class) })
	return all
}

// last returns the time of the latest request.
func (r *Requests) last() (last limit.Time) {
	for _, at := range r.At {
		last = max(last, at)
	}
	return last
}

// add counts what the client of a timeline did after its refusal j, which asked it to stay away for a while, 0 for no
// time.
func (c *reacting) add(r *Requests, t *timeline, j int, asked limit.Time) {
	if c.latest != t {
		c.latest = t
		c.Clients++
	}
	c.Refusals++
	silent := j+1 == len(t.rows)
	if asked > 0 {
		if c.Asked++; silent || t.at[j+1]-t.at[j] >= asked {
			c.Honoured++
		}
	}
	if silent {
		c.Silent++
		return
	}
	if path := r.Path[t.rows[j]]; path >= 0 && path == r.Path[t.rows[j+1]] {
		c.SamePath++
	}
	c.gaps = append(c.gaps, t.at[j+1]-t.at[j])
}

// Waits returns how long the best limits of locations ask clients to stay away that the server refused too, by row.
func (r *Requests) Waits(all []Location) []limit.Time {
	waits := make([]limit.Time, r.Len())
	for _, l := range all {
		if l.Best == nil || len(l.Best.judge.limiters) != 1 {
			continue
		}
		limiter := l.Best.judge.limiters[0]
		for i := range l.timelines {
			t := &l.timelines[i]
			var s limit.State
			for j, at := range t.at {
				wait := limiter.Wait(&s, at)
				limiter.Charge(&s, at, wait > 0)
				if wait > 0 && wait != limit.Never && t.verdict[j] == Refused {
					waits[t.rows[j]] = wait
				}
			}
			s.Release()
		}
	}
	return waits
}
