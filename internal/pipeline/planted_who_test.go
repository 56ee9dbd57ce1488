package pipeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// Logs with clients that are easily taken for others: the site's own work, customers with odd devices, visitors of a page
// whose pictures are missing, guessers in disguise.

const (
	oldAgent  = "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/49.0.2623.112 Safari/537.36"
	ownServer = "203.0.113.80"
)

// spread is a moment of the day.
func (p *planter) spread() time.Duration {
	return time.Duration(p.Int64N(int64(plantedDay - time.Hour)))
}

// guesses are tries to log in that fail.
func (p *planter) guesses(client string, n int, at, gap time.Duration, agent func() string) {
	for range n {
		p.send(at, client, "POST", "/login", 401, "-", agent())
		at += time.Duration(p.ExpFloat64() * float64(gap))
	}
}

// A limit for the login alone is better than one for all requests where people are behind a guesser's address.
func TestALimitBesidePeople(t *testing.T) {
	for beside := range 2 {
		a, _ := answerOf(t, func(p *planter) {
			p.visitors(400, plantedDay)
			for range 60 * beside {
				p.visit(address(45, 1), webAgents[p.IntN(3)], p.spread())
			}
			p.guesses(address(45, 1), 3000, 0, 3*time.Second, func() string { return "python-requests/2.31.0" })
		})
		better := a.OfAction != nil && a.OfAction.Action == "/login" && a.OfAction.Refused > a.Targets.Refused && strings.HasSuffix(a.Next[0], "--action /login")
		if a.Limit == nil || better != (beside == 1) {
			t.Errorf("%d people beside: %s, %+v, %+v, %q", 60*beside, a.Verdict, a.Targets, a.OfAction, a.Next)
		}
	}
}

// logs people in: most at the first try.
func (p *planter) logins(n int) {
	for i := range n {
		client, agent, at := address(81, i), webAgents[p.IntN(len(webAgents))], p.spread()
		p.people[client] = true
		for range p.IntN(3) {
			p.send(at, client, "POST", "/login", 401, "https://shop.example/login", agent)
			at += time.Duration(5+p.IntN(20)) * time.Second
		}
		p.send(at, client, "POST", "/login", 302, "https://shop.example/login", agent)
	}
}

// customers are keys or programs of an API, each at its own pace.
func (p *planter) customers(n int, from int, agent string) {
	for i := range n {
		p.machine(address(from, i), agent, "/api/items/%d", 200, 0, plantedDay, 0.01+0.02*p.Float64())
	}
}

