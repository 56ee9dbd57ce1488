package pipeline

import (
	"shadow/request"
	"shadow/suggest"
	"shadow/traffic/who"
)

// Keys need to know sides only: the target, the protected, both at once where all users are, and all others.
const (
	asTarget    = request.Tool
	asProtected = request.Browser
	asBoth      = request.Crawler
)

// verifySides reports an error if clients are named as target and as protected.
func (r *Keys) verifySides() error {
	if both := union(r.Target) & union(r.Protect); both != 0 && !areMost(union(r.Target)) && !areMost(union(r.Protect)) {
		return Usage("%s are both target and protected: state them once", both)
	}
	return nil
}

func union(sets []who.Set) (all who.Set) {
	for _, some := range sets {
		all |= some
	}
	return all
}

// chooseSides says who is target and who is protected, as a suggestion does, once it is known what the log is the log of.
func (r *Keys) chooseSides() error {
	var protect []suggest.Goal
	for _, some := range r.Protect {
		protect = append(protect, suggest.Goal{Who: some, Percent: suggest.GoalsOf(r.look.Site())[0].Percent})
	}
	if err := chooseGroups(&r.advisor.Question, r.look.Site(), protect, r.Target); err != nil {
		return err
	}
	q := &r.question
	q.Target, q.Protected = []request.Class{asTarget, asBoth}, []request.Class{asProtected, asBoth}
	q.TargetName, q.ProtectedName = r.advisor.Target.String(), r.advisor.Protected().String()
	return nil
}

// sideOf returns as which class a client is counted.
func (r *Keys) sideOf(client int32) request.Class {
	is := r.advisor.Found.Who.Of(client)
	switch target, protected := r.advisor.Target.Has(is), r.advisor.Protected().Has(is); {
	case target && protected:
		return asBoth
	case target:
		return asTarget
	case protected:
		return asProtected
	}
	return request.Unknown
}
