package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/limit"
)

// A Policy is what is judged as one candidate: one limit, or several that must all admit.
type Policy struct {
	Name  string // the canonical text of its limits: token:6/30s; or the name in the configuration
	Parts []Part // a request is refused when any part refuses it
	Place string // where a configuration has it, "shadow.yaml:3"; "" of the command line

	Combine Combine // which of several parts charge a request
}

// A Part is one limit of a policy.
type Part struct {
	Spec    limit.Spec
	By      request.Key
	Limiter limit.Limiter
	Match   Scope  // the requests that it may refuse
	Count   Scope  // the requests that it counts
	Costs   Costs  // what each costs that it counts; nil: one. If not, Limiter is a limit.Weigher
	Known   string // the limit by the name of a Preset, if it was written so

	MatchText, CountText string // the scopes in words; "" for all requests. Costs stand behind those that are counted
}

// Scopes are all that the part asks for.
func (p *Part) Scopes() []Scope {
	scopes := []Scope{p.Match, p.Count}
	scopes = mapped.Add(scopes, p.Costs, func(cost Cost) Scope { return cost.Scope })
	return scopes
}

// A Scope is a set of requests: 0 is all of them, s > 0 those whose row has bit s−1 set in traffic.Batch.Marks.
type Scope uint8

// Holds reports whether a request with these marks is in the set.
func (s Scope) Holds(marks uint64) bool { return s == 0 || marks>>(s-1)&1 == 1 }

// Text is the canonical text of the policy's limits, joined by '+', behind the way in which they combine unless that
// goes without saying.
func (p Policy) Text() string { return p.text(func(part *Part) string { return part.Spec.String() }) }

// Written is the text of the limit, by the name of the preset if it was written so.
func (p *Part) Written() string { return cmp.Or(p.Known, p.Spec.String()) }

func (p Policy) text(of func(*Part) string) string {
	texts := make([]string, len(p.Parts))
	for i := range p.Parts {
		texts[i] = of(&p.Parts[i])
	}
	text := strings.Join(texts, "+")
	if p.Combine != natural(p.Parts) {
		return p.Combine.String() + ":" + text
	}
	return text
}

// Keys returns the keys that the policy's limits count by, each once, in their order.
func (p Policy) Keys() []request.Key {
	var keys []request.Key
	for i := range p.Parts {
		if by := p.Parts[i].By; !slices.Contains(keys, by) {
			keys = append(keys, by)
		}
	}
	return keys
}

// By names the keys: "client", or "client, site".
func (p Policy) By() string {
	return strings.Join(mapped.Of(p.Keys(), request.Key.String), ", ")
}

// Horizon is the idle time after which a key may be forgotten, or limit.Never.
func (p Policy) Horizon() (longest limit.Time) {
	for i := range p.Parts {
		longest = max(longest, p.Parts[i].Horizon())
	}
	return longest
}

// Horizon returns the horizon of the limiter, or of the variant of an approximation that remembers for longest.
func (p Part) Horizon() limit.Time {
	longest := p.Limiter.Horizon()
	if approximation, ok := p.Limiter.(limit.Approximation); ok {
		for _, variant := range approximation.Variants() {
			longest = max(longest, variant.Horizon())
		}
	}
	return longest
}

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
	return 0, fmt.Errorf("unknown way to combine %q%s; there are %s", text, limit.Hint(text, names),
		strings.Join(names, ", "))
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
	other := func(p Part) bool { return p.Spec.Algorithm != parts[0].Spec.Algorithm }
	if len(parts) < 2 || slices.ContainsFunc(parts, other) {
		return Together
	}
	return servers[parts[0].Spec.Algorithm]
}

// Semantics is one line that says what the limit means: what it admits at once, and whether a refused request counts.
func (p Part) Semantics() string {
	text := p.Spec.String()
	if e, ok := p.Limiter.(limit.Explainer); ok {
		text = e.Semantics()
	}
	if p.weighed() {
		text += "; these numbers are costs"
	}
	return text
}

// Nearest is one line with the settings of nginx's limit_req that come closest to the limit, and how they deviate from
// it, or "none" with the reason.
func (p Part) Nearest() string {
	if p.weighed() {
		return "none: each request costs one there"
	}
	if p.Spec.Algorithm == "nginx" {
		return fmt.Sprintf("%s (%s)", NginxSetting(p.Spec), presetDeviation(p.Spec))
	}
	if p.Spec.UnderWay() {
		return nginxConn(p.Spec)
	}
	d, ok := p.Limiter.(limit.Describer)
	if !ok {
		return "none"
	}
	shape := d.Shape()
	near, deviation := nginxFor(shape)
	setting := NginxSetting(near)
	switch {
	case near.Count == 0:
		return "none: " + deviation
	case !shape.Kin:
		return fmt.Sprintf("none (closest: %s; %s)", setting, join(unlikeBucket(shape, near), deviation))
	}
	return fmt.Sprintf("%s (%s)", setting, join(unlikeBucket(shape, near), deviation, "nginx counts in milliseconds"))
}

// String is a limit of a policy in words: "token:5/1m by client, on action login, counting status 401".
func (p Part) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s", p.Spec, p.By)
	if p.MatchText != "" {
		b.WriteString(", on " + p.MatchText)
	}
	if p.Count != p.Match || p.weighed() {
		b.WriteString(", counting " + cmp.Or(p.CountText, "every request"))
	}
	return b.String()
}

// Each limit has a number that says how much it admits at once, and that one would raise for the clients that it
// refuses: the burst where the algorithm has one, so that the rate stays, and the count otherwise.

// bursts are the algorithms with a burst, and what it is when the limit does not say.
var bursts = map[string]func(limit.Spec) int64{
	"token":       func(s limit.Spec) int64 { return s.Count },
	"envoy-local": func(s limit.Spec) int64 { return s.Count },
	"traefik":     func(limit.Spec) int64 { return 1 },
	"nginx":       func(limit.Spec) int64 { return 0 },
	"gcra":        func(limit.Spec) int64 { return 0 },
}

// Number is the number to raise: what it is called, "burst" or "count", and what it is.
func (p Part) Number() (name string, n int64) {
	if missing, ok := bursts[p.Spec.Algorithm]; ok {
		return "burst", p.Spec.Args().Int("burst", missing(p.Spec))
	}
	return "count", p.Spec.Count
}

// WithNumber is the same limit, for the same requests, with another number.
func (p Part) WithNumber(n int64) (Part, error) {
	spec := p.Spec
	if _, ok := bursts[spec.Algorithm]; ok {
		rest, _, _ := CutOption(spec, "burst")
		var err error
		if spec, err = limit.Parse(fmt.Sprintf("%s,burst=%d", rest, n)); err != nil {
			return Part{}, err
		}
	} else {
		spec.Count = n
	}
	other, err := newPart(spec, p.By)
	if err == nil && p.Costs != nil && other.Costs == nil {
		err = other.weigh(p.Costs)
	}
	other.Match, other.Count, other.MatchText, other.CountText = p.Match, p.Count, p.MatchText, p.CountText
	return other, err
}
