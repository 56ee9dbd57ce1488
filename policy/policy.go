package policy

import (
	"slices"
	"strings"

	"shadow/limit"
	"shadow/request"
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
	Match   Scope // the requests that it may refuse
	Count   Scope // the requests that it counts

	MatchText, CountText string // the scopes in words; "" for all requests
}

// A Scope is a set of requests: 0 is all of them, s > 0 those whose row has bit s−1 set in traffic.Batch.Marks.
type Scope uint8

// Text is the canonical text of the policy's limits, joined by '+', behind the way in which they combine unless that
// goes without saying.
func (p Policy) Text() string {
	texts := make([]string, len(p.Parts))
	for i := range p.Parts {
		texts[i] = p.Parts[i].Spec.String()
	}
	text := strings.Join(texts, "+")
	if p.Combine != natural(p.Parts) {
		return p.Combine.String() + ":" + text
	}
	return text
}

// Keys are what the policy's limits count by, each once, in their order.
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
	var names []string
	for _, key := range p.Keys() {
		names = append(names, key.String())
	}
	return strings.Join(names, ", ")
}

// Horizon is the idle time after which a key may be forgotten, or limit.Never.
func (p Policy) Horizon() (longest limit.Time) {
	for i := range p.Parts {
		longest = max(longest, p.Parts[i].Horizon())
	}
	return longest
}

// Horizon is that of the limiter, or of the variant of an approximation that remembers for longest.
func (p Part) Horizon() limit.Time {
	longest := p.Limiter.Horizon()
	if approximation, ok := p.Limiter.(limit.Approximation); ok {
		for _, variant := range approximation.Variants() {
			longest = max(longest, variant.Horizon())
		}
	}
	return longest
}
