package imports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Envoy's local rate limit: buckets by descriptors.

// filters adds the limits of local filters.
func (r *envoyReader) filters() {
	p := Policy{Name: "envoy-local", Combine: "in-turn"}
	var routes []Set
	for _, l := range r.local {
		if l.atRoute {
			routes = append(routes, l.set)
		}
	}
	for n, l := range r.local {
		set := l.set
		for _, other := range r.local[:n] {
			if !l.atRoute && !other.atRoute && l.at.Get("token_bucket") != nil && other.at.Get("token_bucket") != nil {
				r.lose(l.d.place(l.at), "the filter at %s has another bucket, for another listener: each is judged on all requests", other.d.place(other.at))
				break // one tells it: a thousand filters would make half a million pairs
			}
		}
		if !l.atRoute && routes != nil {
			set = set.and(union(routes...).except())
		}
		for _, key := range []string{"filter_enabled", "filter_enforced"} {
			switch n := l.at.Say(key, "default_value", "numerator"); {
			case n == "" && l.at.Get(key, "default_value") != nil:
				r.tell(l.d.place(l.at.Get(key)), "%s has no numerator, which is 0: it refuses nothing there, and is judged all the same", key)
			case l.at.Get(key) == nil:
				r.tell(l.d.place(l.at), "without %s Envoy refuses nothing: it is judged all the same", key)
			case n == "0":
				r.tell(l.d.place(l.at.Get(key)), "%s is 0: it refuses nothing there, and is judged all the same", key)
			case n != "" && n != "100" && cmp.Or(l.at.Say(key, "default_value", "denominator"), "HUNDRED") == "HUNDRED":
				r.lose(l.d.place(l.at.Get(key)), "%s is %s %%: it is judged for all requests", key, n)
			}
		}
		if l.at.Say("local_rate_limit_per_downstream_connection") == "true" {
			r.lose(l.d.place(l.at), "a bucket for each connection is one for all requests here")
		}
		rest, own := set, r.actions
		if list := l.at.List("rate_limits"); list != nil {
			own = nil
			for _, entry := range list {
				if a, ok := r.action(l.d, entry, set); ok {
					own = append(own, a)
				}
			}
		}
		descriptors := slices.Clone(l.at.List("descriptors"))
		slices.SortStableFunc(descriptors, func(a, b *policy.Tree) int { return cmp.Compare(fillRate(a), fillRate(b)) })
		for _, descriptor := range descriptors { // the slowest first, then the bucket for all
			entries, found := descriptor.List("entries"), false
			for _, a := range own {
				fits := len(a.entries) == len(entries)
				for n := range entries {
					fits = fits && a.entries[n].key == entries[n].Say("key") && (a.entries[n].parts != nil && entries[n].Say("value") == "" ||
						a.entries[n].parts == nil && a.entries[n].value == entries[n].Say("value"))
				}
				if fits {
					found = true
					each := slices.ContainsFunc(entries, func(e *policy.Tree) bool { return e.Say("value") == "" })
					if each && l.at.Get("max_dynamic_descriptors") == nil {
						r.tell(l.d.place(descriptor),
							"without max_dynamic_descriptors Envoy keeps the buckets of 20 values; here all are kept")
					}
					cases := a.cases(set)
					r.bucket(&p, l.d, descriptor.Get("token_bucket"), cases, "descriptor "+entriesText(entries))
					for _, c := range cases {
						if l.at.Say("always_consume_default_token_bucket") == "false" {
							rest = rest.and(c.set.except())
						}
					}
				}
			}
			if !found {
				r.lose(l.d.place(descriptor), "no action makes the descriptor %s, or only for some values", entriesText(entries))
			}
		}
		if b := l.at.Get("token_bucket"); b != nil {
			r.bucket(&p, l.d, b, []keyCase{{rest, request.BySite}}, "all requests")
		}
	}
	if len(p.Limits) > 0 {
		r.tell("", "each Envoy counts for itself; here one counts all requests. Before 1.31 it was filled by a timer: envoy-local")
	}
	r.Policies = append(r.Policies, p)
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
	var texts []string
	for _, e := range entries {
		texts = append(texts, strings.TrimSuffix(e.Say("key")+"="+e.Say("value"), "="))
	}
	return strings.Join(texts, ", ")
}

// bucket adds the limits of a token bucket.
func (r *envoyReader) bucket(p *Policy, d doc, b *policy.Tree, cases []keyCase, what string) {
	fill, most := cmp.Or(b.Say("tokens_per_fill"), "1"), b.Say("max_tokens")
	period, err := limit.ParsePeriod(b.Say("fill_interval"))
	if _, bad := strconv.Atoi(most); err != nil || bad != nil {
		r.lose(d.place(b), "a bucket of %s tokens, filled every %s, is not understood", most, b.Say("fill_interval"))
		return
	}
	for _, c := range cases {
		p.Limits = append(p.Limits, Limit{
			Text: fmt.Sprintf("token:%s/%s,burst=%s", fill, limit.FormatPeriod(period), most), By: c.by, Match: c.set, Count: c.set,
			Told: []string{fmt.Sprintf("%s token_bucket of %s, refused with 429", d.place(b), what)},
		})
	}
}
