package imports

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/policy"
)

// The rate limit service of Envoy: a tree of descriptors. For each, one node may have a window.

// services adds the limits of the rate limit service: for each action that of the descriptor that it finds there.
func (r *envoyReader) services(docs []doc) {
	p := Policy{Name: "envoy", Combine: "each"}
	for _, d := range docs {
		if d.Get("domain") == nil {
			continue
		}
		found := map[*policy.Tree]bool{}
		actions := r.actions
		if len(actions) == 0 { // its own names are all that there is
			r.tell(d.place(nil), "no actions of Envoy are here: remote_address is taken for the client")
			actions = []envoyAction{{entries: []envoyEntry{{key: "remote_address", parts: []string{"client"}}}}}
		}
		for _, a := range actions {
			r.descend(&p, d, d.Tree, a, 0, found)
		}
		d.Walk(func(key string, part *policy.Tree) bool {
			if key == "rate_limit" && !found[part] && part.Say("unlimited") != "true" {
				r.lose(d.place(part), "no action of Envoy leads to this descriptor, or only some values do: it is left out")
			}
			return true
		})
	}
	r.Policies = append(r.Policies, p)
}

// descend adds the limits to which the entries of a descriptor lead, from the nth on. A path, a host or an agent may be one
// of those that the tree has.
func (r *envoyReader) descend(p *Policy, d doc, at *policy.Tree, a envoyAction, n int, found map[*policy.Tree]bool) {
	if n == len(a.entries) {
		if limits := at.Get("rate_limit"); limits != nil {
			found[limits] = true
			r.window(p, d, at, a)
		}
		return
	}
	e := a.entries[n]
	with := func(e envoyEntry) envoyAction {
		a.entries = slices.Clone(a.entries)
		a.entries[n] = e
		return a
	}
	var next *policy.Tree
	var unsaid []*policy.Tree // values that no condition says
	rank := 0                 // the value itself, else the first mask, else any value
	for _, one := range at.List("descriptors") {
		value := one.Say("value")
		switch {
		case one.Say("key") != e.key:
		case value == "" && rank < 1:
			next, rank = one, 1
		case e.value != "" && strings.Contains(value, "*") && rank < 2 && masked(value, e.value):
			next, rank = one, 2
		case e.value != "" && value == e.value:
			next, rank = one, 3
		case e.value == "" && len(e.parts) == 1:
			set, known := ofValue(e.parts[0], value)
			if !known {
				unsaid = append(unsaid, one)
				continue
			}
			r.descend(p, d, one, with(envoyEntry{key: e.key, value: value, set: e.set.and(set)}), n+1, found)
			e.set = e.set.and(set.except())
		}
	}
	if next == nil {
		return
	}
	for _, one := range unsaid {
		if !limitsSome(one) { // else it is said that this limit is left out
			r.lose(d.place(one), "no condition says %s %s, which is not limited there: it counts as any other", e.key, one.Say("value"))
		}
	}
	r.descend(p, d, next, with(e), n+1, found)
}

// ofValue is the set of requests that have a value for a part of a key; false if no condition says that.
func ofValue(part, value string) (set Set, known bool) {
	if strings.Contains(value, "*") {
		return none, false
	}
	switch part {
	case "path":
		return textSet("regexp", "", []string{value}, false)
	case "host":
		return hostSet("", []string{value})
	case "agent":
		return textSet("agent", "", []string{value}, false)
	case "client":
		if addr, err := netip.ParseAddr(value); err == nil {
			return within("network", addr.String()), true
		}
	}
	return none, false
}

// limitsSome reports whether a descriptor or one in it has a window.
func limitsSome(at *policy.Tree) (some bool) {
	at.Walk(func(key string, part *policy.Tree) bool {
		some = some || key == "rate_limit" && part.Say("unlimited") != "true"
		return true
	})
	return some
}

// masked reports whether a mask fits a text: an asterisk stands for anything.
func masked(mask, text string) bool {
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(mask), `\*`, ".*") + ")$").MatchString(text)
}

var envoyUnits = map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}

// window adds the limit of a descriptor.
func (r *envoyReader) window(p *Policy, d doc, at *policy.Tree, a envoyAction) {
	l := at.Get("rate_limit")
	unit, ok := envoyUnits[strings.ToLower(l.Say("unit"))]
	switch {
	case l.Say("unlimited") == "true":
		return
	case !ok:
		r.lose(d.place(l), "no limit here has a window of a %s", l.Say("unit"))
		return
	}
	if replaces := l.Get("replaces"); replaces != nil {
		r.lose(d.place(replaces), "replaces is not read: limits that this one replaces hold besides it")
	}
	dry := ""
	if at.Say("shadow_mode") == "true" || at.Say("quota_mode") == "true" {
		dry = ", which is a dry run there"
	}
	for _, c := range a.cases(Set{}) {
		p.Limits = append(p.Limits, Limit{
			Text: fmt.Sprintf("envoy:%s/%s", l.Say("requests_per_unit"), unit), By: c.by, Match: c.set, Count: c.set,
			Told: []string{fmt.Sprintf("%s descriptor %s%s, refused with 429", d.place(l), at.Say("key"), dry)},
		})
	}
}
