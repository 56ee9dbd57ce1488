package replay

import (
	"slices"

	"shadow/limit"
	"shadow/policy"
)

// variantsOf are the policies that p may also mean: each approximation among its limits may be any of its variants. The
// first is p itself.
func variantsOf(p policy.Policy) []policy.Policy {
	all := []policy.Policy{p}
	for i, part := range p.Parts {
		approximation, ok := part.Limiter.(limit.Approximation)
		if !ok {
			continue
		}
		for _, so := range slices.Clone(all) {
			for _, limiter := range approximation.Variants() {
				other := so
				other.Parts = slices.Clone(so.Parts)
				other.Parts[i].Limiter = limiter
				all = append(all, other)
			}
		}
	}
	return all
}
