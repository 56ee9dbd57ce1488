package pipeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/findings"
	"shadow/internal/suggest"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
)

// A settled answer is what suggest says of a planted log.
type settled struct {
	Verdict, Reason string
	Limit, Broke    *string
	Protects        struct {
		Clients int64
		Hit     int64 `json:"clients_hit"`
	}
	Targets struct {
		Requests, Refused int64
		RefusedPercent    float64 `json:"refused_percent"`
	}
	Exempt *struct {
		Requests, Clients int64
		Addresses         []string
		Pasted            bool
	}
	BrokeOn  *struct{ Client, Identity string } `json:"broke_on"`
	OfAction *struct {
		Action, Verdict   string
		Requests, Refused int64
	} `json:"of_action"`
	Paste   []struct{ Lines []string }
	Note    string
	Next    []string
	MostHit *float64                     `json:"most_hit_percent"`
	Allows  *struct{ Minute, Day int64 } `json:"allows"`
}

func answerOf(t *testing.T, plant func(p *planter)) (a settled, requests int64) {
	t.Helper()
	p := &planter{Rand: testneeds.Rand(t, 16, 3), people: map[string]bool{}}
	plant(p)
	return settle(t, &Suggest{}, p.write(t, "access.log"))
}

// settle asks about a log.
func settle(t *testing.T, s *Suggest, log string) (a settled, requests int64) {
	t.Helper()
	var out, errs bytes.Buffer
	var all struct {
		Answer settled
		Input  struct{ Requests int64 }
	}
	askJSON(t, func(l Logs) error {
		l.Reading = s.Reading
		s.Logs, s.Holdout, s.Band, s.Output = l, DefaultHoldout, true, "json"
		return s.Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &all)
	return all.Answer, all.Input.Requests
}

// hurry has a person look at far more pages than others do, late in the day.
func hurry(p *planter) {
	for range 30 {
		p.visit(address(81, 1<<12), webAgents[0], plantedDay-time.Hour+time.Duration(p.IntN(600))*time.Second)
	}
}

// Where guessers are spread so far that no limit for all requests stops much, the answer names one for the login, and says
// first how to ask for it.
func TestALimitForOneAction(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(400, plantedDay)
		p.logins(60)
		for i := range 40 {
			p.guesses(address(45, i), 300, p.spread(), 20*time.Second, func() string { return "python-requests/2.31.0" })
		}
	})
	o := a.OfAction
	if a.Verdict != "ceiling" && a.Verdict != "no_limit_can" || o == nil || o.Action != "/login" || 2*o.Refused < o.Requests || o.Verdict != "ceiling" {
		t.Fatalf("%s, %+v", a.Verdict, o)
	}
	if !strings.HasSuffix(a.Next[0], "access.log --action /login") {
		t.Errorf("next: %q", a.Next)
	}
}

// An answer that names an action for two reasons lists its command once.
func TestCommandsAreListedOnce(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(400, plantedDay)
		p.logins(60)
		for i := range 40 { // no network holds several
			p.guesses(fmt.Sprintf("45.%d.1.7", i), 16, p.spread(), 5*time.Second, func() string { return "python-requests/2.31.0" })
		}
	})
	if a.OfAction == nil || !strings.Contains(a.Reason, "ask for that action alone") || len(slices.Compact(slices.Sorted(slices.Values(a.Next)))) < len(a.Next) {
		t.Errorf("%+v: %s; next: %q", a.OfAction, a.Reason, a.Next)
	}
}

// A limit for one action that stopped something early only is better than one for all requests that stops nothing.
func TestALimitForOneActionThatIsOver(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(400, plantedDay)
		for i := range 200 {
			p.send(p.spread(), address(81, i), "POST", "/checkout/pay", 200, "https://shop.example/cart", webAgents[0])
		}
		for i := range 8 {
			p.machine(address(45, 1), scraper, "/checkout/pay", 200, time.Duration(i)*30*time.Minute, time.Minute, 0.5)
		}
	})
	o := a.OfAction
	if a.Verdict != "ceiling" && a.Verdict != "no_limit_can" || a.Targets.Refused > 0 || o == nil || o.Refused == 0 || !strings.HasPrefix(o.Action, "/checkout/") {
		t.Fatalf("%s, %+v, %+v", a.Verdict, a.Targets, o)
	}
}

