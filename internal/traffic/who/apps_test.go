package who

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// Those that send much and fetch no file use an app, unless they send what a site does not take, or what its readers send.
func TestAppsAreNoSwarms(t *testing.T) {
	second := time.Second
	each := func(n int, build func(w *town, client, agent string, at time.Duration)) func(w *town) {
		return func(w *town) {
			w.people(150)
			for i := range n {
				build(w, fmt.Sprintf("198.%d.%d.7", i%250, i/250), w.browser(), w.anytime())
			}
		}
	}
	for name, build := range map[string]func(w *town){
		"an app that sends once": each(60, func(w *town, client, agent string, at time.Duration) {
			w.hit(at, client, "POST /mobile/push", 204, "-", agent)
			for range 10 + w.IntN(50) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /mobile/product/%d", w.IntN(500)), 200, "-", agent)
			}
			w.is(client, Undecided, Person)
		}),
		"a page whose files another host has": each(60, func(w *town, client, agent string, at time.Duration) {
			w.hit(at, client, "GET /app", 200, host+"/", agent)
			for range 3 + w.IntN(60) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, "POST /graphql", 200, host+"/app", agent)
			}
			w.is(client, Undecided, Person)
		}),
		"tills": each(40, func(w *town, client, agent string, at time.Duration) {
			for range 5 + w.IntN(40) {
				at += w.seconds(90 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /pos/item/%d", w.IntN(500)), 200, host+"/pos/", agent)
				w.hit(at+4*second, client, "POST /pos/sale", 302, host+"/pos/", agent)
			}
			w.is(client, Undecided, Person)
		}),
		"editors with all files at hand": each(40, func(w *town, client, agent string, at time.Duration) {
			w.hit(at, client, "POST /wp-login.php", 302, "-", agent)
			for k := range 20 + w.IntN(90) {
				w.hit(at+time.Duration(k)*60*second, client, "POST /wp-admin/admin-ajax.php", 200, host+"/wp-admin/", agent)
				w.hit(at+w.seconds(30*float64(k)+w.Float64()), client, fmt.Sprintf("GET /wp-admin/post.php?post=%d", k), 200, host+"/wp-admin/", agent)
			}
			w.is(client, Undecided, Person)
		}),
		"televisions": each(60, func(w *town, client, agent string, at time.Duration) {
			for range 90 + w.IntN(9)*w.IntN(90) {
				at += w.seconds(.02 + .6*w.Float64())
				w.hit(at.Truncate(second), client, fmt.Sprintf("GET /tv/title/%d", w.IntN(3000)), 200, "-", agent)
			}
			w.is(client, Undecided, Person)
			if client == "198.0.0.7" {
				for k := range 9000 {
					w.hit(time.Duration(k)*second, "192.0.2.81", fmt.Sprintf("GET /tv/title/%d", k), 200, "-", curl)
				}
				w.is("192.0.2.81", Program)
			}
		}),
		"televisions and reference managers, with few agents": each(60, func(w *town, client, _ string, at time.Duration) {
			for range 40 + w.IntN(30) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /shop/%d", w.IntN(500)), 200, "-", []string{
					"Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36",
					"Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Zotero/7.0.8",
				}[len(w.want)%2])
			}
			w.is(client, Undecided)
		}),
		"terminals of one kind": each(40, func(w *town, client, _ string, at time.Duration) {
			for range 40 + w.IntN(30) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /terminal/%d", w.IntN(500)), 200, "-", browsers[1])
			}
			if w.is(client, Program); client == "198.0.0.7" {
				for k := range 900 {
					w.hit(w.seconds(9*float64(k)+w.Float64()), "192.0.2.81", fmt.Sprintf("GET /terminal/%d", k), 200, "-", browsers[1])
				}
				w.is("192.0.2.81", Disguised) // as it is greedy
			}
		}),
		"a widget on pages of others": each(40, func(w *town, client, agent string, at time.Duration) {
			for k := range 200 + w.IntN(9)*w.IntN(90) {
				at += w.seconds(5 - 4*float64(w.IntN(4)/3)*w.Float64())
				w.hit(at, client, fmt.Sprintf("GET /widget/poll?n=%d", k), 200, "https://other.example/", agent)
			}
			w.is(client, Program)
		}),
		"a scraper of one kind": each(40, func(w *town, client, _ string, at time.Duration) {
			for range 40 + w.IntN(30) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /shop/%d", w.IntN(500)), 200, "-", browsers[1])
			}
			w.is(client, Disguised, Attacker)
		}),
		"a flood beside which few search": each(500, func(w *town, client, agent string, at time.Duration) {
			if len(w.want) <= 150+2*60 {
				reader := "203.1" + client[len("198.0"):]
				w.visit(0, reader, browsers[1], 2)
				w.hit(time.Hour, reader, "GET /find?q=x", 200, host+"/", browsers[1])
				w.is(reader, Person, Undecided)
			}
			for k := range 40 + w.IntN(30) {
				at += w.seconds(9 * w.ExpFloat64())
				w.hit(at, client, fmt.Sprintf("GET /find?q=%d", k), 200, "-", agent)
			}
			w.is(client, Disguised, Attacker)
		}),
		"comments from many addresses": each(60, func(w *town, client, agent string, at time.Duration) {
			for range 3 + w.IntN(9) {
				page := fmt.Sprintf("/shop/%d", w.IntN(80))
				at += w.seconds(900 * w.ExpFloat64())
				w.hit(at, client, "GET "+page, 200, "-", agent)
				w.hit(at+second, client, "POST /wp-comments-post.php", []int{302, 403, 409}[w.IntN(3)], host+page, agent)
			}
			w.is(client, Attacker)
		}),
		"votes from many addresses": each(100, func(w *town, client, agent string, at time.Duration) {
			n, who := 3+w.IntN(9), Attacker
			if len(w.want) < 153 { // readers vote as well
				at = w.visit(at, client, agent, 4)
				n, who = 5, Person
			}
			for range n {
				at += w.seconds(900 * w.ExpFloat64())
				w.hit(at, client, "POST /vote/7", 204, host+"/shop/1", agent)
			}
			w.is(client, who)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
			build(w)
			w.compare(t, census(t, "", "", w.write(t)))
		})
	}
}

