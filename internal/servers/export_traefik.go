package servers

import (
	"errors"
	"fmt"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
)

// For Traefik a limit is a middleware that a router names, whose rule says for which requests. A request gets to one
// router, so limits for other requests that may be the same ones do not hold together.

var traefikTarget = Target{
	Name: "traefik", Title: "Traefik", Comment: "#", Ending: ".yaml", own: algorithm("traefik"), Combine: policy.InTurn,
	Beside: "a request gets to one router, that with the longest rule: where a router that limits serves these " +
		"requests, name the new " +
		"middleware there instead",
	Grid:    "an average over any period, and a burst",
	Enforce: "Traefik has no dry run: it refuses as soon as the router is there. Put your service in the place of SERVICE",
	nearest: nearest("traefik"), write: writeTraefik,
}

func writeTraefik(e *Export, all []setting) error {
	middlewares, routers := []string{"http:", "  middlewares:"}, []string{"  routers:"}
	rules := map[string][]string{}
	var order []string
	for _, s := range all {
		rule, err := traefikWhen(s.when)
		if err != nil {
			return err
		}
		criterion, err := e.traefikKey(s.by)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(s.name, "_", "-")
		middlewares = append(middlewares, traefikMiddleware(name+":", s.spec, criterion)...)
		if rules[rule] == nil {
			order = append(order, rule)
		}
		rules[rule] = append(rules[rule], name)
	}
	if len(order) > 1 && !allDisjoint(all) {
		e.lose("a request gets to one router there: limits for other requests that may be the same ones do not hold together")
	}
	for i, rule := range order {
		routers = append(routers, fmt.Sprintf("    shadow-%d:", i+1), "      rule: "+yamlText(rule),
			"      middlewares: ["+strings.Join(rules[rule], ", ")+"]", "      service: SERVICE")
	}
	e.block("", append(middlewares, routers...)...)
	return nil
}

// traefikKey is the criterion of a key, "" for the address of the peer.
func (e *Export) traefikKey(parts []request.Part) (string, error) {
	p, err := only(parts)
	if err != nil {
		return "", err
	}
	switch p.Kind {
	case request.PartClient:
		d, criterion := e.where.traefikSource()
		if d.Key == "" {
			return "", errors.New(d.Note)
		}
		e.note("%s", d.Note)
		return criterion, nil
	case request.PartHost:
		return "requestHost: true", nil
	case request.PartHeader:
		e.lose("requests without %s count together there, and by their client here", p)
		return "requestHeaderName: " + headerText(p.Name), nil
	case request.PartAgent:
		return "requestHeaderName: User-Agent", nil
	}
	return "", cannotCount(p)
}

// traefikWhen is the rule for requests of clauses.
func traefikWhen(when []clause) (string, error) {
	either, err := said(when, traefikTest, " && ")
	switch {
	case when == nil:
		return "PathPrefix(`/`)", nil
	case len(either) == 1:
		return either[0], nil
	}
	return "(" + strings.Join(either, ") || (") + ")", err
}

// traefikMatchers say that a request has a value.
var traefikMatchers = map[string]string{
	"method": "Method(`%s`)", "path": "Path(`%s`)", "prefix": "PathPrefix(`%s`)", "regexp": "PathRegexp(`%s`)",
	"network": "ClientIP(`%s`)", "host": "Host(`%s`)",
	"agent": "HeaderRegexp(`User-Agent`, `%s`)", "without": "HeaderRegexp(`%s`, `.*`)",
}

func traefikTest(t test) (string, error) {
	name, lacks := t.lacking()
	either, err := tried(t.values, func(v string) (string, error) {
		matcher := traefikMatchers[t.kind]
		switch {
		case matcher == "" || strings.Contains(v, "`") || t.kind == "without" && !lacks:
			return "", t.cannot()
		case lacks:
			v = name
		case t.kind == "host" && isMask(v):
			matcher, v = "HostRegexp(`%s`)", hostPattern(v)
		}
		return fmt.Sprintf(matcher, v), nil
	})
	text := strings.Join(either, " || ")
	if len(either) > 1 {
		text = "(" + text + ")"
	}
	if t.not != (t.kind == "without") { // the matcher fits those that have it
		text = "!" + text
	}
	return text, err
}
