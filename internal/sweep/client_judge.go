package sweep

import (
	"slices"

	"shadow/limit"
)

// A clientJudge judges clients for ClientCurves, beside others.
type clientJudge struct {
	of      *ClientCurves
	groups  ClientGroups
	hit     [2][]needCounts // by placement and shape
	refused []needCounts

	logged tokens   // the buckets as they are
	high   *lagging // their high bounds; nil: not looked at
	window rolling  // reused, for one client at a time

	words  []uint64 // of the client
	plain  bool     // whether its requests are in order
	times  []uint64 // as one limit sees them, reused
	ends   []int
	at     []limit.Time // of one life, reused
	needed [2][]uint32
}

// oneRow is the row and the client of a segment whose counters keep what is known of clients only until they are asked.
var oneRow = []int32{0}

func newClientJudge(c *ClientCurves) *clientJudge {
	j := &clientJudge{of: c}
	for placement := range j.hit {
		j.hit[placement] = make([]needCounts, len(c.shapes))
	}
	j.refused = make([]needCounts, len(c.shapes))
	var high []*tokenRate
	for _, s := range c.shapes {
		if s.Kind == Token {
			j.logged.rates = append(j.logged.rates, newTokenRate(s.Rate, nil, false))
			high = append(high, newTokenRate(s.Rate, nil, false))
		}
	}
	j.logged.grow(1, 1)
	if c.slack > 0 {
		j.high = newLagging(high, uint64(c.slack))
		j.high.grow(1, 1)
	}
	j.window.keys.Grow(1)
	return j
}

// judge judges a client.
func (j *clientJudge) judge(client int32, s *sender) {
	j.words = j.of.gathered.of(s)
	j.plain = ascend(j.words)
	group := j.of.options.Group(client)
	if j.of.from != nil {
		j.judgeRefused(client, group)
		return
	}
	j.groups.Clients[group]++
	j.groups.Requests[group] += int64(s.requests)
	shapes := j.of.shapes
	rough := j.of.rough[int(client)*len(shapes):][:len(shapes)]
	note := func(shape int, logged, high int64) {
		high = max(high, logged)
		rough[shape] = roughly(high)
		j.hit[0][shape].add(logged, group, 1)
		j.hit[1][shape].add(high, group, 1)
	}
	if s.requests == 1 {
		for i := range shapes {
			note(i, 1, 1)
		}
		return
	}
	o := &j.of.options
	for k, per := range o.Periods {
		var rolls, cells [2]int64
		long := j.of.tooLong(per)
		if !long {
			rolls, cells = j.windows(per)
		}
		for _, kind := range []Kind{Window, Fixed, WindowAll} {
			shape := j.of.first[kind] + k
			switch {
			case !has(o.Kinds, kind):
			case long:
				rough[shape] = roughly(int64(s.requests))
			case kind == Fixed:
				note(shape, cells[0], cells[1])
			default: // windows that count what they refuse need as much
				note(shape, rolls[0], rolls[1])
			}
		}
	}
	if has(o.Kinds, Token) {
		logged, high := j.buckets()
		for k := range o.Rates {
			note(j.of.first[Token]+k, logged(k), high(k))
		}
	}
}

// lives has do see the requests of the client's lives.
func (j *clientJudge) lives(horizon limit.Time, do func(times []uint64)) {
	if j.plain {
		do(j.words)
		return
	}
	j.times, j.ends = lives(j.words, horizon, j.of.options.Lateness, j.times[:0], j.ends[:0])
	begin := 0
	for _, end := range j.ends {
		if begin < end {
			do(j.times[begin:end])
		}
		begin = end
	}
}

// windows are the needs of the rolling window of a length, and of the fixed one: as logged, and of the high bound.
func (j *clientJudge) windows(per limit.Time) (rolls, cells [2]int64) {
	slack := j.of.slack
	rolling := [2]span{{length: uint64(per)}, {length: uint64(per + min(slack, limit.Never-per))}}
	fixed := [2]span{{cell: per}, {cell: per, slack: uint64(slack)}}
	placements := 1
	if slack > 0 {
		placements = 2
	}
	j.lives(per, func(times []uint64) {
		for p := range placements {
			rolls[p] = int64(rolling[p].busiest(int(rolls[p]), times))
			cells[p] = int64(fixed[p].busiest(int(cells[p]), times))
		}
	})
	return rolls, cells
}

