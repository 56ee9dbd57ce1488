package evidence

import "testing"

// Signs against somebody decide when they are two at least, and more than those for.
func TestVerdictCountsSigns(t *testing.T) {
	signs := []Sign{AssetsSign, RefererSign, RhythmSign, HoursSign, AgentsSign}
	for _, c := range []struct {
		against, for_ int
		want          Verdict
	}{
		{1, 0, Undecided}, {2, 0, Bot}, {2, 1, Bot}, {2, 2, Undecided}, {3, 2, Bot}, {2, 3, Undecided}, {0, 1, Undecided}, {0, 2, Human}, {1, 2, Undecided},
	} {
		var s [SignCount]Voice
		for i := range c.against {
			s[signs[i]] = Against
		}
		for i := range c.for_ {
			s[signs[len(signs)-1-i]] = For
		}
		if got := verdict(&s); got != c.want {
			t.Errorf("%d against and %d for: %s, want %s", c.against, c.for_, got, c.want)
		}
	}
}
