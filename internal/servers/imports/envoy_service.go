package imports

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
)

// The rate limit service of Envoy: a tree of descriptors. For each, one node may have a window.

// services adds the limits of the rate limit service: for each action that of the descriptor that it finds there.
func (r *envoyReader) services(docs []doc) {
	p := neutral.Policy{Name: "envoy", Combine: "each"}
	for _, d := range docs {
		domain := d.Say("domain")
		if d.Get("domain") == nil {
			continue
		} else if !r.asks(func(f envoyFilter) bool { return f.domain == domain }) {
			r.Lose(d.place(nil), "no filter here asks for the domain %s: its limits are left out", domain)
			continue
		}
		if n := slices.IndexFunc(r.filters, func(f envoyFilter) bool { return f.domain == domain }); n >= 0 {
			r.status = r.filters[n].status
		}
		found := map[*policy.Tree]bool{}
		var actions []envoyAction
		for _, a := range r.actions {
			a.set = a.set.Minus(r.off)
			switch {
			case r.asks(func(f envoyFilter) bool { return f.domain == domain && f.stage == a.stage }):
				actions = append(actions, a)
			case !r.asks(func(f envoyFilter) bool { return f.stage == a.stage }) && !r.staged(a.stage):
				r.Tell(a.place, "no filter here has the stage %s: this action does nothing", a.stage)
			}
		}
		if len(r.actions) == 0 { // its own names are all that there is
			r.Tell(d.place(nil), "no actions of Envoy are here: remote_address is taken for the client")
			actions = []envoyAction{{entries: []envoyEntry{{key: "remote_address", parts: []string{"client"}}}}}
		}
		for _, a := range r.joined(actions) {
			r.descend(&p, d, d.Tree, a, 0, found)
		}
		d.Walk(func(key string, part *policy.Tree) bool {
			if key == "rate_limit" && !found[part] && part.Say("unlimited") != "true" {
				r.Lose(d.place(part), "no action of Envoy leads to this descriptor, or only some values do: it is left out")
			}
			return true
		})
	}
	r.Policies = append(r.Policies, p)
}

// limitFilter fits filters that limit, and passingFilter those that answer no request.
var (
	limitFilter   = lazy.Regexp(`\bhttp\.(local_)?rate_?limit\b`)
	passingFilter = lazy.Regexp(`(?i)\b(header_to_metadata|(de)?compressor|gzip|grpc_(stats|web|http1_bridge)|set_(metadata|filter_state)|tap|` +
		`original_src|header_mutation|stateful_session|alternate_protocols_cache|on_demand|istio[._]\w+|peer_metadata|metadata_exchange)\b`)
)

// answering tells of filters that may answer requests before one behind them counts these.
func (r *envoyReader) answering(d doc, filters []*policy.Tree) {
	name := func(f *policy.Tree) string { return f.Say("name") + " " + f.Say("typed_config", "@type") }
	last := map[string]int{} // of each kind
	for n, f := range filters {
		last[limitFilter().FindString(name(f))] = n
	}
	delete(last, "")
	for n, f := range filters {
		if f.Say("disabled") == "true" || passingFilter().MatchString(name(f)) {
			continue
		}
		for kind, at := range last { // those of one kind are judged in turn
			if at > n && kind != limitFilter().FindString(name(f)) {
				r.Lose(d.place(f), "the filter %s may answer requests before limits behind it count them; here they count", f.Say("name"))
			}
		}
	}
}

// asks reports whether some filter that asks the service fits, or none is here to tell.
func (r *envoyReader) asks(fits func(f envoyFilter) bool) bool {
	return len(r.filters) == 0 || slices.ContainsFunc(r.filters, fits)
}

// staged reports whether a local filter takes the actions of a stage.
func (r *envoyReader) staged(stage string) bool {
	return slices.ContainsFunc(r.local, func(l envoyLocal) bool { return cmp.Or(l.at.Say("stage"), "0") == stage })
}

// joined are actions, those that make the same descriptor as one: its count is one, whichever route makes it.
func (r *envoyReader) joined(actions []envoyAction) (all []envoyAction) {
	var sets [][]neutral.Set // of each
	for _, a := range actions {
		n := slices.IndexFunc(all, func(b envoyAction) bool { return slices.EqualFunc(b.entries, a.entries, envoyEntry.same) })
		if n < 0 {
			all, sets = append(all, a), append(sets, []neutral.Set{a.plain().set})
			continue
		}
		b, one := all[n], a.plain()
		twice := slices.ContainsFunc(b.in, func(list int) bool { return list == 0 || a.in[0] == 0 || list == a.in[0] })
		if twice && slices.ContainsFunc(sets[n], func(s neutral.Set) bool { return !apart(s, one.set) }) {
			r.Lose(a.place, "requests that make this descriptor here and at %s count twice there", b.place)
		}
		sets[n] = append(sets[n], one.set)
		one.place, one.in = b.place, slices.Concat(b.in, a.in)
		all[n] = one
	}
	for n := range all {
		if len(sets[n]) > 1 {
			all[n].set = neutral.UnionInTurn(sets[n])
		}
	}
	return all
}

