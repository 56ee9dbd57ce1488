package sweep

import "shadow/traffic"

// A Part is what the curves say of some clients, who are put into classes by somebody else: by what they do, for
// instance, rather than by what they claim.
type Part struct {
	Curves   []Curve // in the order of Result.Curves
	Band     []Curve // the same at the spread placement; nil: not looked at, or the same as logged
	Clients  Classes // that have a request that the curves are about
	Requests Classes // of theirs
}

// Of is what has been found of the clients for which class says that they are wanted. With a band nothing must be taken in
// afterwards.
func (s *Sweep) Of(class func(client int32) (of traffic.Class, wanted bool)) Part {
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
	part.Curves, part.Band = s.curves(who), s.band.of(who)
	return part
}

// of are the curves of the spread placement. What was held back for others to pass is taken in.
func (x *bander) of(who []member) []Curve {
	if x == nil {
		return nil
	}
	_ = x.spread.Flush(x.pass) // pass has nothing to complain about
	if x.spread.Moved == 0 {
		return nil
	}
	return x.sweep.curves(who)
}
