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
