package imports

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
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
		for _, a := range actions {
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
		fmt.Sprintf("%s descriptor %s%s, refused with %s", d.place(l), at.Say("key"), dry, cmp.Or(r.status, "429")), a.cases(neutral.Set{})...)
}

// Envoy's local rate limit: buckets by descriptors.

// locals adds the limits of local filters. Settings that are closest to a request hold.
func (r *envoyReader) locals() {
	p, places := neutral.Policy{Name: "envoy-local", Combine: "in-turn"}, map[*policy.Tree]bool{}
	for _, l := range r.local {
		if n := len(l.of); n > 0 {
			places[l.of[n-1]] = true
		}
	}
	for n, l := range r.local {
		if l.off {
			continue
		}
		r.anotherFilter(l, r.local[:n])
		l.set = l.set.Minus(r.closer(&l, places))
		r.filter(&p, l)
	}
	if len(p.Limits) > 0 {
		r.Tell("", "each Envoy counts for itself; here one counts all requests. Before 1.31 it was filled by a timer: envoy-local")
	}
	r.Policies = append(r.Policies, p)
}

// closer are the requests of the settings that override others, but not of those that override these in turn: in the places
// that have settings.
func (r *envoyReader) closer(l *envoyLocal, places map[*policy.Tree]bool) (sets []neutral.Set) {
	for n := range r.local {
		over := &r.local[n]
		if over.overrides(l) && !slices.ContainsFunc(over.of[len(l.of):len(over.of)-1], func(t *policy.Tree) bool { return places[t] }) {
			sets = append(sets, over.set)
		}
	}
	return sets
}

// anotherFilter tells of the first of the filters before one that has a bucket for all, too: a thousand filters would make
// half a million pairs.
func (r *envoyReader) anotherFilter(l envoyLocal, before []envoyLocal) {
	forAll := func(l envoyLocal) bool { return l.of == nil && l.at.Get("token_bucket") != nil }
	if n := slices.IndexFunc(before, forAll); forAll(l) && n >= 0 {
		r.Lose(l.d.place(l.at), "the filter at %s has another bucket, for another listener: each is judged on all requests",
			before[n].d.place(before[n].at))
	}
}

// filter adds the limits of a local filter.
func (r *envoyReader) filter(p *neutral.Policy, l envoyLocal) {
	r.status = l.at.Say("status", "code")
	for _, key := range []string{"filter_enabled", "filter_enforced"} {
		r.share(l, key)
	}
	if l.at.Say("local_rate_limit_per_downstream_connection") == "true" {
		r.Lose(l.d.place(l.at), "a bucket for each connection is one for all requests here")
	}
	rest, own := l.set, r.actions
	if list := l.at.List("rate_limits"); list != nil {
		own = r.actionsOf(l.d, list, l.set)
	}
	own = slices.DeleteFunc(slices.Clone(own), func(a envoyAction) bool { return a.stage != cmp.Or(l.at.Say("stage"), "0") })
	descriptors := slices.Clone(l.at.List("descriptors"))
	slices.SortStableFunc(descriptors, func(a, b *policy.Tree) int { return cmp.Compare(fillRate(a), fillRate(b)) })
	for _, descriptor := range descriptors { // the slowest first, then the bucket for all
		for _, c := range r.descriptor(p, l, descriptor, own) {
			if l.at.Say("always_consume_default_token_bucket") == "false" {
				rest = rest.And(c.Set.Except())
			}
		}
	}
	if b := l.at.Get("token_bucket"); b != nil {
		r.bucket(p, l.d, b, []neutral.KeyCase{{Set: rest, By: request.BySite}}, "all requests")
	}
}

