package calibrate

import (
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
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
	// Of B, C and D, each comes back after 4 s, then every 5 or 6 s, as none gave up: until the log ends. Z is its end.
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

// A client's own habit counts once enough of it is known, else the habit of its class does. A try without a known outcome
// follows the try before it.
func TestWhoseHabit(t *testing.T) {
	always := func(refused int64, after limit.Time) try {
		return try{refused, slices.Repeat([]limit.Time{after}, int(refused))}
	}
	h := Habits{
		clients: map[int32]*Habit{
			1: {tries: []try{always(enough, 1)}}, 2: {tries: []try{always(enough-1, 2)}}, 3: {}, 4: {tries: []try{always(enough, 4), {}, {}}},
			5: {tries: []try{{refused: enough}}},
		},
		classes: map[request.Class]*Habit{request.Tool: {tries: []try{always(1, 9), always(1, 10)}}, request.Crawler: {}},
	}
	random := testneeds.Rand(t, 37, 6)
	for _, c := range []struct {
		client int32
		class  request.Class
		n      int
		after  limit.Time
		again  bool
	}{
		{1, request.Tool, 0, 1, true},
		{1, request.Tool, 7, 1, true},
		{2, request.Tool, 0, 9, true},
		{3, request.Tool, 1, 10, true},
		{8, request.Tool, 5, 10, true},
		{4, request.Tool, 2, 4, true},
		{5, request.Tool, 0, 0, false},
		{8, request.Browser, 0, 0, false},
		{8, request.Crawler, 0, 0, false},
		{1, request.Tool, mostLearned, 0, false},
		{1, request.Tool, mostLearned - 1, 1, true},
	} {
		if after, again := h.again(c.client, c.class, c.n, random); after != c.after || again != c.again {
			t.Errorf("client %d, %s, try %d: %v after %v", c.client, c.class, c.n, again, after)
		}
	}
	h = Habits{fixed: &Habit{tries: []try{always(1, 3)}}}
	if after, again := h.again(1, request.Tool, 0, random); after != 3 || !again {
		t.Error("a stated habit is not kept")
	}
	if _, again := h.again(1, request.Tool, 1, random); again {
		t.Error("a stated habit never ends")
	}
}

// Refusals that no limit explains contradict it as much as wrong verdicts.
func TestWrongOfLocations(t *testing.T) {
	all := []Location{{Found: &Found{Refused: 5}}, {Found: &Found{Refused: 9, Best: &Fit{Wrong: 2}}}}
	if n := wrong(all); n != 7 {
		t.Error(n)
	}
}
