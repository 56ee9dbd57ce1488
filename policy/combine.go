package policy

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// A Combine says how the limits of a policy share a request. Any of them can refuse it in any case; what differs is
// which of them charge it.
//
//	            a: room   b: no room   c: room     like
//	together    –         –            –           nginx with several zones
//	each        charged   –            charged     Envoy's rate limit service, RateLimiterUnion
//	in-turn     charged   –            not asked   zones of Caddy, throttles of Rack::Attack
//
// What a limit does with a request that it refuses itself is its own affair: most do not count it.
type Combine uint8

// The ways.
const (
	Together Combine = iota // all are asked first; an admitted request is charged to all, a refused one to none
	Each                    // each judges and charges for itself, as if there were no other
	InTurn                  // one is asked after the other and charges what it admits; the first that refuses is the last
)

// combines are the names, and what they mean in a few words.
var combines = [...]struct{ name, means string }{
	Together: {"together", "a refused request is charged to none"},
	Each:     {"each", "each limit counts for itself"},
	InTurn:   {"in-turn", "the limits are asked in turn, until one refuses"},
}

// String is the way as limits and configurations name it.
func (c Combine) String() string { return combines[c].name }

// Means is the way in a few words.
func (c Combine) Means() string { return combines[c].means }

// ParseCombine reads the name of a way.
func ParseCombine(text string) (Combine, error) {
	names := combineNames()
	if i := slices.Index(names, text); i >= 0 {
		return Combine(i), nil
	}
	return 0, fmt.Errorf("unknown way to combine %q%s; there are %s", text, limit.Hint(text, names), strings.Join(names, ", "))
}

func combineNames() (names []string) {
	for _, c := range combines {
		names = append(names, c.name)
	}
	return names
}

// cutCombine takes the way off limits that begin with it: each:envoy:5/s+envoy:60/m.
func cutCombine(text string) (c Combine, rest string, explicit bool) {
	name, rest, found := strings.Cut(strings.TrimSpace(text), ":")
	i := slices.Index(combineNames(), name)
	if !found || i < 0 {
		return Together, text, false
	}
	return Combine(i), rest, true
}

// natural is the way in which limits combine that say nothing: if all are of one server, as that server does.
func natural(parts []Part) Combine {
	servers := map[string]Combine{"envoy": Each, "caddy": InTurn}
	if len(parts) < 2 || slices.ContainsFunc(parts, func(p Part) bool { return p.Spec.Algorithm != parts[0].Spec.Algorithm }) {
		return Together
	}
	return servers[parts[0].Spec.Algorithm]
}
