package report

import "shadow/report/history"

// historyFigures returns the figures of what has changed.
func historyFigures() []Figure {
	all := []Figure{
		since("compared", Flag, "whether a base run has the policy; what follows is 0 otherwise, apart from repeat offenders",
			func(t *source) any { return t.history.Before != nil }),
		since("refused_share_before", Share, "of the requests of the base runs",
			func(t *source) any { return t.history.Sums().RefusedPercent / 100 }),
		since("clients_hit_share_before", Share, "of the clients of the base runs",
			func(t *source) any { return t.history.Sums().ClientsHitPercent / 100 }),
	}
	all = append(all, relocated("newly_hit", "clients that it hits and hit in none of the base runs",
		func(h *history.Policy) *history.Moved { return &h.NewlyHit })...)
	all = append(all, relocated("released", "clients that it hit in a base run and does not hit any more",
		func(h *history.Policy) *history.Moved { return &h.Released })...)
	ofRuns := relocated("repeat_offenders", "clients that it hit on 3 of the last 7 days",
		func(h *history.Policy) *history.Moved { return &h.Repeating })
	ofRuns = append(ofRuns,
		since("new_actions", Number, "actions that no base run has",
			func(t *source) any { return t.allHistory().NewActions }),
		since("safe_limits_changed", Number, "safe limits that have moved",
			func(t *source) any { return int64(len(t.allHistory().SafeLimits.Changed())) }),
	)
	for i := range ofRuns {
		ofRuns[i].Scope = WithRuns
	}
	return append(all, ofRuns...)
}

func since(name string, unit Unit, help string, of func(t *source) any) Figure {
	f := figure(name, unit, help, of).asked()
	f.Scope = WithHistory
	return f
}

// relocated are clients that have moved: in all, of each class, and of each identity.
func relocated(name, help string, of func(*history.Policy) *history.Moved) []Figure {
	identities := namedIdentities()
	return []Figure{
		since(name, Clients, help, func(t *source) any { return of(t.history).Clients }),
		{
			Scope: WithHistory, Names: classNames(name + "_"), Unit: Clients, Help: "of these, by class", asks: true,
			of: func(t *source, i int) any { return of(t.history).ByClass[i] },
		},
		{
			Scope: WithHistory, Names: identityNames(name + "_"), Unit: Clients, Help: "of these, by identity", asks: true,
			who: true, of: func(t *source, i int) any { return of(t.history).ByIdentity[identities[i]] },
		},
	}
}

func (t *source) allHistory() *history.History {
	if t.model.History == nil {
		return &history.History{}
	}
	return t.model.History
}
