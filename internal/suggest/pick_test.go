package suggest

import (
	"testing"

	"shadow/internal/servers"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// windowOf is a suggestion that was found: a window, what it refuses of tools, and looser ones that were looked at.
func windowOf(per limit.Time, n, tools int64, looser ...Candidate) Suggestion {
	s := Suggestion{Shape: sweep.Shape{Kind: sweep.Window, Per: per}, Chosen: candidateOf(n, 0, tools), tries: looser}
	s.family.shape = s.Shape
	return s
}

// candidateOf hits so many browsers of each part, and refuses so many requests of tools on the parts that choose.
func candidateOf(n, browsers, tools int64) Candidate {
	c := Candidate{Limit: n}
	for part := range c.On {
		c.On[part] = Figures{Counted: true, Hit: who.Groups{who.Person: browsers}, Refused: who.Groups{who.Person: browsers}}
	}
	c.On[First].Refused[who.Program], c.On[Second].Refused[who.Program] = tools/2, tools-tools/2
	return c
}

// picking is advice about a log with 1,000 requests of tools on the parts that choose.
func picking(some ...Suggestion) *Advice {
	part := &Part{Clients: who.Groups{who.Person: 100, who.Program: 3}, Requests: who.Groups{who.Person: 5000, who.Program: 500}}
	return &Advice{
		Question: Question{Goals: []Goal{{Who: 1 << who.Person, Percent: 99_000_000}}, Target: 1 << who.Program, Scale: Scale{1, 1}},
		Parts:    [PartCount]*Part{part, part, part}, Suggestions: some, Whole: &Whole{Groups: part.Clients}, all: 11_000,
	}
}

// Of limits that refuse nearly as much as the best, the one that remembers least is the answer, unless that is too short. It is
// loosened as far as it keeps nearly all that it refuses.
func TestPick(t *testing.T) {
	const m = limit.Minute
	of := func(action string, some ...Suggestion) *Advice {
		a := picking(some...)
		a.Action = action
		return a
	}
	for name, c := range map[string]struct {
		advice *Advice
		want   string
	}{
		"none":                      {picking(), ""},
		"too little of the target":  {picking(windowOf(m, 9, 49)), ""},
		"just enough of it":         {picking(windowOf(m, 9, 50)), "window:9/1m"},
		"the best":                  {picking(windowOf(m, 9, 100), windowOf(2*m, 9, 126)), "window:9/2m"},
		"as good, and sooner":       {picking(windowOf(m, 9, 100), windowOf(2*m, 9, 125)), "window:9/1m"},
		"sooner than can be told":   {picking(windowOf(9*limit.Second, 9, 99), windowOf(m, 9, 100)), "window:9/1m"},
		"as soon as can be told":    {picking(windowOf(10*limit.Second, 9, 99), windowOf(m, 9, 100)), "window:9/10s"},
		"a looser one":              {picking(windowOf(m, 9, 100, candidateOf(10, 0, 95), candidateOf(11, 0, 94))), "window:10/1m"},
		"the loosest of these":      {picking(windowOf(m, 9, 100, candidateOf(10, 0, 99), candidateOf(11, 0, 97))), "window:11/1m"},
		"no stricter one":           {picking(windowOf(m, 9, 100, candidateOf(8, 0, 99))), "window:9/1m"},
		"none that hits too many":   {picking(windowOf(m, 9, 100, candidateOf(10, 2, 99))), "window:9/1m"},
		"more than half of the log": {picking(windowOf(m, 9, 5501), windowOf(m, 20, 60)), "window:20/1m"},
		"of a login, fewest guesses": {
			of("/login", windowOf(m, 9, 900), windowOf(limit.Hour, 20, 800), windowOf(2*limit.Hour, 9, 700)), "window:20/1h",
		},
		"of a login, no room for more":       {of("/login", windowOf(m, 9, 900, candidateOf(12, 0, 899))), "window:9/1m"},
		"of a login, room for typing errors": {of("/login", windowOf(m, 3, 900, candidateOf(6, 0, 899))), "window:6/1m"},
		"most of the requests of a login":    {of("/login", windowOf(m, 9, 5501), windowOf(m, 20, 60)), "window:9/1m"},
		"most of the requests of an action":  {of("/page", windowOf(m, 9, 5501), windowOf(m, 20, 60)), "window:20/1m"},
	} {
		if c.advice.pick(); c.advice.Answer.Limit != c.want {
			t.Errorf("%s: %q, want %q", name, c.advice.Answer.Limit, c.want)
		}
	}
}

// Where all clients are protected and a target, only limits are answers of which twice as much refuses at least half as much.
func TestPickStandsOut(t *testing.T) {
	for tools, want := range map[int64]string{49: "", 50: "window:9/1m"} {
		a := picking(windowOf(limit.Minute, 9, 100, candidateOf(17, 0, 60), candidateOf(18, 0, tools), candidateOf(36, 0, 50)))
		a.Goals[0].Who, a.Target = who.Everybody, who.Everybody
		a.Parts[First].Requests, a.all = who.Groups{who.Program: 500}, 1000
		if a.pick(); a.Answer.Limit != want {
			t.Errorf("twice the limit refuses %d of 100: %q, want %q", tools, a.Answer.Limit, want)
		}
	}
	near := windowOf(limit.Minute, 9, 100, candidateOf(17, 0, 100))
	if picking().farAbove(&near) {
		t.Error("nothing is known of twice the limit")
	}
}

// What another server could do is told if it stops half as much again.
func TestPickTellsOfOtherServers(t *testing.T) {
	nginx, err := servers.Named("nginx")
	if err != nil {
		t.Fatal(err)
	}
	for tools, want := range map[int64]bool{149: false, 150: true} {
		a := picking(windowOf(limit.Minute, 9, tools))
		a.Server.Server, a.Own = nginx, []Suggestion{windowOf(limit.Hour, 20, 100)}
		if a.pick(); a.Answer.Limit != "window:20/1h" || (a.Answer.Any != nil) != want {
			t.Errorf("%s, which refuses 100; of any limits %d are refused: told %v", a.Answer.Limit, tools, a.Answer.Any != nil)
		}
	}
}

// What the rest says of an answer: it holds, it fails, or no client to protect is there.
func TestTake(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *Advice)
		hit    int64
		proof  Proof
		most   Percent
	}{
		"holds":        {func(*Advice) {}, 1, Holds, MostHit(100, 1)},
		"fails":        {func(*Advice) {}, 2, Fails, 0},
		"no one there": {func(a *Advice) { a.Parts[Rest] = new(Part) }, 0, Nothing, 0},
		"not tried":    {func(a *Advice) { a.Parts[Rest] = nil }, 0, NotTried, 0},
	} {
		a := picking(windowOf(limit.Minute, 9, 100))
		a.Answer.Broke = "before"
		c.change(a)
		a.take(&a.Suggestions[0], candidateOf(9, c.hit, 100))
		if n := &a.Answer; n.Proof != c.proof || n.MostHit != c.most || n.Broke != "before" || n.Of != &a.Suggestions[0] {
			t.Errorf("%s: %s, at most %s hit, broke %q", name, n.Proof, n.MostHit, n.Broke)
		}
	}
}