// mistaken are kinds of logs, with the verdicts that are right.
var mistaken = []struct {
	name  string
	plant func(p *planter)
	right string
}{
	{"own optimiser", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		p.machine(ownServer, "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36 mod_pagespeed/1.13.35.2-0", "/page/%d", 200, 0, plantedDay, 1)
	}, "deploy"},
	{"own cron in a folder", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		for at := time.Duration(0); at < plantedDay; at += time.Duration(2+p.IntN(20)) * time.Second {
			p.send(at, ownServer, "POST", fmt.Sprintf("/blog/wp-cron.php?doing_wp_cron=%d", p.IntN(1<<30)), 200, "-", "WordPress/6.4.2; https://shop.example/blog")
		}
	}, "deploy"},
	{"cache warmer", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		for hour := range 8 {
			at := time.Duration(hour) * time.Hour
			p.send(at, ownServer, "GET", "/sitemap.xml", 200, "-", "WP Rocket/Preload")
			for page := range 400 {
				at += time.Duration(300+p.IntN(900)) * time.Millisecond
				p.send(at, ownServer, "GET", fmt.Sprintf("/page/%d", page), 200, "-", "WP Rocket/Preload")
			}
		}
	}, "deploy"},
	{"monitor on any page", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		page, every := fmt.Sprintf("/page/%d", p.IntN(400)), time.Duration(10+10*p.IntN(6))*time.Second
		for at := time.Duration(p.IntN(10)) * time.Second; at < plantedDay; at += every {
			p.send(at+time.Duration(p.IntN(900))*time.Millisecond, ownServer, "GET", page, 200, "-", webAgents[1])
		}
	}, "deploy"},
	{"inner services", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 3 {
			p.machine(fmt.Sprintf("10.0.3.%d", 7+i), "go-http-client/1.1", "/internal/stock/%d", 200, 0, plantedDay, 0.5)
		}
	}, "not_judgeable"},
	{"proxy at slow tempo", func(p *planter) {
		p.visitors(60, plantedDay)
		for i := range 250 + p.IntN(100) {
			system := []string{"X11; Linux x86_64", "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "Linux; Android 15; K"}[i/5%4]
			agent := fmt.Sprintf([]string{
				"Mozilla/5.0 (%s; rv:145.0) Gecko/20100101 Firefox/145.0",
				"Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
				"Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0",
				"Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0",
				"Mozilla/5.0 (%s) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
			}[i%5], system)
			p.visit("198.51.100.200", agent, time.Duration(i)*plantedDay/360)
		}
	}, "not_judgeable"},
	{"editor", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		p.people[address(84, 1)] = true
		for session := range 3 {
			at := time.Duration(session)*2*time.Hour + time.Duration(p.IntN(1800))*time.Second
			p.visit(address(84, 1), webAgents[0], at)
			for post := range 20 + p.IntN(20) {
				at += time.Duration(20+p.IntN(120)) * time.Second
				edit := fmt.Sprintf("/wp-admin/post.php?post=%d&action=edit", post)
				p.send(at, address(84, 1), "GET", edit, 200, "https://shop.example/wp-admin/edit.php", webAgents[0])
				for file := range 6 {
					p.send(at+time.Duration(p.IntN(900))*time.Millisecond, address(84, 1), "GET", fmt.Sprintf("/wp-includes/js/%d.js", file), 200, "https://shop.example"+edit, webAgents[0])
				}
				p.send(at+time.Second, address(84, 1), "POST", "/wp-admin/admin-ajax.php", 200, "https://shop.example"+edit, webAgents[0])
			}
		}
	}, "deploy"},
	{"missing images", func(p *planter) {
		for i := range 300 + p.IntN(100) {
			client, agent, at := address(81, i), webAgents[p.IntN(len(webAgents))], p.spread()
			p.people[client] = true
			from := "https://www.example.org/"
			for range 2 + p.IntN(6) {
				page := fmt.Sprintf("/page/%d", p.IntN(400))
				p.send(at, client, "GET", page, 200, from, agent)
				from = "https://shop.example" + page
				for file := range 12 {
					status := 404
					if file == 0 {
						status = 200
					}
					p.send(at+time.Duration(200+p.IntN(1500))*time.Millisecond, client, "GET", fmt.Sprintf("/static/%d.png", file), status, from, agent)
				}
				p.send(at+time.Second, client, "GET", "/favicon.ico", 404, from, agent)
				at += time.Duration(10+p.IntN(60)) * time.Second
			}
		}
		p.scrapers(3, 2+2*p.Float64())
	}, "deploy"},
	{"a login endpoint alone", func(p *planter) {
		p.logins(150 + p.IntN(50))
		for i := range 2 {
			p.guesses(address(46, i), 800, 0, 30*time.Second, func() string { return scraper })
		}
	}, "deploy"},
	{"guesses from 500 addresses", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 500 {
			p.guesses(address(46, i), 2+p.IntN(6), p.spread(), 5*time.Minute, func() string { return webAgents[1] })
		}
	}, "ceiling no_limit_can"},
	{"guessers with agents that rotate", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 7 {
			p.guesses(address(46, i), 150+p.IntN(100), p.spread(), 8*time.Second, func() string {
				return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:%d.0) Gecko/20100101 Firefox/%d.0", 60+p.IntN(80), 60+p.IntN(80))
			})
		}
	}, "ceiling deploy"},
	{"a crowd with one agent", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		for i := range 5000 {
			p.send(p.spread(), address(100+i>>12, i), "GET", fmt.Sprintf("/page/%d", p.IntN(400)), 200, "-", oldAgent)
		}
	}, "ceiling no_limit_can"},
	{"a device after an outage", func(p *planter) {
		p.customers(200+p.IntN(50), 93, "tracker/2.1 (esp32)")
		at := 3 * time.Hour
		for range 886 {
			p.send(at, address(93, 1), "POST", "/api/positions", 201, "-", "tracker/2.1 (esp32)")
			at += time.Duration(50+p.IntN(150)) * time.Millisecond
		}
	}, "ceiling no_limit_can deploy"},
	{"a developer beside his own API's errors", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		dev := address(84, 2)
		p.people[dev] = true
		p.send(time.Hour, dev, "GET", "/robots.txt", 200, "-", webAgents[2])
		for range 6 {
			p.visit(dev, webAgents[2], p.spread())
		}
		for range 40 {
			at := p.spread()
			p.send(at, dev, "OPTIONS", "/api/v2/cart", 405, "https://shop.example/cart", webAgents[2])
			p.send(at+time.Second, dev, "POST", "/api/v2/cart", 403, "https://shop.example/cart", webAgents[2])
		}
	}, "deploy"},
	{"no agents at all", func(p *planter) {
		p.visitors(300+p.IntN(100), plantedDay)
		p.guesses(address(46, 1), 2000, 0, 10*time.Second, func() string { return scraper })
		for i := range p.requests {
			request, rest, _ := strings.Cut(p.requests[i].line, ` HTTP/1.1" `)
			answer, _, _ := strings.Cut(rest, ` "`)
			p.requests[i].line = request + ` HTTP/1.1" ` + answer + "\n"
		}
	}, "ceiling deploy"},
	{"a stray line and holes", func(p *planter) {
		p.visitors(400+p.IntN(100), plantedDay)
		p.scrapers(3, 2+2*p.Float64())
		for i := range p.requests {
			if p.requests[i].at > plantedDay/2 {
				p.requests[i].at += 9 * 24 * time.Hour
			}
		}
		p.send(-3*365*24*time.Hour, address(81, 0), "GET", "/page/1", 200, "-", webAgents[0])
	}, "deploy"},
	{"62 API keys of which one is heavy", func(p *planter) {
		p.customers(61, 93, "acme-client/1.4")
		for hour := range 8 {
			p.machine(address(92, 1), "go-http-client/2.0", "/api/items/%d", 200, time.Duration(hour)*time.Hour, 6*time.Minute, 3)
		}
	}, "deploy"},
}

