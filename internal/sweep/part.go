package sweep

import "shadow/internal/request"

// A Part holds what the curves say of some clients, whose classes the caller chooses: by what they do, for instance,
// rather than by what they claim.
type Part struct {
	Curves   []Curve // in the order of Result.Curves
	High     []Curve // their high bounds; nil: not looked at, or the stamps tell when requests came
	Clients  Classes // that have a request that the curves are about
	Requests Classes // of theirs
}

// Of returns what has been found of the clients for which class says that they are wanted.
func (s *Sweep) Of(class func(client int32) (of request.Class, wanted bool)) Part {
	s.tallies.Grow(s.options.Tables)
	var part Part
	var who []member
	for _, c := range s.population() {
		of, wanted := class(c.id)
		if !wanted {
			continue
		}
		c.class = of
		who = append(who, c)
		part.Clients[of]++
		part.Requests[of] += c.requests
	}
	s.sieve.find(who)
	part.Curves = s.curves(who)
	if s.band != nil {
		part.High = s.band.high.curves(who)
	}
	return part
}

// Needs has do see the clients that the curves are about, each with the smallest limits of some shapes, which go by
// their places among the curves, that do not hit it. Keys must belong to one client each.
func (s *Sweep) Needs(shapes []int, do func(shape int, client int32, need int64)) {
	s.tallies.Grow(s.options.Tables)
	who := s.population()
	s.sieve.find(who)
	for _, i := range shapes {
		shape, needOf := &s.shapes[i], mostNeeded
		if shape.rate != nil {
			needOf = burstNeeded
		}
		for _, c := range who {
			do(i, c.id, int64(shape.need(c.slot, needOf)))
		}
	}
}

// RefusedTo returns how many requests of a client each of some limits of shape i refuses. The shape must be none of
// token buckets, and the sweep one without groups.
func (s *Sweep) RefusedTo(i int, client int32, limits []int64) []int64 {
	refused := make([]int64, len(limits))
	who := []member{{id: client}}
	s.sieve.find(who)
	s.shapes[i].needs.eachOf(who, func(_ *member, need uint32, requests int64) {
		for k, n := range limits {
			if int64(need) > n {
				refused[k] += requests
			}
		}
	})
	return refused
}
