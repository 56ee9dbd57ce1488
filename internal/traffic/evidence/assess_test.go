package evidence

import (
	"testing"

	"shadow/internal/request"
)

// With exactly as many steps as a signal needs, and half of them errors, the signal of errors votes; with one step less it abstains.
func TestErrorsSignThreshold(t *testing.T) {
	for _, c := range []struct {
		steps, errors uint32
		want          Vote
	}{{5, 5, Abstain}, {6, 3, Conclusive}, {7, 3, Abstain}} {
		j := DefaultRules.Assess(&Summary{Steps: c.steps, Errors: c.errors}, request.Browser, &SiteBaseline{})
		if got := j.Votes[ErrorsSignal]; got != c.want {
			t.Errorf("%d of %d steps are errors: vote %d, want %d", c.errors, c.steps, got, c.want)
		}
	}
}