// TestMistaken wants the right verdict on 95 of 100 logs, no person and no own work among the three that its limit
// refuses most, and the promise to those at risk kept on fresh traffic of the same kind. Of each kind it takes clients
// that were planted as people for people, or for undecided, and no others, up to 5 %.
func TestMistaken(t *testing.T) {
	each, rng := testneeds.Draws(4, 20), testneeds.Rand(t, 38, 1)
	all, right, promised, kept := 0, 0, 0, 0
	for _, kind := range mistaken {
		known, people := 0, 0
		for range each {
			plant := func(a, b uint64) *planter {
				p := &planter{Rand: testneeds.Rand(t, a, b), people: map[string]bool{}}
				kind.plant(p)
				return p
			}
			p, fresh := plant(rng.Uint64(), rng.Uint64()), plant(rng.Uint64(), rng.Uint64())
			var out, errs bytes.Buffer
			var a struct {
				Input struct {
					Identities map[string]struct{ Clients int }
				}
				Answer struct {
					Verdict, Reason string
					Limit           *string
					AtRisk          struct {
						AtOnce  int      `json:"at_once"`
						MostHit *float64 `json:"most_hit_percent"`
					} `json:"at_risk"`
					Most []struct{ Client, Identity string } `json:"refused_most"`
				}
			}
			log := p.write(t, "access.log")
			askJSON(t, func(l Logs) error {
				s := Suggest{Logs: l, Holdout: DefaultHoldout, Band: true, Output: "json"}
				return s.Run(t.Context(), []string{log})
			}, Logs{Caller: called(&out, &errs)}, &out, &a)
			all++
			n := &a.Answer
			ok := slices.Contains(strings.Fields(kind.right), strings.TrimSuffix(n.Verdict, "_unproven"))
			for _, c := range n.Most {
				ok = ok && !p.people[c.Client] && c.Client != ownServer
			}
			if ok {
				right++
			} else {
				t.Logf("%s: %s (%s), refuses %v most", kind.name, n.Verdict, n.Reason, n.Most)
			}
			by := a.Input.Identities
			known += by["people"].Clients + by["offices"].Clients + by["undecided"].Clients
			people += len(p.people)
			if n.Limit == nil || len(p.people) == 0 || n.AtRisk.MostHit == nil {
				continue
			}
			promised++
			risk := 0
			for _, sent := range fresh.sent() {
				if sent > n.AtRisk.AtOnce {
					risk++
				}
			}
			if hit := peopleHit(t, fresh.write(t, "fresh.log"), *n.Limit, fresh.people); float64(hit)*100 <= *n.AtRisk.MostHit*float64(risk) {
				kept++
			} else {
				t.Logf("%s: %s hits %d of %d people at risk, %.2f %% at most were said", kind.name, *n.Limit, hit, risk, *n.AtRisk.MostHit)
			}
		}
		if off := known - people; off*off*400 > people*people {
			t.Errorf("%s: %d people, offices and undecided, %d were planted", kind.name, known, people)
		}
	}
	t.Logf("%d of %d answers are right, %d of %d promises kept", right, all, kept, promised)
	if right*100 < all*95 || kept*100 < promised*95 {
		t.Errorf("%d of %d answers are right, %d of %d promises kept", right, all, kept, promised)
	}
}

// sent counts the requests that each person sends.
func (p *planter) sent() map[string]int {
	sent := map[string]int{}
	for i := range p.requests {
		if client, _, _ := strings.Cut(p.requests[i].line, " "); p.people[client] {
			sent[client]++
		}
	}
	return sent
}
