package who

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A town is a log in the making, of whose clients it is known who they are.
type town struct {
	*rand.Rand
	lines []townLine
	want  map[string][]Identity // by client
}

type townLine struct {
	at   time.Duration
	text string
}

var browsers = []string{
	"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0",
	"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36",
}

const curl, apt = "curl/8.5.0", "Debian APT-HTTP/1.3 (2.6.1)"

// hit adds a request.
func (w *town) hit(at time.Duration, client, request string, status int, referer, agent string) {
	stamp := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC).Add(at).Format("02/Jan/2006:15:04:05 -0700")
	w.lines = append(w.lines, townLine{at, fmt.Sprintf("%s - - [%s] \"%s HTTP/1.1\" %d 512 \"%s\" \"%s\"", client, stamp, request, status, referer, agent)})
}

// answer adds a request that is answered with 200 and so many bytes.
func (w *town) answer(at time.Duration, client, request string, bytes int, agent string) {
	w.hit(at, client, request, 200, "-", agent)
	line := &w.lines[len(w.lines)-1]
	line.text = strings.Replace(line.text, " 512 ", fmt.Sprintf(" %d ", bytes), 1)
}

const host = "https://shop.example"

// visit has a person read some pages with their files.
func (w *town) visit(at time.Duration, client, agent string, pages int) time.Duration {
	from := "https://www.example.org/"
	for range pages {
		page := fmt.Sprintf("/shop/%d", w.IntN(80))
		w.hit(at, client, "GET "+page, 200, from, agent)
		from = host + page
		for range 2 + w.IntN(4) {
			w.hit(at+time.Duration(200+w.IntN(900))*time.Millisecond, client, fmt.Sprintf("GET /assets/%d.css", w.IntN(20)), 200, from, agent)
		}
		at += time.Duration((5 + 40*w.Float64()) * float64(time.Second))
	}
	return at
}

func (w *town) browser() string { return browsers[w.IntN(len(browsers))] }

// is notes who a client is, or may be.
func (w *town) is(client string, who ...Identity) { w.want[client] = who }

// people have so many visitors come.
func (w *town) people(n int) {
	for i := range n {
		client := fmt.Sprintf("203.0.%d.%d", i/250, 1+i%250)
		w.visit(time.Duration(w.Float64()*8*float64(time.Hour)), client, w.browser(), 2+w.IntN(6))
		w.is(client, Person, Undecided)
	}
}