// plain returns an action whose set has those of its entries.
func (a envoyAction) plain() envoyAction {
	a.entries = mapped.Add(nil, a.entries, func(e envoyEntry) envoyEntry {
		a.set, e.set = a.set.And(e.set), neutral.Set{}
		return e
	})
	return a
}

// same reports whether entries are the same part of descriptors.
func (e envoyEntry) same(other envoyEntry) bool {
	return e.key == other.key && e.value == other.value && slices.Equal(e.parts, other.parts)
}

// apart reports whether two sets are known to have no request in common.
func apart(a, b neutral.Set) bool {
	return neutral.Apart(a, b) || neutral.Disjoint(a.Conditions, b.Conditions) || a.And(b).Never
}

// descend adds the limits to which the entries of a descriptor lead, from the nth on. A path, a host or an agent may be one
// of those that the tree has.
func (r *envoyReader) descend(p *neutral.Policy, d doc, at *policy.Tree, a envoyAction, n int, found map[*policy.Tree]bool) {
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
			r.descend(p, d, one, with(envoyEntry{key: e.key, value: value, set: e.set.And(set)}), n+1, found)
			if e.set = e.set.And(set.Except()); set.Never {
				r.Tell(d.place(one), "no path is %s: where the path is taken, this descriptor limits nothing", value)
			}
		}
	}
	if next == nil {
		return
	}
	for _, one := range unsaid {
		if !limitsSome(one) { // else it is said that this limit is left out
			r.Lose(d.place(one), "no condition says %s %s, which is not limited there: it counts as any other", e.key, one.Say("value"))
		}
	}
	r.descend(p, d, next, with(e), n+1, found)
}

// ofValue is the set of requests that have a value for a part of a key; false if no condition says that.
func ofValue(part, value string) (set neutral.Set, known bool) {
	if strings.Contains(value, "*") {
		return neutral.None, false
	}
	switch part {
	case neutral.WholeTarget:
		if !strings.HasPrefix(value, "/") {
			return neutral.None, true
		}
		return neutral.TargetSet("", value, false)
	case "host":
		return neutral.HostSet("", []string{value})
	case "agent":
		return neutral.TextSet("agent", "", []string{value}, false)
	case "client":
		if addr, err := netip.ParseAddr(value); err == nil {
			return neutral.Within("network", addr.String()), true
		}
	}
	return neutral.None, false
}

// limitsSome reports whether a descriptor or one in it has a window.
func limitsSome(at *policy.Tree) bool {
	return some(at, func(key string, part *policy.Tree) bool {
		return key == "rate_limit" && part.Say("unlimited") != "true"
	})
}

// masked reports whether a mask fits a text: an asterisk stands for anything.
func masked(mask, text string) bool {
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(mask), `\*`, ".*") + ")$").MatchString(text)
}

var envoyUnits = map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}

// window adds the limit of a descriptor.
func (r *envoyReader) window(p *neutral.Policy, d doc, at *policy.Tree, a envoyAction) {
	l := at.Get("rate_limit")
	onlyKnown(r.Lose, d, at, "key value ratelimit descriptors shadowmode quotamode detailedmetric valuetometric sharethreshold")
	onlyKnown(r.Lose, d, l, "unit requestsperunit unlimited name replaces")
	unit, ok := envoyUnits[strings.ToLower(l.Say("unit"))]
	switch {
	case l.Say("unlimited") == "true":
		return
	case !ok:
		r.Lose(d.place(l), "no limit here has a window of a %s", l.Say("unit"))
		return
	}
	if replaces := l.Get("replaces"); replaces != nil {
		r.Lose(d.place(replaces), "replaces is not read: limits that this one replaces hold besides it")
	}
	dry := ""
	if at.Say("shadow_mode") == "true" || at.Say("quota_mode") == "true" {
		dry = ", which is a dry run there"
		r.Tell(d.place(l), neutral.RefusesNothing)
	}
	p.Add(fmt.Sprintf("envoy:%s/%s", l.Say("requests_per_unit"), unit),
		fmt.Sprintf("%s descriptor %s%s, refused with %s", d.place(l), at.Say("key"), dry, cmp.Or(r.status, "429")), a.cases()...)
}

// cases returns what a descriptor counts by, and for which requests.
func (a envoyAction) cases() []neutral.KeyCase {
	var words [2][]string // of IPv4, of IPv6
	set, split := a.set, false
	for _, e := range a.entries {
		set, split = set.And(e.set), split || len(e.parts) == 2
		for family := range words {
			if n := min(family, len(e.parts)-1); n >= 0 && !slices.Contains(words[family], e.parts[n]) {
				words[family] = append(words[family], e.parts[n])
			}
		}
	}
	if !split {
		return casesOf(set, words[0])
	}
	return append(casesOf(set.And(neutral.Within("network", "0.0.0.0/0")), words[0]), casesOf(set.And(neutral.Within("network", "::/0")), words[1])...)
}

// casesOf is the case of requests that have the parts of a key; none if they make no key.
func casesOf(set neutral.Set, words []string) []neutral.KeyCase {
	by, err := neutral.KeyOf(words)
	if err != nil {
		return nil
	}
	needed := func(w string) bool { return neutral.CanLack(w) && w != "agent" } // else there is no descriptor
	return []neutral.KeyCase{{Set: set.Having(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !needed(w) })...), By: by}}
}