// A client whose passwords were right, and wrong while those of most are, guesses nothing.
func TestOutages(t *testing.T) {
	for users, want := range map[int]Identity{60: Program, 1: Attacker} {
		w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
		w.people(100)
		for i := range users {
			client, at := fmt.Sprintf("198.%d.100.7", i), w.seconds(300*w.Float64())
			for at < 3*time.Hour {
				w.hit(at, client, "GET /api/items/1", 200, "-", "okhttp/4.12.0")
				if minute := at / time.Minute; minute >= 120 && minute < 130 {
					w.hit(at, client, "POST /oauth/token", 401, "-", "okhttp/4.12.0")
					at += 2 * time.Second
					continue
				}
				w.hit(at, client, "POST /oauth/token", 200, "-", "okhttp/4.12.0")
				at += 5 * time.Minute
			}
			w.is(client, want)
		}
		for k := range 300 {
			w.hit(time.Duration(k)*5*time.Second, "192.0.2.81", "POST /oauth/token", 401, "-", "okhttp/4.12.0")
		}
		w.is("192.0.2.81", Attacker)
		w.compare(t, census(t, "", "", w.write(t)))
	}
}

// An app in a loop, and a device that asks first without a password, guess nothing.
func TestRetries(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
	w.people(200)
	const app, mail = "Shop/6.0 (Android 11; okhttp/3.14.9)", "Microsoft+Office/16.0+(Windows+NT+10.0;+Microsoft+Outlook+16.0.17928;+Pro)"
	for i := range 20 {
		w.hit(w.anytime(), fmt.Sprintf("198.51.100.%d", i), "POST /oauth/token", 200, "-", app)
		w.is(fmt.Sprintf("198.51.100.%d", i), Program)
	}
	ews := func(at time.Duration, client, user string, asks bool) {
		if asks {
			w.hit(at, client, "POST /EWS/Exchange.asmx", 401, "-", mail)
		}
		w.hit(at, client, "POST /EWS/Exchange.asmx", 401, "-", mail)
		line := &w.lines[len(w.lines)-1]
		line.text = strings.Replace(line.text, " - - [", " - "+user+" [", 1)
	}
	for k := range 300 {
		w.hit(w.seconds(5*float64(k)), "192.0.2.1", "POST /oauth/token", 400, "-", app)
		w.hit(w.seconds(5*float64(k)), "192.0.2.2", "POST /oauth/token", 400, "-", "Shop/5.0 (Android 11; okhttp/3.14.9)") // which none has
		w.hit(w.seconds(5*float64(k)+5*w.Float64()), "192.0.2.3", "POST /oauth/token", 400, "-", app)
		ews(w.seconds(60*float64(k)+60*w.Float64()), []string{"192.0.2.4", "192.0.2.5"}[min(k/99, 1)], "jane", true)
		ews(w.seconds(60*float64(k)+60*w.Float64()), "192.0.2.6", fmt.Sprintf("user%d", k%20), true)
		ews(w.seconds(60*float64(k)+60*w.Float64()), fmt.Sprintf("192.0.2.%d", 7+k/99), "jane", false)
	}
	for i, is := range []Identity{Program, Attacker, Attacker, Undecided, Attacker, Attacker, Attacker, Attacker, Attacker, Program} {
		w.is(fmt.Sprintf("192.0.2.%d", i+1), is)
	}
	w.compare(t, census(t, "", "", w.write(t)))
}

