package sweep

import (
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
	"shadow/traffic/intern"
)

// Visitors get their class at the end, when all that they did is known. Only then can what keys refuse be summed up.

// A KeysResult is what keys make of a log. Names of clients and agents are in Tables.
type KeysResult struct {
	Stats    ingest.Stats
	Tables   *traffic.Tables
	Action   string                                 // what the curves are limited to; "" if to nothing
	Visitors Classes                                // that the curves are about
	Requests Classes                                // theirs, by the class of the visitor
	Doubted  int64                                  // visitors who claim to be browsers, which their evidence contradicts
	ByClient intern.PagedSlice[traffic.ClientTally] // the same requests by client id
	Claimed  intern.PagedSlice[traffic.ClientTally] // the same, by the class of the agent
	Sides    []KeyCurves
	Limits   []Point // what each of KeysOptions.Limits refuses, and whom it hits
	ClientStats
}

// KeyCurves are those of one key, a curve for each period.
type KeyCurves struct {
	By     request.Key
	Curves []Curve
}

// Result is what has been found so far.
func (k *Keys) Result(stats ingest.Stats) *KeysResult {
	r := &KeysResult{Stats: stats, Tables: k.options.Tables, Action: k.options.Action}
	r.ClientStats = k.clients.result(&k.visitors, k.options.Tables)
	var who []member
	k.judged.Grow(k.visitors.Len())
	r.ByClient.Grow(k.options.Tables.Clients.Len())
	r.Claimed.Grow(k.options.Tables.Clients.Len())
	for id, class := range k.visitors.Classes(k.options.Tables.Agents, k.options.Evidence) {
		requests := *k.judged.At(int32(id))
		if requests == 0 {
			continue
		}
		visitor := k.visitors.At(int32(id))
		claimed := k.options.Tables.Agents.Class(int32(visitor.Agent))
		if claimed != class {
			r.Doubted++
		}
		if k.options.Side != nil {
			class = k.options.Side(claimed, claimed != class)
		}
		who = append(who, member{id: int32(id), class: class, requests: requests})
		r.Visitors[class]++
		r.Requests[class] += requests
		r.ByClient.At(visitor.Client).ByClass[class] += requests
		r.Claimed.At(visitor.Client).ByClass[claimed] += requests
	}
	r.Sides = k.curves(who)
	for i := range k.refused {
		r.Limits = append(r.Limits, point(&k.refused[i], who))
	}
	return r
}

func (k *Keys) curves(who []member) (sides []KeyCurves) {
	for _, s := range k.sweeps {
		side := KeyCurves{By: s.timelines.By}
		for i := range s.shapes {
			side.Curves = append(side.Curves, s.shapes[i].curve(who))
		}
		sides = append(sides, side)
	}
	return sides
}

// point is what a limit refuses, by class.
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
	kindest := int64(0)
	for i := 1; i < len(c.Points) && c.Points[i-1].Refused.Of(classes) >= requests; i++ {
		kindest = c.Points[i].Limit - 1
	}
	return kindest
}