func (w *town) write(t *testing.T) string {
	slices.SortStableFunc(w.lines, func(x, y townLine) int { return int(x.at - y.at) })
	var text strings.Builder
	for _, line := range w.lines {
		text.WriteString(line.text + "\n")
	}
	name := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// compare holds who the clients are against who they should be.
func (w *town) compare(t *testing.T, c *Census) {
	t.Helper()
	wrong := 0
	for id, who := range c.Identities {
		client := c.observer.Tables.Clients.Name(int32(id))
		if !slices.Contains(w.want[client], who) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s is %s (%s), want %v", client, who.One(), c.Reasons(int32(id)), w.want[client])
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%d of %d", wrong, len(c.Identities))
	}
}

// Each kind of client is found where it is, beside people who stay people.
func TestWhoTheClientsAre(t *testing.T) {
	second, hour := time.Second, time.Hour
	for name, build := range map[string]func(w *town){
		"people": func(w *town) { w.people(150) },
		"fast people": func(w *town) {
			w.people(100)
			for i := range 10 {
				client, from, at := fmt.Sprintf("198.51.100.%d", i), host+"/", hour
				for range 40 {
					page := fmt.Sprintf("/shop/%d", w.IntN(80))
					w.hit(at, client, "GET "+page, 200, from, browsers[1])
					w.hit(at+second/3, client, "GET /assets/1.css", 200, host+page, browsers[1])
					from, at = host+page, at+second+time.Duration(w.IntN(1000))*time.Millisecond
				}
				w.is(client, Person)
			}
		},
		"own optimiser": func(w *town) {
			w.people(100)
			for i := range 5000 {
				w.hit(time.Duration(i)*2*second, "192.0.2.80", fmt.Sprintf("GET /shop/%d", i%80), 200, "-", "Serf/1.1.0 mod_pagespeed/1.13.35.2-0")
			}
			w.is("192.0.2.80", Own)
		},
		"own cron in a folder": func(w *town) {
			w.people(100)
			for i := range 3000 {
				w.hit(time.Duration(i)*9*second, "192.0.2.80", "POST /blog/wp-cron.php?doing_wp_cron=1", 200, "-", "WordPress/6.5; https://shop.example/blog")
			}
			w.is("192.0.2.80", Own)
		},
		"a cache warmer": func(w *town) {
			w.people(100)
			for i := range 4000 {
				w.hit(time.Duration(i)*3*second, "192.0.2.80", fmt.Sprintf("GET /shop/%d", i%80), 200, "-", "WP Rocket/Preload")
			}
			w.is("192.0.2.80", Own)
		},
		"who polls": func(w *town) { // a monitor asks whether the site is up, a scalper for its page
			w.people(100)
			for i := range 96 {
				at := time.Duration(i)*5*60*second + time.Duration(w.IntN(900))*time.Millisecond
				w.hit(at, "192.0.2.81", "GET /", 200, "-", browsers[1])
				w.hit(at, "192.0.2.82", "GET /api/health", 200, "-", curl)
				w.hit(at, "192.0.2.83", "GET /robots.txt", 200, "-", curl)
				w.hit(at, "192.0.2.84", "GET /shop/7", 200, "-", "Prometheus/2.53.0")
				w.hit(at, "192.0.2.85", "GET /shop/7", 200, "-", curl)
				w.hit(at, "192.0.2.86", "GET /live/3", 200, "-", browsers[1])
				w.hit(at, "10.1.0.5", "GET /cron/run", 200, "-", curl)
			}
			for i := range 6 {
				w.is(fmt.Sprintf("192.0.2.%d", 81+i), []Identity{Monitor, Monitor, Monitor, Monitor, Program, Undecided}[i])
			}
			w.is("10.1.0.5", Monitor)
		},
		"a balancer that checks": func(w *town) {
			w.people(100)
			for i := range 4000 {
				w.hit(time.Duration(i)*second/4, "10.100.0.1", "HEAD /", 301, "-", curl)
			}
			for i := range 400 { // each at a pace of its own, so at no interval
				w.hit(time.Duration(i)*5*second, "10.100.0.2", "GET /livez", 200, "-", curl)
				w.hit(time.Duration(i)*5*second+time.Duration(w.IntN(5000))*time.Millisecond, "10.100.0.2", "GET /readyz", 200, "-", curl)
			}
			w.is("10.100.0.1", Monitor)
			w.is("10.100.0.2", Monitor)
		},
		"a balancer from outside that says so": func(w *town) {
			w.people(100)
			for i := range 900 {
				w.hit(time.Duration(i)*4*second, "192.0.2.81", "GET /shop/7", 200, "-", "ELB-HealthChecker/2.0")
				w.hit(time.Duration(i)*4*second, "192.0.2.82", "GET /healthz", 200, "-", curl)
				w.hit(time.Duration(i)*4*second, "192.0.2.83", "GET /checkout/status", 200, "-", curl)
				w.hit(time.Duration(i)*4*second, "192.0.2.84", "GET /", 200, "-", curl)
			}
			w.is("192.0.2.81", Monitor)
			w.is("192.0.2.82", Monitor)
			w.is("192.0.2.83", Program)
			w.is("192.0.2.84", Program)
		},
		"attackers that a limit refuses": func(w *town) {
			w.people(100)
			for i := range 300 {
				status := func(of int) int { return []int{of, 429, 429, 429, 429, 429}[i%6] }
				w.hit(time.Duration(i)*3*second, "198.51.100.9", "POST /login", status(401), "-", curl)
				w.hit(time.Duration(i)*3*second, "198.51.100.8", fmt.Sprintf("GET /%d.php", i), status(404), "-", curl)
				w.hit(time.Duration(i)*3*second, "198.51.100.7", fmt.Sprintf("GET /shop/%d", i%80), status(200), "-", curl)
			}
			w.is("198.51.100.9", Attacker)
			w.is("198.51.100.8", Attacker)
			w.is("198.51.100.7", Program)
		},
		"a check with HEAD": func(w *town) {
			w.people(100)
			for i := range 200 {
				w.hit(time.Duration(i)*60*second, "192.0.2.81", "HEAD /shop/7", 200, "-", curl)
			}
			w.is("192.0.2.81", Monitor)
		},
		"who follows links with HEAD at a fixed interval": func(w *town) {
			w.people(100)
			for i := range 200 {
				w.hit(time.Duration(i)*60*second, "192.0.2.81", fmt.Sprintf("HEAD /shop/%d", i%80), 200, "-", curl)
			}
			w.is("192.0.2.81", Program)
		},
		"scanners beside people": func(w *town) {
			w.people(60)
			for i := range 3000 {
				client := fmt.Sprintf("198.51.100.%d", i%200)
				w.hit(time.Duration(i)*second, client, fmt.Sprintf("GET /%d.env", i), 404, "-", curl)
				w.is(client, Attacker)
			}
		},
		"a mirror that lacks much": func(w *town) {
			for i := range 3000 {
				client := fmt.Sprintf("198.51.100.%d", i%200)
				w.hit(time.Duration(i)*second, client, fmt.Sprintf("GET /dists/%d", i), []int{200, 404, 404}[i/200%3], "-", apt)
				w.is(client, Program)
			}
			for i := range 90 {
				client := fmt.Sprintf("203.0.113.%d", i)
				w.hit(time.Duration(i)*second, client, "GET /dists/1", 200, "-", apt)
				w.is(client, Program)
			}
		},
		"one with several browsers on the network": func(w *town) {
			w.people(100)
			for i := range 8 {
				w.visit(time.Duration(i)*hour, "10.0.0.5", w.browser(), 30)
			}
			w.is("10.0.0.5", Office)
		},
		"an inner proxy": func(w *town) {
			for range 60 {
				w.visit(time.Duration(w.Float64()*float64(hour)), "172.18.0.1", w.browser(), 6)
			}
			w.is("172.18.0.1", Proxy)
		},
		"requests without a client": func(w *town) {
			w.people(100)
			for i := range 500 {
				w.hit(time.Duration(i)*second, "-", fmt.Sprintf("GET /%d.php", i), 404, "-", curl)
			}
			w.is("-", Undecided)
		},
		"missing images": func(w *town) {
			for i := range 120 {
				client, agent, at := fmt.Sprintf("203.0.113.%d", i), w.browser(), time.Duration(w.Float64()*8*float64(hour))
				for range 3 {
					at = w.visit(at, client, agent, 1)
					for k := range 9 {
						w.hit(at-second, client, fmt.Sprintf("GET /images/%d.png", k), 404, host+"/shop/1", agent)
					}
				}
				w.hit(at, client, "GET /favicon.ico", 404, "-", agent)
				w.is(client, Person, Undecided)
			}
		},
		"an endpoint for logins alone": func(w *town) {
			for i := range 19 {
				client, agent, at := fmt.Sprintf("203.0.113.%d", i), w.browser(), time.Duration(w.Float64()*float64(hour))
				for range w.IntN(3) {
					w.hit(at, client, "POST /api/auth/login", 401, host+"/login", agent)
					at += 20 * second
				}
				w.hit(at, client, "POST /api/auth/login", 200, host+"/login", agent)
				w.is(client, Person, Undecided)
			}
			for i := range 2 {
				client := fmt.Sprintf("198.51.100.%d", i)
				for k := range 60 {
					w.hit(time.Duration(k)*7*second, client, "POST /api/auth/login", 401, "-", browsers[1])
				}
				w.is(client, Attacker)
			}
		},
		"apps and guessers by XML-RPC": func(w *town) { // which answers right and wrong passwords alike
			w.people(100)
			for i := range 60 {
				at := time.Duration(i) * 10 * 60 * second
				w.hit(at, "192.0.2.81", "POST /xmlrpc.php", 200, "-", "wp-android/25.1")
				w.hit(at, "192.0.2.82", "POST /xmlrpc.php?for=jetpack", 200, "-", "Jetpack by WordPress.com")
				w.hit(at, "192.0.2.83", "POST /xmlrpc.php", 200, "-", browsers[1])
				w.hit(time.Duration(i)*second/2, "192.0.2.84", "POST /xmlrpc.php", 200, "-", "wp-android/25.1")
				w.hit(time.Duration(i)*3*second, "192.0.2.80", "POST /xmlrpc.php", 200, "-", "wp-android/25.1")
			}
			w.is("192.0.2.81", Program)
			w.is("192.0.2.82", Program, Crawler)
			w.is("192.0.2.83", Attacker)
			w.is("192.0.2.84", Attacker) // more often than a person
			w.is("192.0.2.80", Program)
		},
		"who mistypes, and who guesses": func(w *town) {
			w.people(100)
			for i := range 3 {
				client, at := fmt.Sprintf("198.51.100.%d", i), hour
				w.hit(at, client, "GET /login", 200, "-", browsers[1])
				w.hit(at+second/2, client, "GET /assets/1.css", 200, host+"/login", browsers[1])
				for range []int{15, 15, 30}[i] {
					at += 9 * second
					w.hit(at, client, "POST /login", 200, host+"/login", browsers[1])
				}
				w.hit(at+9*second, client, "POST /login", 302, host+"/login", browsers[1])
				if i != 1 {
					for k := range 6 { // whose files are known from before
						w.hit(at+time.Duration(10+k*k*9)*second, client, fmt.Sprintf("GET /account/%d", k), 200, host+"/login", browsers[1])
					}
				}
			}
			w.is("198.51.100.0", Person, Undecided)
			w.is("198.51.100.1", Attacker) // who does nothing with a right one
			w.is("198.51.100.2", Attacker)
		},
		"a guesser with rotating agents": func(w *town) {
			w.people(100)
			for i := range 300 {
				w.hit(time.Duration(i)*11*second, "198.51.100.9", "POST /wp-login.php", 200, host+"/wp-login.php", w.browser())
			}
			w.hit(hour, "203.0.0.1", "POST /wp-login.php", 302, host+"/wp-login.php", browsers[0])
			w.is("198.51.100.9", Attacker)
		},
		"guessing from 500 addresses": func(w *town) {
			w.people(150)
			for i := range 500 {
				client := fmt.Sprintf("198.%d.100.%d", 51+i/250, i%250)
				at := time.Duration(w.Float64() * 8 * float64(hour))
				for range 2 {
					w.hit(at, client, "POST /wp-login.php", 200, "-", w.browser())
					at += 60 * second
				}
				w.is(client, Attacker)
			}
		},
		"a crowd with one agent": func(w *town) {
			w.people(300)
			for i := range 2000 {
				client := fmt.Sprintf("198.%d.%d.7", 18+i/250, i%250)
				w.hit(time.Duration(w.Float64()*8*float64(hour)), client, fmt.Sprintf("GET /shop/%d", w.IntN(80)), 200, "-",
					"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0")
				w.is(client, Attacker)
			}
		},
		"people whose few pages come evenly": func(w *town) { // as those of one of a hundred do by chance
			w.people(100)
			for i := range 9 { // as a clock
				w.hit(time.Duration(20+i*20)*second, "198.51.100.2", fmt.Sprintf("GET /shop/%d", i), 200, host+fmt.Sprintf("/shop/%d", max(0, i-1)), browsers[1])
			}
			w.is("198.51.100.2", Disguised)
			for k, n := range []int{9, 30} {
				client := fmt.Sprintf("198.51.100.%d", k)
				w.visit(0, client, browsers[1], 1)
				for i := range n {
					w.hit(time.Duration(20+i*20-i%2*8)*second, client, fmt.Sprintf("GET /shop/%d", i), 200, host+fmt.Sprintf("/shop/%d", max(0, i-1)), browsers[1])
				}
			}
			w.is("198.51.100.0", Undecided, Person)
			w.is("198.51.100.1", Disguised)
		},
		"partners that call back": func(w *town) {
			w.people(100)
			for i := range 60 {
				at := time.Duration(i*i) * second
				w.hit(at, "192.0.2.81", "POST /webhooks/stripe", 200, "-", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
				w.hit(at, "192.0.2.82", "POST /webhooks/shop", 200, "-", "Shopify-Captain-Hook")
				w.hit(at, "192.0.2.83", "POST /comments", 200, "-", "python-requests/2.32.3")
				w.hit(at, "192.0.2.84", "POST /comments", 403, "-", "Sender/1.0 (+https://sender.example)")
				w.hit(at, "192.0.2.85", "GET /feed", 200, "-", "Feedly/1.0 (+http://www.feedly.com/fetcher.html)")
				w.hit(at, "192.0.2.86", fmt.Sprintf("POST /comments-%d", i), 200, "-", "Sender/1.0 (+https://sender.example)")
			}
			for i := range 6 {
				w.is(fmt.Sprintf("192.0.2.%d", 81+i), []Identity{Undecided, Undecided, Program, Program, Crawler, Program}[i], []Identity{Undecided, Undecided, Program, Attacker, Crawler, Program}[i])
			}
		},
		"an office": func(w *town) {
			w.people(150)
			for range 15 {
				w.visit(time.Duration(w.Float64()*8*float64(hour)), "198.51.100.9", w.browser(), 5)
			}
			w.is("198.51.100.9", Office)
		},
		"a proxy at a slow tempo": func(w *town) {
			agents := map[string]bool{}
			for i := range 200 {
				agent := fmt.Sprintf(strings.Replace(w.browser(), "Windows NT 10.0", []string{"Windows NT 10.0", "Linux; Android 13", "X11; Linux x86_64", "iPad; CPU OS 17_0"}[w.IntN(4)], 1)+"%s",
					[]string{"", " OPR/110.0", " Edg/141.0", " SamsungBrowser/25.0"}[w.IntN(4)])
				agents[agent] = true
				w.visit(time.Duration(i)*300*second, "198.51.100.9", agent, 3)
			}
			w.is("198.51.100.9", Proxy)
		},
		"a scanner that is redirected": func(w *town) {
			w.people(100)
			for i, path := range strings.Fields("/.git/config /.env /phpmyadmin/ /.aws/credentials /backup.sql /.svn/entries /wp-config.php.bak /.env.local /adminer.php") {
				w.hit(time.Duration(i)*second, "198.51.100.9", "GET "+path, 301, "-", browsers[1])
			}
			w.is("198.51.100.9", Attacker)
		},
		"a .git that was taken": func(w *town) {
			w.people(100)
			for i := range 303 {
				w.hit(time.Duration(i)*second, "198.51.100.9", fmt.Sprintf("GET /.git/objects/%02x/%x", i%256, i), 200, "-", "python-requests/2.31")
			}
			w.is("198.51.100.9", Attacker)
		},
		"a developer beside errors of an API": func(w *town) {
			w.people(100)
			w.hit(0, "198.51.100.9", "GET /robots.txt", 200, "-", browsers[0])
			w.visit(10*second, "198.51.100.9", browsers[0], 6)
			for i := range 80 {
				w.hit(hour+time.Duration(i)*20*second, "198.51.100.9", "PUT /api/items/7", []int{405, 422, 400, 403}[i%4], host+"/shop/7", browsers[0])
			}
			w.is("198.51.100.9", Person, Undecided)
		},
		"no agents": func(w *town) {
			w.people(100)
			for i := range 200 {
				w.hit(time.Duration(i)*second, "198.51.100.9", fmt.Sprintf("GET /old/%d", i), 404, "-", "-")
			}
			for i := range w.lines {
				text := w.lines[i].text
				w.lines[i].text = text[:strings.LastIndex(text[:len(text)-1], "\"")] + "\"-\""
			}
			w.is("198.51.100.9", Attacker)
		},
		"devices of which one was cut off": func(w *town) {
			for i := range 80 {
				client := fmt.Sprintf("203.0.113.%d", i)
				for k := range 60 {
					w.hit(time.Duration(k)*8*60*second+time.Duration(w.IntN(60000))*time.Millisecond, client, "POST /api/positions", 200, "-", "TrackerApp/3.1 okhttp/4.12")
				}
				w.is(client, Program)
			}
			for k := range 886 {
				w.hit(4*hour+time.Duration(k)*second/10, "203.0.113.7", "POST /api/positions", 200, "-", "TrackerApp/3.1 okhttp/4.12")
			}
		},
		"an editor": func(w *town) {
			w.people(100)
			w.visit(0, "198.51.100.9", browsers[1], 4)
			at := 2 * 60 * second
			for i := range 40 {
				page := fmt.Sprintf("/wp-admin/post.php?post=%d", i)
				w.hit(at, "198.51.100.9", "GET "+page, 200, host+"/wp-admin/", browsers[1])
				w.hit(at+second/2, "198.51.100.9", "GET /wp-admin/load.css", 200, host+page, browsers[1])
				for k := range 12 {
					w.hit(at+time.Duration(k)*15*second, "198.51.100.9", "POST /wp-admin/admin-ajax.php", 200, host+page, browsers[1])
				}
				at += 190 * second
			}
			w.is("198.51.100.9", Person)
		},
		"a scraper in disguise": func(w *town) {
			w.people(150)
			for i := range 600 {
				w.hit(time.Duration(i)*7*second+time.Duration(w.IntN(6000))*time.Millisecond, "198.51.100.9", fmt.Sprintf("GET /shop/%d", w.IntN(500)), 200, "-", browsers[1])
			}
			w.is("198.51.100.9", Disguised)
		},
		"a scraper with another browser for each page": func(w *town) {
			w.people(100)
			for i := range 40 {
				agent := fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%[1]d.0", 60+i)
				w.hit(time.Duration(i)*10*second, "198.51.100.9", "GET /nothing", 404, "-", agent)
			}
			w.is("198.51.100.9", Disguised)
		},
		"a download accelerator": func(w *town) {
			w.people(150)
			for i := range 900 {
				w.hit(hour+time.Duration(i)*second/5, "198.51.100.9", "GET /download/big", 206, host+"/download/big", browsers[1])
			}
			w.is("198.51.100.9", Disguised)
		},
		"readers of a document that comes in parts": func(w *town) {
			w.people(150)
			at := w.visit(hour, "198.51.100.9", browsers[1], 3)
			for i := range 1300 {
				w.hit(at+time.Duration(i)*second/5, "198.51.100.9", "GET /manual.pdf", 206, host+"/shop/1", browsers[1])
			}
			w.is("198.51.100.9", Person, Undecided)
		},
		"readers of a map that comes in parts": func(w *town) {
			w.people(150)
			at := w.visit(hour, "198.51.100.9", browsers[1], 1)
			for i := range 1800 {
				if at += 50 * time.Millisecond; i%16 == 0 {
					at += second + time.Duration(w.Float64()*4*float64(second))
				}
				w.hit(at, "198.51.100.9", "GET /planet.pmtiles", 206, host+"/shop/1", browsers[1])
			}
			w.is("198.51.100.9", Person, Undecided)
		},
		"users of an app within a browser": func(w *town) {
			w.people(200)
			agent := "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/143.0.0.0 Mobile Safari/537.36"
			for i := range 80 {
				client, at := fmt.Sprintf("198.51.%d.7", 100+i), time.Duration(w.Float64()*7*float64(hour))
				for k := range 10 + w.IntN(20)*w.IntN(20) {
					w.hit(at+time.Duration(k)*20*second+time.Duration(w.IntN(9000))*time.Millisecond, client, fmt.Sprintf("GET /api/items/%d", w.IntN(50)), 200, "-", agent)
				}
				w.is(client, Undecided, Person)
			}
		},
		"users of an app on desktops": func(w *town) {
			w.people(100)
			agent := "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Shop/4.1.0 Chrome/130.0.0.0 Electron/33.3.1 Safari/537.36"
			for i := range 8 {
				at := time.Duration(i) * 30 * 60 * second
				for range 40 {
					at += w.seconds(20 * w.ExpFloat64())
					w.hit(at, fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("GET /api/rooms/%d", w.IntN(900)), 200, "-", agent)
				}
				w.is(fmt.Sprintf("198.51.100.%d", i), Undecided, Person)
			}
		},
		"a campus with the script of one": func(w *town) {
			w.people(100)
			for i, client := range []string{"198.51.100.7", "198.51.100.8", "198.51.100.9"} {
				kinds := browsers[:[]int{6, 6, 4}[i]]
				for k := range 60 {
					w.visit(time.Duration(k)*400*second, client, kinds[k%len(kinds)], 3)
				}
				for k := range 1800 {
					w.hit(w.seconds(float64(13*k)), client, fmt.Sprintf("GET /shop/%d", k%80), 200, "-", []string{curl, "IntranetBot/1.0 (search@shop.example)", curl}[i])
				}
				w.is(client, []Identity{Office, Office, Program}[i])
			}
		},
		"an office where one scans": func(w *town) {
			w.people(100)
			for i := range 60 {
				w.visit(time.Duration(i)*400*second, "198.51.100.9", browsers[i%len(browsers)], 3)
			}
			w.visit(0, "198.51.100.8", browsers[1], 9)
			for i := range 100 {
				for _, client := range []string{"198.51.100.9", "198.51.100.8"} {
					w.hit(hour+w.seconds(float64(i)), client, fmt.Sprintf("GET /x%d.php", i), 404, "-", "Mozilla/5.00 (Nikto/2.1.6)")
				}
			}
			w.is("198.51.100.9", Office)
			w.is("198.51.100.8", Attacker) // alone
		},
		"users of an app with a heartbeat": func(w *town) {
			w.people(100)
			for i := range 30 {
				client := fmt.Sprintf("198.51.100.%d", i)
				for k := range 100 {
					w.hit(time.Duration(i*60+k*10)*second, client, "GET /api/ping", 200, "-", "okhttp/4.12.0")
				}
				w.is(client, Program)
			}
		},
		"a flood of what says whether the site is up": func(w *town) {
			w.people(100)
			for i := range 8000 {
				w.hit(time.Duration(i)*second/10, "198.51.100.9", "GET /health", 200, "-", "Go-http-client/1.1")
			}
			w.is("198.51.100.9", Program)
		},
		"passwords in headers and for tokens": func(w *town) {
			w.people(100)
			for i := range 300 {
				w.hit(time.Duration(i)*second, "198.51.100.9", "GET /private", 401, "-", curl)
				line := &w.lines[len(w.lines)-1]
				line.text = strings.Replace(line.text, " - - [", fmt.Sprintf(" - user%d [", i), 1)
				w.hit(time.Duration(i)*second, "198.51.100.10", "POST /oauth/token", 400, "-", curl)
			}
			for i := range 20 {
				client := fmt.Sprintf("198.51.100.%d", 100+i)
				for k := range 12 {
					w.hit(time.Duration(i*60+k*1800)*second, client, "POST /oauth/token", 200, "-", "okhttp/4.12.0")
					for range 1 + 8*(i%2) { // as registries of images do
						w.hit(time.Duration(i*60+k*1800+1)*second, client, "POST /api/sessions/7/bookings", 201, "-", "okhttp/4.12.0")
					}
				}
				w.is(client, Undecided)
			}
			w.is("198.51.100.9", Attacker)
			w.is("198.51.100.10", Attacker)
		},
		"right passwords beside old ones in headers": func(w *town) {
			w.people(100)
			as := func(at time.Duration, client, request string, user, status int, agent string) {
				w.hit(at, client, request, status, "-", agent)
				line := &w.lines[len(w.lines)-1]
				line.text = strings.Replace(line.text, " - - [", fmt.Sprintf(" - user%d [", user), 1)
			}
			const sync, drive = "Mozilla/5.0 (Windows) mirall/3.14.1 (Nextcloud)", "Microsoft-WebDAV-MiniRedir/10.0.22631"
			for i := range 700 {
				at := time.Duration(i) * 30 * second
				for user := range 12 {
					as(at+w.seconds(w.Float64()), "198.51.100.1", fmt.Sprintf("PROPFIND /dav/user%d/", user), user, []int{207, 207, 401}[user%3], sync)
				}
				w.hit(at, "198.51.100.2", "PROPFIND /dav/x", 401, "-", drive)
				as(at, "198.51.100.2", "PROPFIND /dav/x", 1, 401, drive)
				as(at, "198.51.100.2", "PROPFIND /dav/x", 1, 207, drive)
				as(at, "198.51.100.3", fmt.Sprintf("PROPFIND /dav/%d/", i), 1, 401, sync)
				as(at, "198.51.100.4", "PROPFIND /dav/", i, 401, sync)                    // for many users
				as(at/30, "198.51.100.5", "PROPFIND /dav/", 1, 401, sync)                 // quickly
				as(at, "198.51.100.6", "PROPFIND /dav/", 1, []int{401, 207}[i/699], sync) // which succeeds
				as(at, "198.51.100.7", "GET /login", 1, 200, curl)                        // where the log has something else
				as(at, "198.51.100.7", "POST /login", 1, 401, curl)
			}
			for i := range 7 {
				w.is(fmt.Sprintf("198.51.100.%d", i+1), []Identity{Undecided, Program, Undecided, Attacker, Attacker, Attacker, Attacker}[i])
			}
		},
		"who signs in before each call, and who only tries": func(w *town) {
			w.people(100)
			for i := range 300 {
				w.hit(time.Duration(i)*20*second, "198.51.100.1", "POST /api/login", 200, "-", "AcmeERP/3.2")
				w.hit(time.Duration(i)*20*second, "198.51.100.1", fmt.Sprintf("GET /api/orders/%d", i), 200, "-", "AcmeERP/3.2")
				w.hit(time.Duration(i)*20*second, "198.51.100.2", "GET /login", 200, "-", "AcmeERP/3.2")
				w.hit(time.Duration(i)*20*second, "198.51.100.2", "POST /login", 200, "-", "AcmeERP/3.2")
				w.hit(time.Duration(i)*20*second, "198.51.100.3", "GET /admin/", 401, "-", "python-requests/2.32.3")
				line := &w.lines[len(w.lines)-1]
				line.text = strings.Replace(line.text, " - - [", " - admin [", 1)
			}
			w.is("198.51.100.1", Program)
			w.is("198.51.100.2", Attacker)
			w.is("198.51.100.3", Attacker) // by a clock, but no device
		},
		"guessing from 60 addresses that ask for the form before": func(w *town) {
			w.people(100)
			for i := range 300 {
				client, at := fmt.Sprintf("198.%d.100.7", i%60), w.anytime()
				w.hit(at, client, "GET /login", 200, "-", browsers[i%3])
				w.hit(at, client, "POST /login", 401, "-", browsers[i%3])
				w.is(client, Attacker)
			}
		},
		"a scan from 60 addresses": func(w *town) {
			w.people(100)
			for i := range 180 {
				client := fmt.Sprintf("198.%d.100.7", i%60)
				w.hit(w.anytime(), client, "GET "+[]string{"/.env", "/.git/config", "/wp-config.php.bak"}[w.IntN(3)], 404, "-", w.browser())
				w.is(client, Attacker)
			}
		},
		"services that send a flood": func(w *town) {
			w.people(100)
			for i := range 3000 {
				w.hit(time.Duration(i)*second, "198.51.100.1", "POST /graphql", 200, "-", "PriceScout/3.1")
				w.hit(time.Duration(i)*second, "198.51.100.2", "GET /.well-known/security.txt", 200, "-", "PriceScout/3.1")
			}
			for i := range 2 {
				w.is(fmt.Sprintf("198.51.100.%d", i+1), Program)
			}
		},
		"guessing by an app from 200 addresses": func(w *town) {
			w.people(100)
			for i := range 260 {
				client, at, status := fmt.Sprintf("198.51.%d.%d", 100+i/200, i%200), time.Duration(i)*60*second, 401
				if i >= 200 { // of its users
					status = 200
					w.hit(at+second, client, "GET /api/items/1", 200, "-", "okhttp/4.12.0")
				}
				w.hit(at, client, "POST /api/login", status, "-", "okhttp/4.12.0")
				if w.is(client, Attacker); i >= 200 {
					w.is(client, Program)
				}
			}
		},
		"names of places and of sources": func(w *town) {
			w.people(100)
			for i := range 12 {
				client := fmt.Sprintf("198.51.100.%d", i)
				for k := range 20 {
					w.hit(time.Duration(i*60+k*30)*second, client, fmt.Sprintf("GET /ny/hudson/home-%d", k), 200, "-", curl)
					w.hit(time.Duration(i*60+k*30)*second, client, "GET /jane/shop/src/branch/main/.env", 200, "-", curl)
				}
				w.is(client, Program)
			}
			for k := range 20 {
				w.hit(hour+time.Duration(k*k)*second, "198.51.100.99", "PROPFIND /dav/.DS_Store", 404, "-", "WebDAVFS/3.0.0 Darwin/24.1.0")
				w.hit(hour+time.Duration(k*k)*second, "198.51.100.98", fmt.Sprintf("GET /maven2/org/a%d/a.pom", k), 404, "-", "Apache-Maven/3.9.9 (Java 21; Linux 6.1)")
			}
			w.is("198.51.100.99", Program)
			w.is("198.51.100.98", Program)
		},
		"addresses with an agent that people have as well": func(w *town) {
			w.people(100)
			agent := "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
			for i := range 620 {
				client, at := fmt.Sprintf("198.51.%d.%d", 100+i/200, i%200), time.Duration(i)*40*second
				if i < 600 {
					w.hit(at, client, fmt.Sprintf("GET /shop/%d", w.IntN(80)), 200, "-", agent)
					w.is(client, Attacker)
				} else {
					w.visit(at, client, agent, 4)
					w.is(client, Person, Undecided)
				}
			}
		},
		"pages that ask by a timer, of browsers that send no referers": func(w *town) {
			w.people(100)
			for i := range 30 {
				client, agent, at := fmt.Sprintf("198.51.100.%d", i), w.browser(), time.Duration(i)*10*time.Minute
				w.visit(at, client, agent, 2)
				for k := range 200 {
					w.hit(at+time.Minute+time.Duration(k)*5*second, client, fmt.Sprintf("GET /api/%s", []string{"load", "queue", "alerts"}[k%3]), 200, "-", agent)
				}
				w.is(client, Person, Undecided)
			}
			for i := range w.lines {
				text := w.lines[i].text
				begin := strings.Index(text, " 512 \"") + len(" 512 \"")
				end := begin + strings.Index(text[begin:], "\"")
				w.lines[i].text = text[:begin] + "-" + text[end:]
			}
		},
		"dashboards that let no cache answer, of browsers that send no referers": func(w *town) {
			w.people(100)
			for i := range 9 {
				client, at := fmt.Sprintf("198.51.100.%d", i), w.anytime()
				w.hit(at, client, "GET /dash", 200, "-", browsers[i%3])
				w.hit(at, client, "GET /assets/1.css", 200, "-", browsers[i%3])
				for k := range 600 {
					at := at + time.Duration(5*k)*second
					w.hit(at, client, fmt.Sprintf("GET /dash/data%d?_=17725%08d", k%(1+i%2), at/time.Millisecond), 200, "-", browsers[i%3])
				}
				w.is(client, Undecided, Person)
			}
		},
		"guessing by a browser that loads the form and its files": func(w *town) {
			w.people(100)
			for i := range 200 {
				at, form := time.Duration(20*i+w.IntN(9))*second, host+"/login"
				w.hit(at, "198.51.100.9", "GET /login", 200, host+"/", browsers[1])
				w.hit(at+second, "198.51.100.9", "GET /assets/login.css", 200, form, browsers[1])
				w.hit(at+2*second, "198.51.100.9", "POST /login", 401, form, browsers[1])
			}
			w.is("198.51.100.9", Attacker)
		},
		"a clock that loads files and follows links": func(w *town) {
			w.people(100)
			for k, from := 0, "-"; k < 600; k++ {
				page := fmt.Sprintf("/shop/%d", k)
				w.hit(time.Duration(k)*30*second, "198.51.100.9", "GET "+page, 200, from, browsers[1])
				from = host + page
				w.hit(time.Duration(k)*30*second+second, "198.51.100.9", "GET /assets/1.css", 200, from, browsers[1])
			}
			w.is("198.51.100.9", Disguised)
		},
		"a scraper that names the first page as its referer": func(w *town) {
			w.people(100)
			for k := range 600 {
				w.hit(time.Duration(k)*3*second, "198.51.100.9", fmt.Sprintf("GET /shop/%d", k), 200, host+"/", browsers[1])
			}
			w.is("198.51.100.9", Disguised)
		},
		"users of an extension, and scrapers": func(w *town) {
			w.people(100)
			for i := range 69 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				path, n := "/ext/price?sku=", 10+w.IntN(20)*w.IntN(20)
				if w.is(client, Undecided); i >= 60 {
					path, n = "/stock/price?sku=", 200
					w.is(client, Disguised) // as they are few
				} else if i == 0 {
					n = 4000
					w.is(client, Disguised) // as it is greedy
				}
				for range n {
					at += w.seconds(9 * w.ExpFloat64())
					w.hit(at, client, fmt.Sprintf("GET %s%d", path, w.IntN(900)), 200, "-", agent)
				}
			}
		},
		"users of a shell that browsers keep, and scrapers": func(w *town) {
			w.people(100)
			for i := range 69 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				for range 10 + w.IntN(6)*w.IntN(6) {
					for range 30 {
						at += w.seconds(w.Float64())
						w.hit(at, client, fmt.Sprintf("GET /api/%d", w.IntN(900)), 200, fmt.Sprintf("%s/shop/%d", host, i), agent)
					}
				}
				w.is(client, Undecided)
			}
		},
		"scrapers that name pages that they never showed": func(w *town) {
			w.people(100)
			for i := range 90 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				if w.is(client, Disguised); i >= 8 && i < 50 {
					continue // so that there are few, and 40 that send as much as each other
				}
				for range 400 {
					at += w.seconds(w.Float64())
					w.hit(at, client, fmt.Sprintf("GET /api/%d", w.IntN(900)), 200, fmt.Sprintf("%s/shop/%d", host, i), agent)
				}
			}
		},
		"readers of dead links, and scanners": func(w *town) {
			w.people(100)
			for i := range 80 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				path, of := "/letter/", 30
				if w.is(client, Undecided); i >= 50 {
					path, of = "/missing/", 90000
					w.is(client, Attacker, Disguised)
				}
				for range 7 {
					at += w.seconds(9 * w.Float64())
					w.hit(at, client, fmt.Sprintf("GET %s%d", path, w.IntN(of)), 404, "-", agent)
				}
			}
		},
		"users of an old app, and scanners": func(w *town) {
			w.people(100)
			for i := range 100 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), "okhttp/3.12.1", w.anytime()
				for k := range 20 {
					at += w.seconds(9 * w.Float64())
					if w.is(client, Program); i < 50 {
						w.hit(at, client, fmt.Sprintf("GET /api/v1/items/%d", w.IntN(99)), []int{404, 404, 200}[w.IntN(3)], "-", agent)
					} else {
						w.hit(at, client, fmt.Sprintf("GET /api/v2/items/%d", w.IntN(9000)), 404, "-", agent)
						w.hit(at, client, "GET /", 200, "-", agent)
						w.hit(at, client, fmt.Sprintf("GET /%c%c.php", 'a'+k, 'a'+i%20), 404, "-", agent)
						w.is(client, Attacker)
					}
				}
			}
		},
		"who asks for what some have and others have not": func(w *town) {
			w.people(100)
			for i := range 40 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				w.is(client, Undecided)
				if i >= 30 {
					agent = "AcmeERP/4.2"
					w.is(client, Program)
				}
				for range 2 + w.IntN(4)*w.IntN(4) {
					for range 12 {
						at += w.seconds(40 * w.Float64())
						w.hit(at, client, fmt.Sprintf("GET /api/user/%d/picture", w.IntN(900)), []int{404, 404, 404, 200}[w.IntN(4)], "-", agent)
					}
				}
			}
		},
		"visitors from a country that is shut out": func(w *town) {
			w.people(100)
			for i := range 60 {
				client, agent, at := fmt.Sprintf("198.%d.100.7", i), w.browser(), w.anytime()
				w.is(client, Undecided)
				for range 6 + w.IntN(9)*w.IntN(9) {
					at += w.seconds(40 * w.ExpFloat64())
					w.hit(at, client, "GET "+[]string{"/", "/news", "/shop/7", "/about"}[w.IntN(4)], 403, "-", agent)
				}
			}
		},
		"browsers that report, and a service that fetches the pictures of mails": func(w *town) {
			w.people(150)
			for i := range 80 {
				for k := range 1 + w.IntN(9) {
					client := fmt.Sprintf("198.%d.100.7", i)
					w.hit(w.anytime(), client, "POST /csp-report", 204, "-", browsers[i%len(browsers)])
					w.is(client, Undecided)
					client = fmt.Sprintf("66.249.92.%d", i)
					w.hit(w.anytime(), client, fmt.Sprintf("GET /o/%d-%d", i, k), 200, "-", "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)")
					w.is(client, Undecided)
				}
			}
		},
		"what pages of other sites send": func(w *town) {
			w.people(100)
			for i := range 90 {
				client, from := fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("https://partner%d.example/a/%d", i%9, i)
				for k := range 8 {
					w.hit(time.Duration(i*60+k*w.IntN(20))*second, client, "POST /widget/events", 204, from, w.browser())
				}
				w.is(client, Undecided, Person, Office)
			}
		},
		"a swarm that sends three requests each": func(w *town) {
			w.people(100)
			for i := range 600 {
				client := fmt.Sprintf("%d.%d.7.9", 11+i%150, i/150)
				for range 3 {
					w.hit(time.Duration(w.IntN(8*3600))*second, client, fmt.Sprintf("GET /shop/%d", w.IntN(80)), 200, "-", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36")
				}
				w.is(client, Attacker)
			}
		},
		"a partner whose key is too old": func(w *town) {
			w.people(100)
			for k := range 600 {
				w.hit(time.Duration(k)*2*second, "198.51.100.9", fmt.Sprintf("GET /api/stock/%d", k), 401, "-", "GuzzleHttp/7")
			}
			w.is("198.51.100.9", Program)
		},
		"who gives certificates": func(w *town) {
			w.people(100)
			for i := range 200 {
				w.hit(time.Duration(w.IntN(8*3600))*second, fmt.Sprintf("198.51.100.%d", i%5), fmt.Sprintf("GET /.well-known/acme-challenge/%d", i), 200, "-", "Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)")
				w.is(fmt.Sprintf("198.51.100.%d", i%5), Undecided)
			}
		},
		"servers that work together": func(w *town) {
			w.people(100)
			for i := range 900 {
				request, status := "POST /inbox", 202
				if i%30 < 8 {
					request, status = fmt.Sprintf("GET /users/%d", i), 200
				}
				client := fmt.Sprintf("198.51.100.%d", i/30)
				w.hit(time.Duration(w.IntN(8*3600))*second, client, request, status, "-", fmt.Sprintf("Mastodon/4.3.1 (http.rb/5.2.0; +https://town%d.example/)", i/30))
				w.is(client, Undecided)
			}
		},
		"who tries cards": func(w *town) {
			w.people(100)
			for i := range 30 {
				client := fmt.Sprintf("198.51.100.%d", i)
				at := w.visit(time.Duration(i)*900*second, client, w.browser(), 4)
				for k := range 20 {
					at += 30 * second
					w.hit(at, client, "POST /checkout/pay", []int{402, 402, 402, 200}[(k+1)/20*3], host+"/checkout", w.browser())
				}
				w.is(client, Attacker)
			}
			for k := range 40 {
				w.hit(time.Duration(k)*600*second, "198.51.101.1", "POST /api/run", 402, "-", curl)
			}
			w.is("198.51.101.1", Program)
		},
		"a payment service beside a busy program": func(w *town) {
			w.people(100)
			for i := range 9000 {
				w.hit(time.Duration(i)*3*second, "198.51.100.8", fmt.Sprintf("GET /api/stock/%d", i%300), 200, "-", "node")
				if i%100 == 0 {
					w.hit(time.Duration(i)*3*second, "198.51.100.9", "POST /hooks/paid", 200, "-", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
				}
			}
			w.is("198.51.100.8", Program)
			w.is("198.51.100.9", Undecided)
		},
		"a scanner that drives a browser": func(w *town) {
			w.people(100)
			for i := range 600 {
				page := fmt.Sprintf("/shop/%d", i%80)
				w.hit(time.Duration(i)*second, "198.51.100.9", "GET "+page, 200, "-", browsers[1])
				w.hit(time.Duration(i)*second, "198.51.100.9", "GET /assets/1.css", 200, host+page, browsers[1])
				w.hit(time.Duration(i)*second, "198.51.100.9", fmt.Sprintf("GET /shop/%d?q=%%3CscRipt%%3Enetsparker(%d)", i, i), 403, host+page, browsers[1])
				w.hit(time.Duration(i)*second, "198.51.100.9", fmt.Sprintf("GET /shop/%d.bak", i), 404, host+page, browsers[1])
			}
			w.is("198.51.100.9", Attacker)
		},
		"an app on another host": func(w *town) {
			w.people(100)
			for i := range 400 {
				agent, at := browsers[i%len(browsers)], time.Duration(w.IntN(8*3600))*second
				w.hit(at, "198.51.100.9", fmt.Sprintf("OPTIONS /api/goals/%d", i), 200, host+"/", agent)
				w.hit(at, "198.51.100.9", fmt.Sprintf("GET /api/goals/%d", i), 200, host+"/", agent)
				w.hit(at, "198.51.100.8", fmt.Sprintf("GET /api/goals/%d", i), 200, host+"/", agent)
			}
			w.is("198.51.100.9", Undecided)
			w.is("198.51.100.8", Disguised)
		},
		"a telephone system that signs in for each call": func(w *town) {
			w.people(100)
			for i := range 60 {
				w.hit(time.Duration(i)*400*second, "10.1.0.7", "POST /ivr/login", 200, "-", "-")
				w.hit(time.Duration(i)*400*second, "198.51.100.7", "POST /ivr/login", 200, "-", "-")
				w.hit(time.Duration(i)*second, "10.1.0.8", "POST /ivr/login", 200, "-", "-")
			}
			w.is("10.1.0.7", Program)
			w.is("198.51.100.7", Attacker)
			w.is("10.1.0.8", Attacker)
		},
		"a scanner that guesses scripts": func(w *town) {
			w.people(100)
			for i := range 300 {
				agent := fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", 40+i%60)
				w.hit(time.Duration(i)*90*second, "198.51.100.9", fmt.Sprintf("GET /%d/plugin.js", i), 200, "-", agent)
				w.hit(time.Duration(i)*90*second, "198.51.100.8", fmt.Sprintf("GET /%d/a.png", i), 200, "https://forum.example/", agent)
			}
			w.is("198.51.100.9", Disguised)
			w.is("198.51.100.8", Undecided)
		},
		"a crawler": func(w *town) {
			w.people(100)
			for i := range 300 {
				w.hit(time.Duration(i)*17*second, "198.51.100.9", fmt.Sprintf("GET /shop/%d", w.IntN(500)), 200, "-", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
			}
			w.is("198.51.100.9", Search)
		},
		"a feed reader": func(w *town) {
			w.people(100)
			for i := range 14 {
				w.hit(time.Duration(i)*35*60*second, "198.51.100.9", "GET /feed", 200, "-", "FeedReader/1.0")
			}
			w.is("198.51.100.9", Program)
		},
		"the server itself": func(w *town) {
			w.people(100)
			for i := range 500 {
				w.hit(time.Duration(i)*10*second, "127.0.0.1", "GET /status", 200, "-", curl)
			}
			w.is("127.0.0.1", Own)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
			build(w)
			c := census(t, "", "", w.write(t))
			w.compare(t, c)
		})
	}
}

