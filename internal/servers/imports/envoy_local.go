package imports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

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

// closer returns the requests of the settings that override others, but not of those that override these in turn: in the places
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
	if l.at.List("rate_limits") != nil {
		own = r.actionsOf(l.d, l.at, l.set)
	}
	own = slices.DeleteFunc(slices.Clone(own), func(a envoyAction) bool { return a.stage != cmp.Or(l.at.Say("stage"), "0") })
	for n, a := range own {
		if own[n].set = l.set.And(a.set); apart(l.set, a.set) {
			own[n].set = neutral.None
		}
	}
	own = r.joined(own)
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
		cases := a.cases()
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
