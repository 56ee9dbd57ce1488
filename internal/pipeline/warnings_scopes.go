package pipeline

import (
	"fmt"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/traffic/ingest"
	"shadow/report/format"
)

// Warnings about the conditions of policies.

// idleScopes tell of limits that concern no request: what they go by may be misspelt.
func idleScopes(policies []policy.Policy, s *ingest.Stats) (texts []string) {
	if s.Taken() == 0 {
		return nil
	}
	idle := func(scope policy.Scope) bool { return scope > 0 && s.Marked>>(scope-1)&1 == 0 }
	for _, p := range policies {
		for _, part := range p.Parts {
			if idle(part.Match) {
				texts = append(texts, fmt.Sprintf("policy %s: no request is one that %s may refuse "+
					"(%s)", p.Name, part.Spec, part.MatchText))
			} else if idle(part.Count) {
				texts = append(texts, fmt.Sprintf("policy %s: no request is one that %s counts "+
					"(%s)", p.Name, part.Spec, part.CountText))
			} else if slices.ContainsFunc(part.Scopes(), idle) {
				texts = append(texts, fmt.Sprintf("policy %s: no request has one of the costs of %s "+
					"(%s)", p.Name, part.Spec, part.CountText))
			}
		}
	}
	return texts
}

// armed tells how long the site was as busy as limits ask for.
func armed(policies []policy.Policy, s *ingest.Stats) (texts []string) {
	for _, a := range s.Armed {
		for _, p := range policies {
			i := slices.IndexFunc(p.Parts, func(part policy.Part) bool {
				return slices.Contains(part.Scopes(), policy.Scope(a.Scope+1))
			})
			if i < 0 || a.Requests == 0 {
				continue
			}
			text := fmt.Sprintf("policy %s: the site was that busy in %s, with %s of the requests (%s)", p.Name,
				format.Count(a.Minutes, "minute"), format.Percentage(format.PercentOf(a.Requests, a.Of)), p.Parts[i].String())
			if s.Excluded > 0 {
				text += "; requests that are left out are no load"
			}
			texts = append(texts, text)
		}
	}
	return texts
}