// buckets returns what the client needs of each rate.
func (j *clientJudge) buckets() (logged, high func(rate int) int64) {
	none := func(int) int64 { return 1 }
	p := &segment{rows: oneRow, clients: oneRow}
	for _, r := range j.logged.rates {
		*r.needs.At(0) = 0
	}
	if j.high != nil {
		for _, r := range j.high.rates {
			*r.needs.At(0) = 0
		}
	}
	j.lives(limit.Never, func(times []uint64) {
		p.at = j.timesOf(times)
		j.logged.judge(p)
		j.logged.release(0)
		if j.high != nil {
			j.high.judge(p)
			j.high.release(0)
		}
	})
	needed := func(rates []*tokenRate) func(int) int64 {
		return func(rate int) int64 { return int64(*rates[rate].needs.At(0)) }
	}
	if j.high == nil {
		return needed(j.logged.rates), none
	}
	return needed(j.logged.rates), needed(j.high.rates)
}

// timesOf are ordinals as times.
func (j *clientJudge) timesOf(ordinals []uint64) []limit.Time {
	j.at = slices.Grow(j.at[:0], len(ordinals))[:len(ordinals)]
	for i, at := range ordinals {
		j.at[i] = limit.Time(at - 1<<63)
	}
	return j.at
}

// judgeRefused finds what the requests of a client need of windows.
func (j *clientJudge) judgeRefused(client int32, group uint8) {
	for i, s := range j.of.shapes {
		if !j.of.asksRefused(client, i) {
			continue
		}
		from := j.of.from[i]
		j.lives(s.Per, func(times []uint64) {
			for _, need := range j.neededOf(s, times) {
				if int64(need) > from {
					j.refused[i].add(int64(need), group, 1)
				}
			}
		})
	}
}

// neededOf are the smallest limits of a window that admit each request of a life.
func (j *clientJudge) neededOf(s Shape, times []uint64) []uint32 {
	for i := range j.needed {
		j.needed[i] = slices.Grow(j.needed[i][:0], len(times))[:len(times)]
	}
	admitted, all := j.needed[0], j.needed[1]
	if s.Kind == Fixed {
		var count uint32
		var end uint64
		for i, now := range times {
			if now > end {
				count, end = 0, lastOf(limit.Time(now-1<<63), s.Per)
			}
			count++
			admitted[i] = count
		}
		return admitted
	}
	j.window.span = span{length: uint64(s.Per)}
	j.window.need(j.window.keys.At(0), j.timesOf(times), admitted, all)
	j.window.release(0)
	if s.Kind == WindowAll {
		return all
	}
	return admitted
}

// The busiest window. The smallest limit that refuses a client nothing is the most requests that any one window has of it.
// A window that ends with a request has more than the most so far if the request as far back as that most lies in it:
//
//	window 10s   at    0  1  2  3  11  12  13  14
//	             most  1  2  3  4   4   4   4   5?   no: 4 back is the request at 3, 11 s before 14
//
// So each request is compared with one other, needs no slot, and is counted nowhere.

// busiest raises the most requests in a window by those at some times, which ascend.
func (w *span) busiest(most int, at []uint64) int {
	within := w.length
	if w.cell > 0 {
		within = uint64(w.cell) + w.slack
	}
	var since, until uint64 // what was before since is outside of windows that end up to until
	for i := most; i < len(at); i++ {
		now, before := at[i], at[i-most]
		if now-before >= within {
			continue
		}
		if w.cell > 0 {
			if now > until {
				since, until = w.counting(now)
			}
			if before < since {
				continue
			}
		}
		most++ // a window has at most one request more than that of the request before
	}
	return most
}