// share tells of a filter that is for a part of the requests only.
func (r *envoyReader) share(l envoyLocal, key string) {
	at := l.at.Get(key)
	switch n := at.Say("default_value", "numerator"); {
	case n == "" && at.Get("default_value") != nil:
		r.Tell(l.d.place(at), "%s has no numerator, which is 0: it refuses nothing there, and is judged all the same", key)
	case at == nil:
		r.Tell(l.d.place(l.at), "without %s Envoy refuses nothing: it is judged all the same", key)
	case n == "0":
		r.Tell(l.d.place(at), "%s is 0: it refuses nothing there, and is judged all the same", key)
	default:
		of := map[string]int{"TEN_THOUSAND": 10_000, "1": 10_000, "MILLION": 1_000_000, "2": 1_000_000}[at.Say("default_value", "denominator")]
		if share, err := strconv.Atoi(n); err == nil && share < cmp.Or(of, 100) {
			r.Lose(l.d.place(at), "%s is %s of %d requests: it is judged for all", key, n, cmp.Or(of, 100))
		}
	}
}

// descriptor adds the limits of a descriptor of a local filter, and returns their cases.
func (r *envoyReader) descriptor(p *neutral.Policy, l envoyLocal, descriptor *policy.Tree, actions []envoyAction) (all []neutral.KeyCase) {
	entries, found := descriptor.List("entries"), false
	for _, a := range actions {
		if !slices.EqualFunc(a.entries, entries, envoyEntry.fits) {
			continue
		}
		found = true
		each := slices.ContainsFunc(entries, func(e *policy.Tree) bool { return e.Say("value") == "" })
		if each && l.at.Get("max_dynamic_descriptors") == nil {
			r.Tell(l.d.place(descriptor), "without max_dynamic_descriptors Envoy keeps the buckets of 20 values; here all are kept")
		}
		cases := a.cases(l.set)
		r.bucket(p, l.d, descriptor.Get("token_bucket"), cases, "descriptor "+entriesText(entries))
		all = append(all, cases...)
	}
	if !found {
		r.Lose(l.d.place(descriptor), "no action makes the descriptor %s, or only for some values", entriesText(entries))
	}
	return all
}

// fits reports whether an entry is one of a descriptor, which may be for any value.
func (e envoyEntry) fits(of *policy.Tree) bool {
	return e.key == of.Say("key") && (e.parts != nil && of.Say("value") == "" || e.parts == nil && e.value == of.Say("value"))
}

// fillRate returns how many tokens the bucket of a descriptor gets in a microsecond.
func fillRate(descriptor *policy.Tree) float64 {
	n, err := strconv.ParseFloat(cmp.Or(descriptor.Say("token_bucket", "tokens_per_fill"), "1"), 64)
	period, bad := limit.ParsePeriod(descriptor.Say("token_bucket", "fill_interval"))
	if err != nil || bad != nil {
		return math.Inf(1)
	}
	return n / float64(period)
}

func entriesText(entries []*policy.Tree) string {
	return strings.Join(mapped.Add(nil, entries, func(e *policy.Tree) string {
		return strings.TrimSuffix(e.Say("key")+"="+e.Say("value"), "=")
	}), ", ")
}

// bucket adds the limits of a token bucket.
func (r *envoyReader) bucket(p *neutral.Policy, d doc, b *policy.Tree, cases []neutral.KeyCase, what string) {
	fill, most := cmp.Or(b.Say("tokens_per_fill"), "1"), b.Say("max_tokens")
	period, err := limit.ParsePeriod(b.Say("fill_interval"))
	if _, bad := strconv.Atoi(most); err != nil || bad != nil {
		r.Lose(d.place(b), "a bucket of %s tokens, filled every %s, is not understood", most, b.Say("fill_interval"))
		return
	}
	p.Add(fmt.Sprintf("token:%s/%s,burst=%s", fill, limit.FormatPeriod(period), most),
		fmt.Sprintf("%s token_bucket of %s, refused with %s", d.place(b), what, cmp.Or(r.status, "429")), cases...)
}

// cases returns what a descriptor counts by, and for which requests.
func (a envoyAction) cases(set neutral.Set) []neutral.KeyCase {
	var words [2][]string // of IPv4, of IPv6
	split := false
	set = set.And(a.set)
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