// No limit for one action is better that refuses search engines, unless these are the target.
func TestNoBetterLimitRefusesSearchEngines(t *testing.T) {
	const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	p := &planter{Rand: testneeds.Rand(t, 16, 9), people: map[string]bool{}}
	p.visitors(400, plantedDay)
	p.logins(60)
	for i := range 40 {
		p.guesses(address(45, i), 300, p.spread(), 20*time.Second, func() string { return "python-requests/2.31.0" })
	}
	p.machine("66.249.66.1", googlebot, "/login", 200, 0, plantedDay, 0.05)
	log := p.write(t, "access.log")
	if a, _ := settle(t, &Suggest{}, log); a.OfAction != nil {
		t.Errorf("%+v refuses Googlebot", a.OfAction)
	}
	target := []who.Set{1<<who.Search | 1<<who.Attacker | 1<<who.Program}
	if a, _ := settle(t, &Suggest{Target: target}, log); a.OfAction == nil {
		t.Errorf("%s without a better limit", a.Verdict)
	}
}

// A limit that broke its promise gives way to one that hits no client. That one is worth deploying if it still refuses
// a share that matters, and not if everybody to protect may send as much as it admits.
func TestInPlaceOfALimitThatBroke(t *testing.T) {
	for name, c := range map[string]struct {
		verdict string
		scrape  func(p *planter)
	}{
		"a scraper all day long": {"deploy_unproven", func(p *planter) {
			p.machine(address(45, 1), scraper, "/page/%d", 200, 0, plantedDay, 0.8)
		}},
		"scrapers that hurry no more than that": {"no_limit_can", func(p *planter) {
			for i := range 10 {
				p.machine(address(45, i), scraper, "/page/%d", 200, time.Duration(i)*48*time.Minute, 13*time.Minute, 0.5)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := answerOf(t, func(p *planter) {
				p.visitors(400, plantedDay)
				c.scrape(p)
				hurry(p)
			})
			switch {
			case a.Verdict != c.verdict:
				t.Errorf("%+v, want %s", a, c.verdict)
			case c.verdict == "no_limit_can":
				if a.Limit != nil || len(a.Paste) > 0 {
					t.Errorf("%+v has a limit", a)
				}
			case a.Broke == nil || a.Limit == nil || *a.Broke == *a.Limit || a.Protects.Hit > 0 || a.MostHit == nil:
				t.Errorf("%+v", a)
			case a.BrokeOn == nil || a.BrokeOn.Identity != "person" || !strings.Contains(a.Reason, "("+a.BrokeOn.Client+", person: "):
				t.Errorf("broke on %+v: %s", a.BrokeOn, a.Reason)
			}
			if matters := a.Targets.RefusedPercent >= 5; matters != (c.verdict == "deploy_unproven") {
				t.Errorf("%s refuses %.1f %% of the target", a.Verdict, a.Targets.RefusedPercent)
			}
		})
	}
}

// No answer refuses more than half of the log. In the place of one that would, the smallest is taken that does not.
func TestNoMoreThanHalf(t *testing.T) {
	a, requests := answerOf(t, func(p *planter) {
		p.visitors(300, plantedDay)
		for i := range 3 {
			p.machine(address(45, i), scraper, "/page/%d", 200, 0, plantedDay, 1)
		}
	})
	if a.Verdict != "deploy_unproven" || 2*a.Targets.Refused > requests || 5*a.Targets.Refused < 2*requests || a.Protects.Hit > 0 {
		t.Errorf("%+v of %d requests, want a limit that refuses nearly half of them", a, requests)
	}
}

// The site's own work is no target, so no limit is found that stops it.
func TestOwnWorkIsNoTarget(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(300, plantedDay)
		p.machine(address(48, 1), "WordPress/6.4; https://shop.example", "/wp-cron.php", 200, 0, plantedDay, 1)
	})
	if a.Verdict == "deploy" || a.Targets.Requests > 1000 {
		t.Errorf("%+v, want nothing to stop", a)
	}
}

