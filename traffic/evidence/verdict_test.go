package evidence

import (
	"testing"

	"shadow/request"
)

// Votes for a bot decide when they are two at least, and more than those for a person.
func TestVerdictCountsSigns(t *testing.T) {
	signals := []Signal{AssetsSignal, RefererSignal, RhythmSignal, HoursSignal, AgentsSignal}
	for _, c := range []struct {
		against, for_ int
		want          Verdict
	}{
		{1, 0, Undecided}, {2, 0, Bot}, {2, 1, Bot}, {2, 2, Undecided}, {3, 2, Bot}, {2, 3, Undecided}, {0, 1, Undecided}, {0, 2, Human}, {1, 2, Undecided},
	} {
		var s [SignalCount]Vote
		for i := range c.against {
			s[signals[i]] = VoteBot
		}
		for i := range c.for_ {
			s[signals[len(signals)-1-i]] = VoteHuman
		}
		if got := verdict(&s); got != c.want {
			t.Errorf("%d against and %d for: %s, want %s", c.against, c.for_, got, c.want)
		}
	}
}

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

// A verdict is found by its name, and what is none is undecided.
func TestParseVerdict(t *testing.T) {
	for _, v := range []Verdict{Human, Bot, Undecided} {
		if got := ParseVerdict(v.String()); got != v {
			t.Errorf("%s is read as %s", v, got)
		}
	}
	if got := ParseVerdict("a person"); got != Undecided {
		t.Errorf("what is no verdict is read as %s", got)
	}
}
