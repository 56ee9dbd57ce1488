package replay

import "shadow/internal/policy"

// VariantsOf returns how many variants a policy has.
func VariantsOf(p policy.Policy) int { return len(variantsOf(p)) - 1 }
