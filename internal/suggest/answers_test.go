package suggest_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/findings"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/limit/limittest"
)

// TestAnswers tells all that an advisor finds out about some scenes: each has a text in testdata/answers, which -update
// rewrites.
func TestAnswers(t *testing.T) {
	guesser := func(s *scene, from, to time.Duration) {
		s.machine("192.0.2.66", "Go-http-client/1.1", "POST /login", 401, from, to, 3*time.Second)
	}
	logIn := func(s *scene, people int) {
		for i := range people {
			at := time.Duration(s.Int64N(int64(4 * time.Hour)))
			for try := range 1 + s.IntN(3) {
				s.send(at+time.Duration(try)*9*time.Second, fmt.Sprintf("81.20.0.%d", i), "POST /login", 401-199*(try&1), "https://shop.example/login", firefox)
			}
		}
	}
	for name, c := range map[string]struct {
		plant func(s *scene)
		ask   func(a *suggest.Advisor)
	}{
		"any": {func(s *scene) { s.shop(60) }, func(a *suggest.Advisor) {
			a.Goals[0].Percent, a.Explore, a.AllKeys, a.Keys = 90_000_000, true, true, []request.Key{request.ByClient, request.ByClientAction, request.BySite, request.ByClientAgent, request.ByClient24}
		}},
		"nginx":        {func(s *scene) { s.shop(90) }, func(a *suggest.Advisor) { a.Explore = true; onServer(a, "nginx") }},
		"haproxy-band": {func(s *scene) { s.shop(80) }, func(a *suggest.Advisor) { a.Band = true; a.Explore = true; onServer(a, "haproxy") }},
		"envoy-more":   {func(s *scene) { s.shop(60) }, func(a *suggest.Advisor) { a.Scale = scaled("1.5"); onServer(a, "envoy-local") }},
		"no-rest":      {func(s *scene) { s.shop(60) }, func(a *suggest.Advisor) { a.HeldOut = 0; a.Scale = scaled("3") }},
		"each-action":  {func(s *scene) { s.shop(60); logIn(s, 6); guesser(s, 0, 3*time.Hour) }, func(a *suggest.Advisor) { a.EachAction = true }},
		"few-log-in": {func(s *scene) { s.shop(40); logIn(s, 9); guesser(s, time.Hour, 3*time.Hour) }, func(a *suggest.Advisor) {
			a.Action = "/login"
			onServer(a, "nginx")
		}},
		"only-guesses": {func(s *scene) { s.shop(40); guesser(s, 10*time.Minute, 3*time.Hour) }, func(a *suggest.Advisor) { a.Action = "/login" }},
		"broken-later": {func(s *scene) {
			s.shop(50)
			s.people(30, 210*time.Minute, 4*time.Hour)
			s.machine("81.20.9.9", firefox, "GET /static/#.css", 200, 215*time.Minute, 216*time.Minute, 700*time.Millisecond)
			s.send(214*time.Minute, "81.20.9.9", "GET /page/1", 200, "-", firefox)
		}, func(a *suggest.Advisor) {}},
		"half-of-all": {
			func(s *scene) {
				s.people(60, 0, 4*time.Hour)
				s.machine("192.0.2.9", curl, "GET /page/#", 200, 0, 4*time.Hour, 2*time.Second)
			},
			func(a *suggest.Advisor) {},
		},
		"half-on-nginx": {
			func(s *scene) {
				s.people(60, 0, 4*time.Hour)
				s.machine("192.0.2.9", curl, "GET /page/#", 200, 0, 4*time.Hour, 2*time.Second)
			},
			func(a *suggest.Advisor) { onServer(a, "nginx") },
		},
		"everybody": {func(s *scene) { s.shop(60) }, func(a *suggest.Advisor) {
			a.Goals, a.Target = suggest.GoalsOf(findings.API), suggest.TargetOf(findings.API)
			a.Stated, a.Short = true, true
		}},
		"one-person": {func(s *scene) {
			s.people(1, 0, time.Hour)
			s.machine("192.0.2.9", curl, "GET /", 200, 0, time.Hour, 5*time.Second)
			s.machine("192.0.2.10", "curl/7", "GET /", 200, time.Hour, 2*time.Hour, 50*time.Second)
		}, func(a *suggest.Advisor) { a.Explore, a.Stated = true, true; a.Shapes.Rates = a.Shapes.Rates[:1] }},
		"alike": {func(s *scene) {
			s.people(50, 0, 4*time.Hour)
			for i := range 40 {
				s.machine(fmt.Sprintf("192.0.2.%d", i), curl, "GET /page/#", 200, time.Duration(i)*5*time.Minute, time.Duration(i)*5*time.Minute+time.Minute, 15*time.Second)
			}
		}, func(a *suggest.Advisor) {
			a.Keys = []request.Key{request.ByClientAgent, request.ByClientAction, request.BySite}
		}},
		"no-target": {func(s *scene) { s.people(60, 0, 4*time.Hour) }, func(a *suggest.Advisor) {}},
		"nobody":    {func(s *scene) { s.machine("192.0.2.9", curl, "GET /", 200, 0, time.Hour, 5*time.Second) }, func(a *suggest.Advisor) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scene{Rand: testneeds.Rand(t, 1, 37)}
			c.plant(s)
			a := s.advisor(t)
			c.ask(a)
			again, passes := a.Again, 1 // the survey
			a.Again = func(do func(*traffic.Batch) error) error { passes++; return again(do) }
			check(t, a.Survey())
			answers, err := a.Advise(t.Context())
			check(t, err)
			var text teller
			text.say("%d passes", passes)
			for _, answer := range answers {
				text.advice(answer)
			}
			golden(t, filepath.Join("testdata/answers", name+".txt"), text.String())
		})
	}
}