// Of a program behind the address of people it is asked who else is there.
func TestPeopleBesideAProgram(t *testing.T) {
	w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
	w.people(100)
	w.visit(time.Hour, "198.51.100.9", browsers[1], 9)
	for i := range 900 {
		w.hit(time.Duration(i)*time.Second, "198.51.100.9", fmt.Sprintf("GET /shop/%d", i), 200, "-", curl)
	}
	w.is("198.51.100.9", Program)
	c := census(t, "", "", w.write(t))
	w.compare(t, c)
	id, _ := c.observer.Tables.Clients.Find([]byte("198.51.100.9"))
	if got := c.Reasons(id); got[0] != "people as well?" {
		t.Errorf("%q", got)
	}
}

// Programs that ask for what people read scrape the site, unless they fetch packages.
func TestScraped(t *testing.T) {
	for agent, want := range map[string]bool{"python-requests/2.32.3": true, apt: false} {
		w := &town{Rand: testneeds.Rand(t, 38, 1), want: map[string][]Identity{}}
		w.people(100)
		for i := range 3000 {
			w.hit(time.Duration(w.IntN(8*3600))*time.Second, fmt.Sprintf("198.51.100.%d", i%200), fmt.Sprintf("GET /shop/pool/%d", i), 200, "-", agent)
		}
		if c := census(t, "", "", w.write(t)); c.Scraped() != want {
			t.Errorf("%s: %v", agent, !want)
		}
	}
}
