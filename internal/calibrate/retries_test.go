package calibrate

import (
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
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
		"a poller":                   {"AAAaAAAAaAAAAaAAAAaAAA                   Z", 23},
		"slower by refusals":         {"AAAa    AAAAa    AAAAa    AAA             Z", 15},
		"again soon, or else wanted": {"a A         a         A         a A         a         A         a A      Z", 8},
	} {
		if got := logOf(c.log).Learn(Learned).Wanted(); got != c.wanted {
			t.Errorf("%s: %d requests of %q are wanted, want %d", what, got, c.log, c.wanted)
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
		if got := r.Learn(how).Foresee(policyOf(t, "fixed:1/90s"), r.Keys[0]); got != (Forecast{want, want, want}) {
			t.Errorf("%s: %+v, want %+v", how, got, want)
		}
	}
}
