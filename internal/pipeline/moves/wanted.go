package moves

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// wantedOf are the limits of a policy in words that servers share.
func wantedOf(c *policy.Config, p policy.Policy) (all []servers.Wanted) {
	for i := range p.Parts {
		part := &p.Parts[i]
		w := servers.Wanted{Spec: part.Spec, By: part.By, Text: part.String()}
		underWay := part.Spec.UnderWay()
		if d, ok := part.Limiter.(limit.Describer); ok {
			w.Shape = d.Shape()
		} else if !underWay {
			w.Broken = "it is no limit that can be compared with others"
		}
		switch {
		case part.Costs != nil && !underWay:
			w.Broken = "its requests differ in cost, and a request costs one there"
		case part.Count != part.Match:
			w.Broken = "it counts other requests than it refuses"
		default:
			var err error
			if w.Match, err = conditionsOf(c, part.Match); err != nil {
				w.Broken = err.Error()
			}
		}
		all = append(all, w)
	}
	return all
}

// conditionsOf are the requests of a scope, with actions and tiers as what they are made of.
func conditionsOf(c *policy.Config, s policy.Scope) (request.Conditions, error) {
	var stated request.Conditions
	if s > 0 {
		stated = c.Scopes[s-1]
	}
	plain, err := expanded(c, stated)
	if err != nil || c.Exempt.Name == "" && c.Exempt.Len() == 0 {
		return plain, err
	}
	exempt, err := tierConditions(&c.Exempt)
	if err != nil {
		return plain, fmt.Errorf("exempt clients: %w", err)
	}
	plain.Not = append(slices.Clip(plain.Not), exempt)
	return plain, nil
}

// expanded puts the rules of actions and the networks of tiers in the place of their names. Of several errors it
// returns the last one.
func expanded(c *policy.Config, of request.Conditions) (request.Conditions, error) {
	inner := func(one request.Conditions) (request.Conditions, error) { return expanded(c, one) }
	ofAction := func(name string) (request.Conditions, error) { return actionConditions(c, name) }
	ofTier := func(name string) (request.Conditions, error) { return tierAlone(c, name) }
	var inAny, inNot, inNetworks error
	of.Any, inAny = eachOf(of.Any, inner)
	of.Not, inNot = eachOf(of.Not, inner)
	actions, inActions := eachOf(of.Actions, ofAction)
	tiers, inTiers := eachOf(of.Tiers, ofTier)
	of = oneOf(oneOf(of, actions), tiers)
	of.Actions, of.Tiers = nil, nil
	of.Networks, inNetworks = spelledOut(of.Networks)
	return of, cmp.Or(inNetworks, inTiers, inActions, inNot, inAny)
}

// eachOf returns what each of some names or conditions stands for, and the last error.
func eachOf[T any](all []T, stands func(T) (request.Conditions, error)) (plain []request.Conditions, err error) {
	for _, x := range all {
		one, bad := stands(x)
		if plain = append(plain, one); bad != nil {
			err = bad
		}
	}
	return plain, err
}

// oneOf adds to conditions that one of several others holds, if there are any.
func oneOf(of request.Conditions, either []request.Conditions) request.Conditions {
	switch {
	case len(either) == 0:
	case len(of.Any) == 0:
		of.Any = either
	default: // both must fit
		of.Not = append(slices.Clip(of.Not), request.Conditions{Not: either})
	}
	return of
}

// tierAlone returns the conditions of the clients of a tier that no tier before holds: the first one wins. Of a tier
// that is not there, they are those of the clients that no tier holds.
func tierAlone(c *policy.Config, name string) (request.Conditions, error) {
	var before []request.Conditions
	for i := range c.Tiers {
		one, err := tierConditions(&c.Tiers[i])
		if err != nil || c.Tiers[i].Name == name {
			one.Not = before
			return one, err
		}
		before = append(before, one)
	}
	return request.Conditions{Not: before}, nil
}

// spelledOut returns networks with the addresses of "private" behind the others.
func spelledOut(networks []string) ([]string, error) {
	networks = slices.Clone(networks)
	i := slices.Index(networks, "private")
	if i < 0 {
		return networks, nil
	}
	x, err := match.ParseExclude([]string{"cidr:private"})
	if err != nil {
		return networks, err
	}
	networks = slices.Delete(networks, i, i+1)
	networks = mapped.Add(networks, x.Networks(), servers.AddressText)
	return networks, nil
}