// With room for the states of few limits there are more passes, and the same answers.
func TestAnswersInManyPasses(t *testing.T) {
	for _, server := range []string{"nginx", "traefik"} {
		s := &scene{Rand: testneeds.Rand(t, 2, 37)}
		s.shop(30)
		text := func() string {
			a := s.advisor(t)
			a.Explore = true
			onServer(a, server)
			check(t, a.Survey())
			answers, err := a.Advise(t.Context())
			check(t, err)
			var text teller
			text.advice(answers[0])
			return text.String()
		}
		few := text()
		restore := suggest.LessRoom()
		many := text()
		if restore(); many != few {
			t.Errorf("%s: in few passes:\n%.3000s\nin many:\n%.3000s", server, few, many)
		}
	}
}

// golden compares a text with a file, unless scenes have another seed.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if os.Getenv(testneeds.SeedVariable) == "" {
		limittest.Golden(t, file, text)
	}
}

func scaled(text string) suggest.Scale {
	s, err := suggest.ParseScale(text)
	if err != nil {
		panic(err)
	}
	return s
}

// onServer asks for limits of a server, of some of its families.
func onServer(a *suggest.Advisor, name string) {
	server, err := servers.Named(name)
	if err != nil {
		panic(err)
	}
	a.Server = suggest.MarketOf(server, func(s sweep.Shape) bool {
		return s.Rate.Count <= 10 && s.Rate.Count%3 != 0 || s.Kind != sweep.Token && s.Per >= 10*limit.Second
	})
	a.Shapes.Rates, a.Shapes.Periods = nil, nil
	for _, s := range a.Server.Shapes() {
		if s.Kind == sweep.Token {
			a.Shapes.Rates = append(a.Shapes.Rates, s.Rate)
		} else {
			a.Shapes.Periods = append(a.Shapes.Periods, s.Per)
		}
	}
	if len(a.Shapes.Rates) == 0 {
		a.Shapes.Rates = []sweep.Rate{{Count: 10, Per: limit.Minute}}
	} else {
		a.Shapes.Periods = []limit.Time{limit.Minute}
	}
}

// A teller puts advice into words.
type teller struct{ strings.Builder }

func (w *teller) say(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *teller) advice(a *suggest.Advice) {
	w.say("== action %q: protect %v, refuse %s", a.Action, a.Goals, a.Target)
	for i, p := range a.Parts {
		if p != nil {
			w.say("part %d from %s to %s: clients %s; requests %s", i, clock(p.First), clock(p.Last), groups(p.Clients), groups(p.Requests))
		}
	}
	w.say("page loads %+v; targets in reach %+v", a.Loads, *a.Reach)
	for i := range a.ByKey {
		w.say("  by %s %+v", a.ByKey[i].Key, a.ByKey[i].Reach)
	}
	if k := a.Might(); k != nil {
		w.say("  so by %s", k.Key)
	}
	for i, some := range [][]suggest.Suggestion{a.Suggestions, a.Looser, a.Own} {
		for k := range some {
			w.suggestion([]string{"", "looser ", "own "}[i], a, &some[k])
		}
	}
	for _, s := range a.BestOfAll() {
		w.say("best %s", s.Shape.Limit(s.Chosen.Limit))
	}
	w.answer(a)
	if a.Explored != nil {
		w.exploration(a)
	}
}

