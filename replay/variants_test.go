package replay_test

import (
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/replay"
)

// Approximations have a range, and as many variants as their limits' assumptions make together.
func TestVariants(t *testing.T) {
	for text, some := range map[string]bool{"window:2/10s": false, "cloudflare~:2/10s": true, "window:2/10s+cloudflare~:2/10s": true} {
		if n := replay.VariantsOf(policiesOf(t, text, request.ByClient)[0]); n > 0 != some {
			t.Errorf("%s has %d variants", text, n)
		}
	}
	one := policiesOf(t, "cloudflare~:2/10s", request.ByClient)[0]
	two := one
	two.Parts = slices.Concat(one.Parts, one.Parts)
	if n, pairs := replay.VariantsOf(one)+1, replay.VariantsOf(two)+1; pairs != n*n {
		t.Errorf("%d ways to mean one, %d to mean two", n, pairs)
	}
}
