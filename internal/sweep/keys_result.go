package sweep

import (
	"runtime"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/intern"
)

// Visitors get their class at the end, when all that they did is known. Only then can what keys refuse be summed up.

// A KeysResult is what keys make of a log. Names of clients and agents are in Tables.
type KeysResult struct {
	Stats    ingest.Stats
	Tables   *traffic.Tables
	Action   string                                 // what the curves are limited to; "" if to nothing
	Visitors Classes                                // that the curves are about
	Requests Classes                                // theirs, by the class of the visitor
	ByClient intern.PagedSlice[traffic.ClientTally] // the same requests by client id
	Claimed  intern.PagedSlice[traffic.ClientTally] // the same, by the class of the agent
	Sides    []KeyCurves
	Limits   []Point // what each of KeysOptions.Limits refuses, and which clients it hits
	ClientStats
}

// KeyCurves holds the curves of one key, a curve for each period.
type KeyCurves struct {
	By     request.Key
	Curves []Curve
}

// Result returns what has been found so far.
func (k *Keys) Result(stats ingest.Stats) *KeysResult {
	r := &KeysResult{Stats: stats, Tables: k.options.Tables, Action: k.options.Action}
	r.ClientStats = k.clients.result(k.visitors, k.options.Tables)
	r.ByClient.Grow(k.options.Tables.Clients.Len())
	r.Claimed.Grow(k.options.Tables.Clients.Len())
	who := k.population()
	for _, m := range who {
		visitor := k.visitors.At(m.id)
		claimed := k.options.Tables.Agents.Class(int32(visitor.Agent))
		r.Visitors[m.class]++
		r.Requests[m.class] += m.requests
		r.ByClient.At(visitor.Client).ByClass[m.class] += m.requests
		r.Claimed.At(visitor.Client).ByClass[claimed] += m.requests
	}
	r.Sides = k.sides(who)
	for i := range k.refused {
		r.Limits = append(r.Limits, point(&k.refused[i], who))
	}
	return r
}

// population are the visitors that the curves are about.
func (k *Keys) population() (who []member) {
	if k.who != nil {
		return k.who
	}
	k.judged.Grow(k.visitors.Len())
	who = make([]member, 0, k.visitors.Len())
	for id := range int32(k.visitors.Len()) {
		requests := *k.judged.At(id)
		if requests == 0 {
			continue
		}
		visitor := k.visitors.At(id)
		class := k.options.Tables.Agents.Class(int32(visitor.Agent))
		if k.options.Side != nil {
			class = k.options.Side(visitor.Client)
		}
		who = append(who, member{id: id, class: class, requests: requests})
	}
	k.who = who
	return who
}

// sides are the curves of all keys.
func (k *Keys) sides(who []member) []KeyCurves {
	all, workers := make([]KeyCurves, len(k.options.Keys)), runtime.GOMAXPROCS(0)
	if k.known == nil {
		workers = 1 // slots are noted in who
	}
	each(workers, len(all), func(i int) {
		s := k.sweeps[i]
		if all[i].By = s.timelines.By; k.known == nil {
			s.sieve.find(who)
		}
		for j := range s.shapes {
			all[i].Curves = append(all[i].Curves, s.shapes[j].curve(who))
		}
	})
	return all
}

// Draw adds to a result of k the curves that again, which is of k, has drawn.
func (k *Keys) Draw(r *KeysResult, again *Keys) {
	who := k.population()
	for _, side := range again.sides(who) {
		i := slices.IndexFunc(r.Sides, func(known KeyCurves) bool { return known.By == side.By })
		if i < 0 {
			i, r.Sides = len(r.Sides), append(r.Sides, KeyCurves{By: side.By})
		}
		r.Sides[i].Curves = append(r.Sides[i].Curves, side.Curves...)
	}
}

// Part is a result of k about no more than the requests that again, which is of k, has taken in. The curves are added to
// those of an earlier part for the same requests, if there is one.
func (k *Keys) Part(whole, part *KeysResult, again *Keys) *KeysResult {
	if part == nil {
		part = &KeysResult{
			Stats: whole.Stats, Tables: whole.Tables, Action: whole.Action, ClientStats: whole.ClientStats,
			Visitors: again.part.visitors, Requests: again.part.requests,
		}
	}
	k.Draw(part, again)
	return part
}

// First are the first n curves of each key.
func (r *KeysResult) First(n int) (sides []KeyCurves) {
	for _, side := range r.Sides {
		sides = append(sides, KeyCurves{By: side.By, Curves: side.Curves[:n]})
	}
	return sides
}

// AtOnce returns how many keys Again may draw in one pass, so that what is remembered of them stays within keyBytes.
func (k *Keys) AtOnce() int { return max(2, keyBytes/bytesOfKey/max(1, k.visitors.Len())) }

const (
	keyBytes   = 512 << 20
	bytesOfKey = 100 // that a key takes which comes once: a place among pairs, and its request
)

// point returns what a limit refuses, by class.
func point(refused *intern.PagedSlice[int64], who []member) Point {
	p := Point{Counted: true}
	refused.Grow(1)
	for _, c := range who {
		if int(c.id) >= refused.Len() {
			break // the latest visitors were refused nothing
		}
		if n := *refused.At(c.id); n > 0 {
			p.Refused[c.class] += n
			p.Hit[c.class]++
		}
	}
	return p
}

// Loosest is the largest limit of a window that refuses so many requests of some classes, 0 if none does. A larger limit
// never refuses more, and the largest point refuses nothing.
func (c *Curve) Loosest(requests int64, classes []request.Class) int64 {
	loosest := int64(0)
	for i := 1; i < len(c.Points) && c.Points[i-1].Refused.Of(classes) >= requests; i++ {
		loosest = c.Points[i].Limit - 1
	}
	return loosest
}