// Of each family of a server the smallest limit that was looked at and keeps the promise is chosen, whatever the curve said.
func TestSettle(t *testing.T) {
	a := picking()
	a.Own = []Suggestion{
		windowOf(1, 9, 50, candidateOf(7, 2, 0), candidateOf(8, 1, 0), candidateOf(9, 0, 0)), windowOf(2, 9, 50, candidateOf(7, 2, 0)),
		windowOf(3, 9, 50),
		{Why: TooLong, tries: []Candidate{candidateOf(1, 0, 0)}},
	}
	a.settle()
	for i, want := range []Why{Found, Broken, Broken, TooLong} {
		if a.Own[i].Why != want {
			t.Errorf("family %d: %d, want %d", i, a.Own[i].Why, want)
		}
	}
	if n := a.Own[0].Chosen.Limit; n != 8 {
		t.Errorf("%d is chosen", n)
	}
}

// An answer that breaks its promise on the rest or on the whole log, or refuses more than half of that, is given up;
// one that was chosen to hit no client is looked for again with more room.
func TestFailed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *Advice)
		failed bool
		broke  string
		room   int64
	}{
		"as it is":               {func(*Advice) {}, false, "", 0},
		"none":                   {func(a *Advice) { a.Answer.Of = nil }, false, "", 0},
		"a ceiling":              {func(a *Advice) { a.Ceilings = ceilings(); a.Answer.Proof = Fails }, false, "", 0},
		"fails on the rest":      {func(a *Advice) { a.Answer.Proof = Fails }, true, "x", 0},
		"hits too many of all":   {func(a *Advice) { a.Answer.Whole.Hit[who.Person] = 2 }, true, "x", 0},
		"hits as many as it may": {func(a *Advice) { a.Answer.Whole.Hit[who.Person] = 1 }, false, "", 0},
		"stops little":           {func(a *Advice) { a.Answer.Whole.Refused[who.Program] = 1 }, true, "", 0},
		"loose, and hits one":    {func(a *Advice) { a.Answer.loose, a.Answer.Whole.Hit[who.Person] = true, 1 }, true, "", 25},
		"loose, and stops little": {func(a *Advice) {
			a.Answer.loose, a.Answer.Whole.Refused[who.Program] = true, 1
		}, false, "", 0},
		"half of the log":         {func(a *Advice) { a.Answer.Whole.Refused[who.Program] = 550 }, false, "", 0},
		"more than half":          {func(a *Advice) { a.Answer.Whole.Refused[who.Program] = 551 }, true, "", 0},
		"more than half, loose":   {func(a *Advice) { a.Answer.loose, a.Answer.Whole.Refused[who.Program] = true, 551 }, true, "", 25},
		"half of an action alone": {func(a *Advice) { a.Action, a.Answer.Whole.Refused[who.Program] = "/x", 551 }, false, "", 0},
	} {
		s := windowOf(limit.Minute, 9, 100, candidateOf(9, 0, 100), candidateOf(12, 0, 90))
		a := picking()
		a.Whole.Requests = who.Groups{who.Person: 100, who.Program: 1000}
		a.Answer = Answer{Limit: "x", Of: &s, Chosen: s.Chosen, Proof: Holds, Whole: candidateOf(9, 0, 100).On[First]}
		a.Answer.Whole.Refused[who.Program] = 100
		c.change(a)
		if got := a.failed(); got != c.failed || a.Answer.Broke != c.broke || a.room != c.room {
			t.Errorf("%s: failed %v, broke %q, room %d", name, got, a.Answer.Broke, a.room)
		}
		if looser := a.Answer.Limit == "window:12/1m"; looser != (name == "more than half") {
			t.Errorf("%s: %q", name, a.Answer.Limit)
		}
		a.Answer.Of = nil
		if capped := a.AllCapped(); capped != (name == "more than half") {
			t.Errorf("%s: without an answer, that it refuses too much is why: %v", name, capped)
		}
	}
}
