package pipeline

import (
	"cmp"
	"slices"

	"shadow/internal/findings"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
)

// What suggest and keys ask: which clients are protected, which are the target, and which server has the limit. What no flag
// says goes by the log.

// anyServer is no server in particular.
const anyServer = "any"

// ask makes the question, once it is known what the log is the log of.
func (r *Suggest) ask() (findings.Site, error) {
	a, site := &r.advisor, r.look.Site()
	q := &a.Question
	if err := chooseGroups(q, site, r.Protect, r.Target); err != nil {
		return site, err
	}
	q.Scale, q.Short, q.Stated, q.Recover = cmp.Or(r.Scale, SameScale), r.Shapes.Named(), r.Protect != nil, r.Recover
	for _, in := range r.advisor.Found.Stats.Inputs {
		r.where.Front = cmp.Or(servers.FrontOf(in.Format, in.FormatText), r.where.Front)
	}
	if r.byLog = r.For == ""; r.byLog {
		r.For = r.writer()
	}
	underWay := slices.Contains(r.Kinds, sweep.UnderWay) && r.For == servers.Default
	var err error
	q.Server, err = r.market()
	if len(q.Server.Shapes()) == 0 && r.byLog && !underWay { // such limits were asked for as it does not have
		r.For, q.Server, err = anyServer, suggest.Market{}, nil
	}
	a.Shapes = r.Shapes.options()
	for _, shape := range q.Server.Shapes() {
		if shape.Kind == sweep.Token {
			if !slices.Contains(a.Shapes.Rates, shape.Rate) {
				a.Shapes.Rates = append(a.Shapes.Rates, shape.Rate)
			}
		} else if !slices.Contains(a.Shapes.Periods, shape.Per) {
			a.Shapes.Periods = append(a.Shapes.Periods, shape.Per)
		}
		if !slices.Contains(a.Shapes.Kinds, shape.Kind) {
			a.Shapes.Kinds = append(a.Shapes.Kinds, shape.Kind)
		}
	}
	return site, err
}

// chooseGroups says which clients to protect and which to target: those that were named, or what suits the site. It
// returns an error if all that were named as a target are protected.
func chooseGroups(q *suggest.Question, site findings.Site, protect []suggest.Goal, target []who.Set) error {
	if q.Goals = protect; q.Goals == nil {
		q.Goals = suggest.GoalsOf(site)
	}
	q.Target |= union(target)
	if target == nil {
		if protect != nil {
			site = findings.People
			if areMost(protect[0].Who) {
				site = findings.API
			}
		}
		q.Target = suggest.TargetOf(site)
	}
	if !areMost(q.Target) && !areMost(q.Protected()) { // none is on both sides
		named := q.Target
		if q.Target &^= q.Protected(); q.Target == 0 {
			return Usage("%s are both target and protected: --protect names others who must not be hit", named)
		}
	}
	return nil
}

// areMost reports whether a set has all who may be on both sides: what hits one of them hits another.
func areMost(some who.Set) bool { return some&who.Users|1<<who.Search == who.Users }

// market is where limits come from.
func (r *Suggest) market() (suggest.Market, error) {
	switch underWay := slices.Contains(r.Kinds, sweep.UnderWay); {
	case r.For == "" || r.For == anyServer || underWay && r.For == servers.Default: // whose export writes them
		return suggest.Market{}, nil
	case underWay:
		return suggest.Market{}, Usage("--for %s: of limits on requests under way only those of %s are written", r.For,
			servers.Default)
	}
	server, err := servers.Named(r.For)
	if err != nil {
		return suggest.Market{}, Usage("--for: %v", err)
	}
	o := r.Shapes.options()
	return suggest.MarketOf(server, func(s sweep.Shape) bool {
		return (r.anyKind || slices.Contains(o.Kinds, s.Kind)) &&
			(!r.Shapes.Named() || s.Kind == sweep.Token && slices.Contains(o.Rates, s.Rate) ||
				s.Kind != sweep.Token && slices.Contains(o.Periods, s.Per))
	}), nil
}

// writer returns the server that wrote the logs, by their formats: nginx where a format tells nothing, or they differ.
func (r *Suggest) writer() (name string) {
	for _, in := range r.advisor.Found.Stats.Inputs {
		switch by := servers.OfFormat(in.Format, in.FormatText).Name; {
		case in.Parsed == 0:
		case name == "":
			name = by
		case name != by:
			return servers.Default
		}
	}
	return cmp.Or(name, servers.Default)
}

// keyText says what a client is.
func (r *Suggest) keyText() string {
	if r.Client == "" || r.Client == "addr" {
		return "address"
	}
	return r.Client
}

// checkGroups verifies that no group is protected and a target.
func (r *Suggest) checkGroups() error {
	target := union(r.Target)
	for _, p := range r.Protect {
		if both := p.Who & target; both != 0 && !areMost(p.Who) && !areMost(target) {
			return Usage("--protect and --target: %s cannot be both", both)
		}
	}
	return nil
}

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