// tierConditions are the clients of a tier, if networks say all of them.
func tierConditions(t *request.Tier) (request.Conditions, error) {
	if len(t.Users)+len(t.Values) > 0 {
		return request.Conditions{}, fmt.Errorf("the clients of the tier %q are more than networks", t.Name)
	}
	return expanded(new(policy.Config), request.Conditions{Networks: t.Networks})
}

// actionConditions are the requests of an action: of its rules, as far as no rule before takes them.
func actionConditions(c *policy.Config, name string) (all request.Conditions, err error) {
	var before []request.Conditions
	for _, r := range c.Actions {
		one := request.Conditions{Methods: r.Methods}
		if r.Prefix != "" {
			one.Prefixes = []string{r.Prefix}
		}
		if r.Glob != "" {
			one.Paths = []string{r.Glob}
		}
		if r.Regexp != "" {
			one.Regexps = []string{r.Regexp}
		}
		if r.Name == name {
			one.Not = slices.Clone(before)
			all.Any = append(all.Any, one)
		} else {
			before = append(before, one)
		}
	}
	if all.Any != nil {
		return all, nil
	}
	where := servers.Where{Action: name}
	pattern, ok := where.Pattern()
	if !ok {
		return all, fmt.Errorf("only you know which paths are the action %q: name them with path, prefix or regexp", name)
	}
	return request.Conditions{Regexps: []string{"^" + pattern + "$"}, Not: before}, nil
}

// place says who a client is, and into which configuration the lines go.
func (x *Export) place() (err error) {
	if x.where, err = whereOf(&x.Reading); err != nil {
		return err
	}
	file := x.Check
	if file == "" || file == CheckAlone {
		if file = ""; x.target.Name == "nginx" {
			file = x.NginxConf
		}
	}
	if x.where.Within, err = servers.ReadWithin(x.target.Name, file); err != nil {
		err = pipeline.Usage("the configuration of %s: %w", x.target.Title, err)
	}
	return err
}

// whereOf is who a client is, as flags say it.
func whereOf(r *pipeline.Reading) (servers.Where, error) {
	rule, err := match.ParseClientRule(r.Client, r.ClientFrom, r.Trusted)
	if err != nil {
		return servers.Where{}, pipeline.Usage("--%w", err)
	}
	v4, v6, cut := rule.Prefixes()
	return servers.Where{
		Client: r.Client, Cut: cut, V4: v4, V6: v6, ClientFrom: r.ClientFrom, Trusted: rule.Trusted(),
		FromNginx: r.NginxConf != "", Format: r.Format,
	}, nil
}

// moved is a policy as a target has it: limits that cannot be said are not in it. False if none can.
func moved(p policy.Policy, e *servers.Export) (policy.Policy, bool, error) {
	b := policy.Policy{Name: "on " + e.Target.Name, Place: p.Place, Combine: e.Target.Combine}
	for i, x := range e.Limits {
		if x.Set == "" {
			continue
		}
		part := p.Parts[i]
		spec, err := limit.Parse(x.Set)
		if err != nil {
			return b, false, err
		}
		alone, err := policy.New(spec, part.By)
		if err != nil {
			return b, false, err
		}
		part.Spec, part.Limiter = alone.Parts[0].Spec, alone.Parts[0].Limiter
		b.Parts = append(b.Parts, part)
	}
	if len(b.Parts) < 2 {
		b.Combine = policy.Together
	}
	return b, len(b.Parts) > 0, nil
}

// A severalError names the policies where there are several, or none.
type severalError []string

func (s severalError) Error() string {
	return fmt.Sprintf("one policy is written at a time, and these are %d: %s; name one with --policy or --limit",
		len(s), strings.Join(s, ", "))
}

// one is the error of other than one policy.
func one(policies []policy.Policy) error {
	if len(policies) == 1 && len(policies[0].Parts) > 0 {
		return nil
	}
	var names severalError
	names = mapped.Add(names, policies, func(p policy.Policy) string { return p.Name })
	return pipeline.Usage("%w", names)
}
