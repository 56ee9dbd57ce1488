package drill

import (
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// A request of a drill has the method, the path and the client of the log, and nothing else of it. A limit that goes by
// more would decide otherwise on the server than foreseen.

// apart refuses policies that go by what a drill cannot send.
func (d *Drill) apart(c *policy.Config, policies []policy.Policy) error {
	if len(policies) != 1 {
		names := mapped.Of(policies, func(p policy.Policy) string { return p.Name })
		return pipeline.Usage("a drill holds a server against one policy, and these are %d: %s; choose with --policy "+
			"NAME, or one limit such as --limit token:6/30s", len(policies), strings.Join(names, ", "))
	}
	p := &policies[0]
	if err := tellable(p); err != nil {
		return err
	}
	for _, key := range p.Keys() {
		for _, part := range key.Parts() {
			if !d.canSend(part.Kind) {
				return pipeline.Usage("policy %q counts by %s, which a drill cannot keep apart: it sends clients, methods and "+
					"paths%s",
					p.Name, key, d.hint(part.Kind))
			}
		}
	}
	tiers := []request.Tier{c.Exempt}
	for i := range p.Parts {
		for _, scope := range p.Parts[i].Scopes() {
			if scope == 0 {
				continue
			}
			if what := d.unsent(&c.Scopes[scope-1]); what != "" {
				return pipeline.Usage("policy %q asks for the %s of requests, which a drill does not send: it sends clients, "+
					"methods and paths",
					p.Name, what)
			}
			if c.Scopes[scope-1].ByTier() {
				tiers = append(tiers, c.Tiers...)
			}
		}
	}
	if slices.ContainsFunc(tiers, func(t request.Tier) bool {
		return len(t.Users) > 0 || t.Field != "" || d.ClientSource && len(t.Networks) > 0
	}) {
		return pipeline.Usage("policy %q spares clients, or has tiers of clients, by more than a drill sends: it sends "+
			"their addresses%s",
			p.Name, map[bool]string{true: ", without --client-source"}[d.ClientSource])
	}
	return nil
}

// canSend reports whether requests differ on the server in a part of a key as they do in the log.
func (d *Drill) canSend(kind request.PartKind) bool {
	switch kind {
	case request.PartClient, request.PartSite, request.PartPath, request.PartSegment, request.PartAction:
		return true
	case request.PartNetwork:
		return !d.ClientSource
	}
	return false
}

func (d *Drill) hint(kind request.PartKind) string {
	if kind == request.PartNetwork {
		return "; without --client-source they have their own addresses"
	}
	return ""
}

// sent lists conditions that hold on the server when they hold in the log.
var sent = []string{"action", "method", "path", "prefix", "regexp"}

// unsent returns the first condition that does not; "": all do.
func (d *Drill) unsent(c *request.Conditions) (what string) {
	c.Each(func(key string, values *[]string) {
		byAddress := (key == "network" || key == "tier") && !d.ClientSource
		if what == "" && len(*values) > 0 && !byAddress && !slices.Contains(sent, key) {
			what = key
		}
	})
	for _, inner := range slices.Concat(c.Any, c.Not) {
		if what == "" {
			what = d.unsent(&inner)
		}
	}
	return what
}

// tellable refuses a policy whose verdicts do not follow from the requests that a drill sends.
func tellable(p *policy.Policy) error {
	if p.Weighed() {
		return pipeline.Usage("policy %q: its requests have costs, or count for as long as they take, which a drill "+
			"cannot send", p.Name)
	}
	if slices.ContainsFunc(p.Parts, func(part policy.Part) bool {
		_, guesses := part.Limiter.(limit.Approximation)
		return guesses
	}) {
		return pipeline.Usage("policy %q: what it decides takes a guess, and a drill holds verdicts against those of a server; "+
			"of replicas say how requests reach them: 3/hash, 3/turn", p.Name)
	}
	return nil
}