// What the limit would refuse of the site's own work is told, and the lines to paste exempt its address; so they do
// with one that was left out. Others who call themselves that are told of, and no more.
func TestOwnWorkIsExempt(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 16, 8), people: map[string]bool{}}
	p.visitors(300, plantedDay)
	p.scrapers(3, 4)
	p.machine(address(10, 1), "WordPress/6.4; https://shop.example", "/wp-cron.php", 200, 0, time.Hour, 6)
	p.machine(address(49, 1), "UptimeRobot/2.0", "/page/%d", 200, 0, time.Minute, 2)                     // too little for a finding
	p.machine(address(49, 2), "WordPress/6.4; https://shop.example", "/page/%d", 200, 0, time.Minute, 9) // names the site
	p.machine(address(49, 3), "Go-http-client/1.1", "/wp-cron.php", 200, 0, time.Minute, 9)              // floods it by its own work
	log := p.write(t, "access.log")
	for server, line := range map[string]string{
		"nginx":       "geo $perclient_exempt { default 0; 10.20.0.1 1; }",
		"haproxy":     "if !{ src 10.20.0.1 }",
		"envoy":       `{key: remote_address, value: "10.20.0.1", rate_limit: {unlimited: true}}`,
		"envoy-local": "# it exempts no address: give a route without it to 10.20.0.1",
		"traefik":     "# it exempts no address: give a router without it to 10.20.0.1",
		"caddy":       "not remote_ip 10.20.0.1",
		"any":         "",
	} {
		for _, exclude := range [][]string{nil, {"10.20.0.1", "/favicon.ico"}} {
			a, _ := settle(t, &Suggest{For: server, Logs: Logs{Source: Source{Reading: Reading{Exclude: exclude}}}}, log)
			e := a.Exempt
			if e == nil || !slices.Equal(e.Addresses, []string{"10.20.0.1"}) || e.Pasted != (server != "any" && line[0] != '#') {
				t.Errorf("%s: %+v is exempt of %s", server, e, *a.Limit)
				continue
			}
			if exclude == nil && (e.Requests < 100 || e.Clients < 2 || e.Clients > 3) {
				t.Errorf("%s: %+v is exempt", server, e)
			}
			what := "(/favicon.ico): with it, "
			if server != "any" && line[0] == '#' {
				what = "(10.20.0.1, /favicon.ico): with it, "
			}
			if told := strings.Contains(a.Note, what); told != (exclude != nil && server != "any") {
				t.Errorf("%s: what is left out is told %t: %s", server, told, a.Note)
			}
			if replayed := strings.Contains(strings.Join(a.Next, "\n"), "--exclude 10.20.0.1"); exclude == nil && replayed != e.Pasted {
				t.Errorf("%s: next is %q", server, a.Next)
			}
			text := fmt.Sprint(a.Paste)
			if !strings.Contains(text, line) || strings.Contains(text, "49.20.0.") {
				t.Errorf("%s: no %q in %s", server, line, text)
			}
		}
	}
	if a, _ := settle(t, &Suggest{Target: []who.Set{who.Everybody}}, log); a.Exempt != nil {
		t.Errorf("%+v is exempt, though all are the target", a.Exempt)
	}
}

// A limit that hits none of a few visitors is a safety net, however much it stops.
func TestFewToProtect(t *testing.T) {
	a, _ := answerOf(t, func(p *planter) {
		p.visitors(8, plantedDay)
		for i := range 40 {
			p.machine(address(45, i), scraper, "/backup/%d", 404, time.Duration(i)*10*time.Minute, 10*time.Minute, 0.5)
		}
	})
	if a.Verdict != "ceiling" || a.Protects.Hit > 0 || a.Targets.RefusedPercent < 5 ||
		!strings.HasSuffix(a.Reason, "to be 95 % sure of at most 10 %") {
		t.Errorf("%+v, want a safety net", a)
	}
}

// Where a few people log in, and an attacker guesses passwords, the answer goes by the guesses that it leaves.
func TestFewLogIn(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 16, 6), people: map[string]bool{}}
	p.visitors(300, plantedDay)
	for i := range 12 {
		for try := range 1 + i%7 { // one needs seven tries
			p.send(time.Duration(i)*40*time.Minute+time.Duration(try)*8*time.Second, address(81, i), "POST", "/login", 401,
				"https://shop.example/login", webAgents[0])
		}
	}
	p.machine(address(46, 1), scraper, "/login", 401, 0, plantedDay, 1) // most of the log
	log := p.write(t, "access.log")
	for server, most := range map[string]int64{ // Traefik forgets a guesser, and 12 an hour would be too few
		"nginx": 1450, "caddy": 1000, "haproxy": 1000, "traefik": 6500, "envoy": 1000, "any": 1000,
	} {
		a, _ := settle(t, &Suggest{Action: "login", For: server}, log)
		if a.Verdict != "deploy_unproven" || a.Protects.Clients != 12 || a.Protects.Hit > 0 || a.Targets.RefusedPercent < 90 ||
			!strings.Contains(a.Reason, "12 protected clients log in here, and none is hit, so it goes by the guesses") {
			t.Errorf("%s: %+v, want a limit by its guesses", server, a)
		}
		if a.Allows.Minute < 5 || a.Allows.Day > most {
			t.Errorf("%s: %s leaves %+v guesses", server, *a.Limit, a.Allows)
		}
	}
	stated, _ := settle(t, &Suggest{Action: "login", Protect: suggest.GoalsOf(findings.People)}, log)
	if strings.Contains(stated.Reason, "guesses") {
		t.Errorf("%+v, but the promise was stated", stated)
	}
}

