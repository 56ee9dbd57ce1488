package job

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/scale/shard"
)

// A Spread says how requests are divided among workers.
type Spread struct {
	By     request.Key
	Slices bool // by time, one slice after the other: By is the whole site
}

// A SpreadError reports that requests cannot be divided: limits of policies meet at requests of any two keys.
type SpreadError struct{ Reason string }

func (e *SpreadError) Error() string { return e.Reason }

// SpreadOf finds a key by which requests can be divided so that each timeline of each limit is whole in one shard:
// what all keys that the policies and others count by have in common.
//
//	client+action, client+path   client
//	client/24, client            client/24
//	site                         nothing: slices of time
//	client, site                 none
func SpreadOf(policies []policy.Policy, keys []request.Key) (Spread, error) {
	for _, by := range candidates(keys) {
		if !slices.ContainsFunc(keys, func(k request.Key) bool { return !shard.Refines(k, by) }) {
			return Spread{By: by}, nil
		}
	}
	if !slices.ContainsFunc(keys, func(k request.Key) bool { return k != request.BySite }) {
		return Spread{By: request.BySite, Slices: true}, nil
	}
	for _, p := range policies {
		if len(p.Keys()) > 1 {
			return Spread{}, &SpreadError{fmt.Sprintf("policy %q cannot be spread: its limits count by %s, so that a request "+
				"of one worker depends on those of others; shadow replay judges it, on one machine", p.Name, p.By())}
		}
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.String())
	}
	return Spread{}, &SpreadError{fmt.Sprintf("these policies count by %s, which have nothing in common that requests "+
		"can be divided by: run a pipeline for each key", strings.Join(names, " and by "))}
}

// candidates returns the keys that requests may be divided by: by client, which tells who these are as well, then those
// that divide them best.
func candidates(keys []request.Key) (all []request.Key) {
	all = append(all, request.ByClient)
	for _, k := range keys {
		if k != request.BySite {
			all = append(all, k)
		}
	}
	for _, k := range keys {
		for _, p := range k.Parts() {
			if p.Kind != request.PartSite {
				if one, err := request.ParseKey(p.String()); err == nil {
					all = append(all, one)
				}
			}
		}
	}
	return all
}