var (
	whys     = []string{"found", "too long", "nobody", "broken", "too few", "slow to forget", "below the pace"}
	becauses = []string{
		"separates", "overlaps", "no target", "no one there", "failed later", "spares all", "nothing keeps", "few to protect",
		"near refused", "no people", "few log in", "forbidden",
	}
)

func (w *teller) suggestion(what string, a *suggest.Advice, s *suggest.Suggestion) {
	w.say("%s%s %s: %s", what, s.Kind, cmp.Or(s.PerText(), s.RateText()), whys[s.Why])
	if s.Why != suggest.Found {
		return
	}
	text, ok := a.Text(s, s.Chosen.Limit)
	w.say("  %s %v, on the rest it %s", text, ok, s.Proof)
	w.candidate("chosen", &s.Chosen)
	for i := range s.Others {
		w.candidate("other", &s.Others[i])
	}
	if s.Knee.Limit > 0 {
		w.candidate("knee", &s.Knee)
	}
}

func (w *teller) candidate(what string, c *suggest.Candidate) {
	w.say("  %s %d: %s | %s | %s", what, c.Limit, figures(&c.On[0]), figures(&c.On[1]), figures(&c.On[2]))
}

func (w *teller) answer(a *suggest.Advice) {
	n := &a.Answer
	w.say("answer: %s, since it %s: %q, on the rest it %s, hits at most %s; broke %q", n.Verdict, becauses[n.Because], n.Limit, n.Proof, n.MostHit, n.Broke)
	if n.Of != nil {
		w.candidate("is", &n.Chosen)
	}
	if n.Any != nil {
		w.say("  other servers have %s", n.Any.Shape.Limit(n.Any.Chosen.Limit))
	}
	w.say("whole: clients %s; requests %s; %q refuses %s", groups(a.Whole.Groups), groups(a.Whole.Requests), a.Whole.Limit, figures(&a.Whole.Answer))
	w.say("at risk: %s; on the rest %s", groups(a.Whole.AtRisk), groups(a.Whole.Late))
	for _, m := range a.Whole.Most {
		w.say("  refused most: %s %d", a.Whole.Tables.Clients.Name(m.Client), m.Refused)
	}
	if h, found := a.Whole.Heaviest(); found {
		w.say("  who is %s?", a.Whole.Tables.Clients.Name(h.Client))
	}
	for _, c := range a.Whole.Crawlers {
		w.say("  crawler %+v", c)
	}
	for _, m := range a.Whole.Works {
		w.say("  monitor %s %d", a.Whole.Tables.Clients.Name(m.Client), m.Refused)
	}
	for i := range a.Ceilings {
		w.say("  ceiling %s refuses %s", a.Ceilings[i].Limit(), figures(&a.Ceilings[i].Whole))
	}
}

func (w *teller) exploration(a *suggest.Advice) {
	e := a.Explored
	shape, stop := a.Shown()
	w.say("explored for %v, shown is stop %d of shape %d, left %d", e.Percents, stop, shape, e.Left)
	for i := range e.Shapes {
		s := &e.Shapes[i]
		w.say("%s %s, own %v, keeps %v", s.Kind, s.Name(), s.Own, s.Keeps)
		for k := range s.Stops {
			text, ok := s.Text(a.Scale, s.Stops[k].N)
			w.say("  %s %v: %s", text, ok, figures(&s.Stops[k].Figures))
		}
		for _, l := range s.Listed {
			w.say("  %s needs %d: %v", e.Clients[l.Client].Name, l.Need, l.Refused)
		}
	}
	for _, c := range e.Clients {
		w.say("client %s is of %s, sent %d: %.40s", c.Name, c.Group, c.Requests, c.Agent)
	}
}

// figures are requests refused of clients hit, by group.
func figures(f *suggest.Figures) string {
	var texts []string
	for g := range who.Count {
		if f.Hit[g] > 0 || f.Refused[g] > 0 {
			texts = append(texts, fmt.Sprintf("%s %d of %d", g, f.Refused[g], f.Hit[g]))
		}
	}
	if !f.Counted {
		texts = append(texts, "not counted")
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

func groups(n who.Groups) string {
	var texts []string
	for g := range who.Count {
		if n[g] > 0 {
			texts = append(texts, fmt.Sprintf("%s %d", g, n[g]))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

func clock(at limit.Time) string { return time.UnixMicro(int64(at)).UTC().Format("15:04:05") }