// A deployed limit keeps the promise of each action: however many of ten broke it at first.
func TestEachActionKeepsThePromise(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 16, 7), people: map[string]bool{}}
	p.visitors(300, plantedDay)
	for action := range 9 {
		path := fmt.Sprintf("/%c/%%d", 'a'+action)
		for i := range 150 {
			p.send(time.Duration(p.Int64N(int64(plantedDay))), address(81, i), "GET", fmt.Sprintf(path, i), 200, "https://shop.example/", webAgents[0])
		}
		for i := range 20 {
			p.machine(address(45, i), scraper, path, 200, time.Duration(i)*24*time.Minute, 20*time.Minute, 0.02)
		}
		hurries := plantedDay - time.Hour + time.Duration(action)*time.Minute
		for i := range 8 {
			p.send(hurries+time.Duration(i)*4*time.Second, address(81, 200+action), "GET", fmt.Sprintf(path, i), 200, "https://shop.example/", webAgents[0])
		}
	}
	var out, errs bytes.Buffer
	var all struct{ Answers []struct{ Answer settled } }
	askJSON(t, func(l Logs) error {
		s := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json", EachAction: true}
		return s.Run(t.Context(), []string{p.write(t, "access.log")})
	}, Logs{Caller: called(&out, &errs)}, &out, &all)
	if len(all.Answers) != suggest.MostActions {
		t.Fatalf("%d answers", len(all.Answers))
	}
	broke := 0
	for _, of := range all.Answers {
		a := of.Answer
		if a.Broke != nil {
			broke++
		}
		if a.Protects.Hit*1000 > a.Protects.Clients || a.Verdict == "deploy" && (a.MostHit == nil || *a.MostHit > 10 || a.Targets.RefusedPercent < 5) {
			t.Errorf("%+v breaks the promise", a)
		}
	}
	if broke < 7 {
		t.Errorf("%d limits broke their promise at first, which tests little", broke)
	}
}

// All that the finding attacker names are no people, whatever they claim: no answer protects them, and replay, keys and
// explain say so too.
func TestAttackersAreNotProtected(t *testing.T) {
	p := &planter{Rand: testneeds.Rand(t, 16, 5), people: map[string]bool{}}
	p.visitors(300, plantedDay)
	const attackers = 60
	for i := range attackers {
		at := time.Duration(p.Int64N(int64(plantedDay - time.Hour)))
		for range 40 { // each comes from the form, as browsers do
			p.send(at, address(83, i), "POST", "/login", 200, "https://shop.example/login", webAgents[0])
			at += time.Duration(p.IntN(1000)) * time.Millisecond
		}
	}
	log := p.write(t, "access.log")
	a, _ := settle(t, &Suggest{}, log)
	if n := a.Protects.Clients; n > 300 || n < 295 || a.Targets.Requests < attackers*40 { // evidence takes a few for bots
		t.Errorf("%+v, want 300 protected and %d requests of the target", a, attackers*40)
	}
	var out, errs bytes.Buffer
	var found struct {
		Policies []struct {
			ByIdentity map[string]struct{ Clients int64 } `json:"by_identity"`
		}
	}
	askJSON(t, func(l Logs) error {
		r := Replay{Logs: l, Choice: Choice{Limits: []string{*a.Limit}}, Look: Look{Output: "json"}, Keeping: Keeping{NoStore: true}}
		return r.Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &found)
	by := found.Policies[0].ByIdentity
	if n := by["people"].Clients + by["offices"].Clients + by["undecided"].Clients; n != a.Protects.Clients || by["attackers"].Clients != attackers {
		t.Errorf("replay has %+v, want %d people", by, a.Protects.Clients)
	}
	out.Reset()
	var keys struct {
		Stop   struct{ Requests int64 }
		Bounds struct {
			Keys []struct {
				OfRequests int64 `json:"of_requests"`
			}
		}
	}
	askJSON(t, func(l Logs) error {
		return (&Keys{Logs: l, Refuse: []float64{80}, Output: "json"}).Run(t.Context(), []string{log})
	}, Logs{Caller: called(&out, &errs)}, &out, &keys)
	if n := keys.Bounds.Keys[0].OfRequests; n != a.Targets.Requests || keys.Stop.Requests < n {
		t.Errorf("keys has a target of %d requests, and of %d in its bounds", keys.Stop.Requests, n)
	}
}