// A name hides no attack, and who asks for many pages is no monitor.
func TestNamesHideNoAttack(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
	w.people(100)
	for i, agent := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
		"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "ShopChecker/1.0 (+https://shop.example)",
	} {
		for k := range 300 {
			at, client := w.anytime(), func(n int) string { return fmt.Sprintf("192.0.2.%d", 10*n+i) }
			w.hit(at, client(1), "POST /wp-login.php", 401, "-", agent)
			w.hit(at, client(2), []string{"GET /.env", "GET /.git/config", "GET /shop/7"}[k%3], 404, "-", agent)
			w.hit(at, client(3), fmt.Sprintf("GET /shop/%d", k%80), 200, "-", agent)
			if k < 2 && i != 2 { // beside which a few are met
				w.hit(at, client(3), "GET /.env", 200, "-", agent)
			}
			w.is(client(1), Attacker)
			w.is(client(2), Attacker)
			w.is(client(3), []Identity{Search, Crawler, Program, Own}[i])
		}
	}
	w.compare(t, census(t, "", "", w.write(t)))
}

// Mail programs ask any server for what only some have. Who asks for much else that is not there is no mail program.
func TestUnaskedRequestsAreNoFailures(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
	w.people(100)
	for i := range 3 {
		for k := range 20 {
			for n, path := range []string{"/autodiscover/autodiscover.xml", "/.well-known/caldav", "/principals/"} {
				at := w.anytime()
				w.hit(at, fmt.Sprintf("192.0.2.%d", i), fmt.Sprintf("GET %s?user=%d", path, k), 404, "-", "Outlook-iOS/723.4")
				w.hit(at, fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("GET %s%d.php", path, n*20+k), 404, "-", "Outlook-iOS/723.4")
				w.hit(at, fmt.Sprintf("203.0.113.%d", i), fmt.Sprintf("GET /.well-known/../../../etc/passwd?%d", k), 404, "-", "Outlook-iOS/723.4")
			}
		}
		w.is(fmt.Sprintf("192.0.2.%d", i), Program)
		w.is(fmt.Sprintf("198.51.100.%d", i), Attacker)
		w.is(fmt.Sprintf("203.0.113.%d", i), Attacker)
	}
	w.compare(t, census(t, "", "", w.write(t)))
}
