package calibrate

import (
	"testing"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
)

// logOf are requests for paths, a letter each, that were refused where the letter is small. Each line is a client's, with a
// request every second.
func logOf(lines ...string) *Requests {
	r := &Requests{Keys: make([][]int32, 1)}
	for client, line := range lines {
		for i, letter := range line {
			if letter == ' ' {
				continue
			}
			verdict := Passed
			if letter >= 'a' {
				verdict, letter = Refused, letter-'a'+'A'
			}
			r.At, r.Client = append(r.At, limit.Time(i)*limit.Second), append(r.Client, int32(client))
			r.Path, r.Verdict = append(r.Path, letter), append(r.Verdict, verdict)
			r.Class, r.Retry = append(r.Class, request.Tool), append(r.Retry, 0)
			r.Keys[0] = append(r.Keys[0], int32(client))
		}
	}
	return r
}

func policyOf(t *testing.T, text string) *policy.Policy {
	t.Helper()
	all, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	return &all[0]
}

func TestWanted(t *testing.T) {
	for what, c := range map[string]struct {
		log    string
		wanted int
	}{
		"nothing refused":            {"ABCABC", 6},
		"again until admitted":       {"a a A B                                 Z", 3},
		"again and given up":         {"a a a   B                               Z", 3},
		"two at a time":              {"ab ab AB                                Z", 3},
		"again only after admission": {"a A A A                                 Z", 2 + 2},
		"a poller":                   {"AAAaAAAAaAAAAaAAAaAAA                   Z", 22},
	} {
		wanted, _ := logOf(c.log).Learn(Learned)
		if len(wanted) != c.wanted {
			t.Errorf("%s: %d requests of %q are wanted, want %d", what, len(wanted), c.log, c.wanted)
		}
	}
}

// What was learned from a log under its own limit gives that log again; under none, what was wanted.
func TestLearned(t *testing.T) {
	r := logOf("AbcD bc   B C                                                                              Z")
	wanted, habits := r.Learn(Learned)
	if got := r.Simulate(wanted, habits, policyOf(t, "window:100/1m"), r.Keys[0], 1); got != (Load{Requests: 5}) {
		t.Errorf("where nothing is refused: %+v", got)
	}
	// Of B, C and D, each comes back after 4 s, then every 5 or 6 s, as nobody was seen to give up: until the log ends. Z is its end.
	got := r.Simulate(wanted, habits, policyOf(t, "fixed:1/24h"), r.Keys[0], 1)
	if got.Refused != got.Requests-1 || got.Lost != 0 || got.Refused < 1+3*14 || got.Refused > 1+3*18 {
		t.Errorf("where all but one are refused: %+v", got)
	}
	for range 2 {
		if same := r.Simulate(wanted, habits, policyOf(t, "fixed:1/24h"), r.Keys[0], 1); same != got {
			t.Errorf("%+v, and then %+v, with one seed", got, same)
		}
	}
}

// The stated habits need no log. One a minute: of three at once two come back five times each, and are lost.
func TestStatedHabits(t *testing.T) {
	r := logOf("ABC                                                                                                                 Z")
	for how, want := range map[string]Load{
		Immediate: {Requests: 4 + 2*mostTries, Refused: 2 + 2*mostTries, Lost: 2},
		Backoff:   {Requests: 4 + 2*mostTries, Refused: 2 + 2*mostTries, Lost: 2},
	} {
		wanted, habits := r.Learn(how)
		for seed := range uint64(3) {
			if got := r.Simulate(wanted, habits, policyOf(t, "fixed:1/90s"), r.Keys[0], seed); got != want {
				t.Errorf("%s, seed %d: %+v, want %+v", how, seed, got, want)
			}
		}
	}
}
