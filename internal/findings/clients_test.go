package findings

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/limit/limittest"
)

// A town is a generated log: who visits the site, and when.
type town struct {
	*rand.Rand
	lines []townLine
	from  time.Time
}

type townLine struct {
	at   time.Time
	text string
}

func newTown(t *testing.T) *town {
	return &town{Rand: testneeds.Rand(t, 16, 1), from: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

// hit adds a request, after so many seconds from the beginning. xff is the last column, "-" for none.
func (w *town) hit(after float64, client, request string, status int, agent, xff string) {
	at := w.from.Add(time.Duration(after * float64(time.Second)))
	w.lines = append(w.lines, townLine{at, fmt.Sprintf(`%s - - [%s] "%s HTTP/1.1" %d %d "-" "%s" "%s"`,
		client, at.Format("02/Jan/2006:15:04:05 -0700"), request, status, 300+7*len(request), agent, xff)})
}

// visit has a person read some pages, each of which is made of some files, by way of clients.
func (w *town) visit(after float64, agent, xff string, pages int, clients ...string) {
	for range pages {
		after += 5 + 40*w.Float64()
		by := func() string { return clients[w.IntN(len(clients))] }
		w.hit(after, by(), fmt.Sprintf("GET /shop/%d", w.IntN(50)), 200, agent, xff)
		for i := range 2 + w.IntN(3) {
			w.hit(after+float64(i)/2, by(), fmt.Sprintf("GET /assets/%d.css", w.IntN(20)), 200, agent, xff)
		}
	}
}

// write writes the log in the order of time.
func (w *town) write(t *testing.T) string {
	slices.SortStableFunc(w.lines, func(x, y townLine) int { return x.at.Compare(y.at) })
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

// browser is one of many agents of browsers, of several families and platforms.
func (w *town) browser() string {
	platform := []string{"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "Linux; Android 14"}[w.IntN(4)]
	version := 100 + w.IntN(40)
	if w.IntN(2) == 0 {
		return fmt.Sprintf("Mozilla/5.0 (%s; rv:%d.0) Gecko/20100101 Firefox/%[2]d.0", platform, version)
	}
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0 Safari/537.36", platform, version)
}

// platform is one of six browsers, each of another kind.
func (w *town) platform(i int) string {
	system := []string{"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"}[i%3]
	if i%2 == 0 {
		return "Mozilla/5.0 (" + system + "; rv:130.0) Gecko/20100101 Firefox/130.0"
	}
	return "Mozilla/5.0 (" + system + ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36"
}

// tells compares all that was found in a town with its text in testdata/towns, which -update rewrites.
func tells(t *testing.T, town string, l *Look, found []Finding) {
	t.Helper()
	if os.Getenv(testneeds.SeedVariable) != "" {
		return // another town
	}
	var text strings.Builder
	requests, clients := l.Population()
	fmt.Fprintf(&text, "%d requests of %d clients, %d of none: %s\n", requests, clients, l.Anonymous(), l.Site())
	for _, f := range found {
		fmt.Fprintf(&text, "%s %s %.6f: %s\n\t%s\n", f.Severity, f.Code, float64(f.Share), f.Evidence, f.Remedy)
	}
	for _, set := range []who.Set{
		1<<who.Own | 1<<who.Monitor, 1 << who.Attacker, 1 << who.Disguised, 1<<who.Office | 1<<who.Proxy,
	} {
		names := l.members(set)
		if n := len(names); n > 12 {
			names = append(names[:12], fmt.Sprint(n-12, " more"))
		}
		fmt.Fprintf(&text, "%s: %s\n", set, strings.Join(names, " "))
	}
	limittest.Golden(t, filepath.Join("testdata/towns", strings.NewReplacer(" ", "-", "/", "_").Replace(town)+".txt"), text.String())
}

// members are the names of the clients of a set, in their order: ids depend on which part of the log was read first.
func (l *Look) members(set who.Set) (names []string) {
	for id, is := range l.Census().Identities {
		if set.Has(is) && l.all.At(int32(id)).requests() > 0 {
			names = append(names, l.Read.Tables.Clients.Name(int32(id)))
		}
	}
	slices.Sort(names)
	return names
}

// people have so many visitors come by addresses of their own.
func (w *town) people(n int) {
	for i := range n {
		w.visit(7200*w.Float64(), w.browser(), "-", 2+w.IntN(6), fmt.Sprintf("203.0.%d.%d", i/250, 1+i%250))
	}
}

const mainFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"`

const (
	app, curl = "ShopApp/5.1 (Android 14; okhttp/4.12)", "curl/8.5.0"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

var clientCodes = []string{
	"proxy_as_client", "forged_forwarded_for", "own_server", "health_check", "attacker", "api_or_app", "shared_addresses",
	"bot_network", "inner_hosts", "masked_addresses", "partial", "secrets_served", "password_guessed", "admin_indexed",
}

// Each finding about clients is told where it is true, and not where something else looks like it.
func TestWhoTheClientsAre(t *testing.T) {
	for name, c := range map[string]struct {
		build func(w *town)
		want  string // "severity code", each, in any order
		says  string // a part of the first finding's evidence and remedy
	}{
		"a site for people": {func(w *town) { w.people(150) }, "", ""},
		"a proxy whose header is not filled": {func(w *town) {
			for range 60 {
				w.visit(3600*w.Float64(), w.browser(), "-", 6, "172.18.0.1")
			}
		}, "stop proxy_as_client", "172.18.0.1"},
		"a proxy on the server itself, before one kind of browser": {func(w *town) {
			for range 60 {
				w.visit(3600*w.Float64(), w.platform(0), "-", 6, "127.0.0.1")
			}
			for i := range 300 {
				w.hit(9*float64(i), "127.0.0.1", fmt.Sprintf("GET /shop/%d", i), 200, curl, "-")
			}
		}, "stop proxy_as_client", "as 1 kind of browsers"},
		"a quiet proxy before a scanner": {func(w *town) {
			for i := range 12 {
				for page := range 5 {
					w.hit(3600*float64(i)+float64(7*page), "172.17.0.2", fmt.Sprintf("GET /shop/%d", page), 200, w.platform(i), "-")
				}
			}
			for i := range 20 {
				w.hit(7000+float64(i), "172.17.0.2", "GET /.git/config", 200, curl, "-")
			}
		}, "stop proxy_as_client, warn secrets_served", "172.17.0.2"},
		"a balancer that asks whether the site is up": {func(w *town) {
			for i := range 2000 {
				w.hit(10*float64(i), "172.31.0.4", "GET /", 200, "ELB-HealthChecker/2.0", "-")
			}
			for i := range 12 {
				w.visit(1500*float64(i), w.platform(i), "-", 4, "172.31.0.4")
			}
			w.people(30)
		}, "stop proxy_as_client", "172.31.0.4"},
		"an inner scanner of many agents": {func(w *town) {
			w.people(60)
			for i := range 200 {
				w.hit(float64(i), "10.0.0.66", fmt.Sprintf("GET /old%d.php", i), 404, w.platform(i), "-")
			}
		}, "info attacker", "10.0.0.66"},
		"a delivery network before phones": {func(w *town) {
			for range 1200 {
				agent := fmt.Sprintf("Mozilla/5.0 (Linux; Android 11; SM-A%d) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0 Mobile Safari/537.36", w.IntN(900))
				w.hit(7200*w.Float64(), fmt.Sprintf("203.158.%d.4", w.IntN(40)), "GET /", 200, agent, "-")
			}
			w.people(3)
		}, "stop proxy_as_client", "40 addresses"},
		"edges of Cloudflare that bring a browser each": {func(w *town) {
			for i := range 900 {
				w.hit(float64(9*i), fmt.Sprintf("172.68.%d.%d", i%150, i%7), fmt.Sprintf("GET /shop/%d", i%50), 200, w.platform(i%3), "-")
			}
			w.people(30)
		}, "stop proxy_as_client", "of Cloudflare: a proxy seems to be in front"},
		"masked addresses": {func(w *town) {
			for i := range 60 {
				w.visit(7200*w.Float64(), w.browser(), "-", 4, fmt.Sprintf("203.0.%d.0", i), fmt.Sprintf("2001:db8:%d::", i))
			}
			w.visit(0, w.browser(), "-", 4, "198.51.100.7")
		}, "warn masked_addresses", "so they are masked: limits here count networks"},
		"forms sent by neighbours that change their agents": {func(w *town) {
			for i := range 1200 {
				agent := fmt.Sprintf("Mozilla/5.0 (Linux; Android 11; SM-A%d) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0 Mobile Safari/537.36", w.IntN(900))
				client := fmt.Sprintf("203.158.%d.4", i%40)
				w.hit(float64(5*i), client, "GET /contact", 200, agent, "-")
				w.hit(float64(5*i+1), client, "POST /contact", 200, agent, "-")
			}
			w.people(3)
		}, "", ""},
		"developers who try other browsers": {func(w *town) {
			for i := range 60 {
				n := 0
				if i%7 == 0 {
					n = i / 7
				}
				w.visit(300*float64(i), w.platform(n), "-", 6, "198.51.100.9")
			}
			for i := range 30 {
				w.hit(100*float64(i), fmt.Sprintf("203.0.0.%d", i), "GET /shop/1", 200, w.browser(), "-")
			}
		}, "info shared_addresses", ""},
		"a log without files": {func(w *town) {
			for i := range 320 {
				for page := range 3 {
					w.hit(float64(20*i+9*page), fmt.Sprintf("203.0.%d.%d", i/250, 1+i%250), fmt.Sprintf("GET /shop/%d", w.IntN(50)), 200, w.browser(), "-")
				}
			}
		}, "warn partial", "960 requests of browsers, and not one file of a page"},
		"some that use a relay of Cloudflare": {func(w *town) {
			for i := range 30 {
				w.visit(7200*w.Float64(), w.browser(), "-", 4, fmt.Sprintf("104.28.7.%d", i))
			}
			w.people(60)
		}, "", ""},
		"bots everywhere that change their agents": {func(w *town) {
			for i := range 1200 {
				agent := fmt.Sprintf("Mozilla/5.0 (Linux; Android 11; SM-A%d) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0 Mobile Safari/537.36", w.IntN(900))
				w.hit(7200*w.Float64(), fmt.Sprintf("%d.158.7.4", 20+2*(i%40)), "GET /", 200, agent, "-")
			}
			w.people(3)
		}, "", ""},
		"an intranet that strangers see as well": {func(w *town) {
			w.people(30)
			for i := range 60 {
				w.visit(7200*w.Float64(), "-", "-", 8, fmt.Sprintf("10.0.1.%d", i))
			}
		}, "", ""},
		"a public proxy": {func(w *town) {
			for range 60 {
				w.visit(3600*w.Float64(), w.browser(), "-", 6, "198.51.100.9")
			}
			w.people(8)
		}, "stop proxy_as_client", "198.51.100.9"},
		"a public proxy that many come past": {func(w *town) {
			for i := range 60 {
				system := []string{"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "Linux; Android 14"}[i%4]
				behind := []string{"", " Edg/143.0.0.0", " OPR/125.0.0.0"}[i%3]
				w.visit(3600*w.Float64(), "Mozilla/5.0 ("+system+") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"+behind, "-", 6, "198.51.100.9")
			}
			w.people(40)
		}, "stop proxy_as_client", "198.51.100.9"},
		"a delivery network without a header": {func(w *town) {
			var edges []string
			for i := range 40 {
				edges = append(edges, fmt.Sprintf("198.51.100.%d", i))
			}
			for range 150 {
				w.visit(7200*w.Float64(), w.browser(), "-", 6, edges...)
			}
		}, "stop proxy_as_client", "40 addresses"},
		"a delivery network beside tools": {func(w *town) {
			var edges []string
			for i := range 40 {
				edges = append(edges, fmt.Sprintf("198.51.100.%d", i))
			}
			for range 150 {
				w.visit(7200*w.Float64(), w.browser(), "-", 6, edges...)
			}
			for i := range 800 {
				w.hit(float64(i), fmt.Sprintf("203.0.9.%d", i%200), "GET /shop/1", 200, curl, "-")
			}
		}, "stop proxy_as_client", "% of requests come from 40 addresses"},
		"a proxy with a header": {func(w *town) {
			for i := range 20 {
				w.visit(3600*w.Float64(), w.browser(), fmt.Sprintf("203.0.7.%d", i), 9, "10.0.0.1")
			}
		}, "stop proxy_as_client", "20 real ones behind 1 address (10.0.0.1); trust them only if they are yours; try --client-from x-forwarded-for --trusted-proxy 10.0.0.1"},
		"a delivery network with a header": {func(w *town) {
			for i := range 20 {
				for range 40 {
					w.visit(86400*w.Float64(), w.browser(), fmt.Sprintf("203.0.7.%d", i), 3, fmt.Sprintf("162.158.%d.%d", w.IntN(4), w.IntN(256)))
				}
			}
		}, "stop proxy_as_client", "20 real ones behind"},
		"addresses from everywhere that name a few others": {func(w *town) {
			for i := range 60 {
				w.visit(86400*w.Float64(), w.browser(), fmt.Sprintf("203.0.7.%d", i%4), 9, fmt.Sprintf("%d.%d.0.1", 11+37*i%200, i))
			}
		}, "stop proxy_as_client", "name their networks with --trusted-proxy, from the list of their operator"},
		"an office among visitors": {func(w *town) {
			w.people(150)
			for range 12 {
				w.visit(3600*w.Float64(), w.browser(), "-", 5, "198.51.100.9")
			}
		}, "info shared_addresses", "1 address is shared"},
		"an intranet": {func(w *town) {
			for i := range 80 {
				w.visit(3600*w.Float64(), w.browser(), "-", 6, fmt.Sprintf("10.1.0.%d", i))
			}
		}, "", ""},
		"a scraper with many agents": {func(w *town) {
			w.people(40)
			for i := range 3000 {
				w.hit(float64(i), "198.51.100.66", fmt.Sprintf("GET /shop/%d", i), 200, w.browser(), "-")
			}
		}, "", ""},
		"carriers' proxies": {func(w *town) {
			w.people(150)
			for i := range 8 {
				w.visit(3600*w.Float64(), w.browser(), fmt.Sprintf("10.20.0.%d", i), 3, fmt.Sprintf("198.51.100.%d", i))
			}
		}, "", ""},
		"a scanner with many agents": {func(w *town) {
			w.people(150)
			for i := range 900 {
				w.hit(float64(i)/4, "198.51.100.66", fmt.Sprintf("GET /backup/%d.js", i), 404, w.browser(), "-")
				w.hit(float64(i)/4, "198.51.100.66", fmt.Sprintf("GET /backup/%d", i), 404, w.browser(), "-")
			}
		}, "info attacker", "198.51.100.66"},
		"a program that is a browser at times": {func(w *town) {
			w.people(150)
			for range 4 {
				w.visit(3600*w.Float64(), w.browser(), "-", 5, "198.51.100.66")
			}
			w.visit(3600*w.Float64(), curl, "-", 90, "198.51.100.66")
		}, "", ""},
		"offices among visitors": {func(w *town) {
			w.people(60)
			for i := range 150 {
				w.visit(7200*w.Float64(), w.browser(), "-", 5, fmt.Sprintf("198.51.100.%d", i%10))
			}
		}, "info shared_addresses", "10 addresses"},
		"a large office among visitors": {func(w *town) {
			w.people(150)
			for range 50 {
				w.visit(7200*w.Float64(), w.browser(), "-", 5, "198.51.100.9")
			}
		}, "info shared_addresses, warn proxy_as_client", "an office or a carrier"},
		"one with several browsers on the network": {func(w *town) {
			w.people(100)
			for i := range 8 {
				w.visit(float64(i)*3600, w.browser(), "-", 30, "10.0.0.5")
			}
		}, "info shared_addresses", "1 address"},
		"a public proxy whose visitors come once": {func(w *town) {
			for i := range 900 {
				w.hit(float64(i), "198.51.100.9", fmt.Sprintf("GET /shop/%d", i%50), 200, w.browser(), fmt.Sprintf("203.0.%d.%d", i/250, 1+i%250))
			}
		}, "stop proxy_as_client", "900 real ones behind 1 address (198.51.100.9)"},
		"a client that writes headers": {func(w *town) {
			w.people(150)
			for i := range 400 {
				w.hit(float64(i), "198.51.100.66", "GET /shop/1", 200, curl, fmt.Sprintf("%d.%d.3.4", 20+w.IntN(60), w.IntN(256)))
			}
		}, "warn forged_forwarded_for", "400 requests of 1 address"},
		"a client that writes headers, behind a proxy": {func(w *town) {
			for i := range 60 {
				w.visit(3600*w.Float64(), w.browser(), fmt.Sprintf("203.0.7.%d", i), 6, "10.0.0.1")
			}
			for i := range 300 {
				w.hit(float64(i), "10.0.0.1", "GET /shop/1", 200, curl, fmt.Sprintf("%d.%d.3.4, 198.51.100.66", 20+w.IntN(60), w.IntN(256)))
			}
		}, "stop proxy_as_client, warn forged_forwarded_for", "61 real ones"},
		"a client that writes headers, beside proxies": {func(w *town) {
			for i := range 60 {
				w.visit(3600*w.Float64(), w.browser(), fmt.Sprintf("203.0.7.%d", i), 6, "10.0.0.1")
			}
			for i := range 300 {
				w.hit(float64(i), "198.51.100.66", "GET /shop/1", 200, curl, fmt.Sprintf("%d.%d.3.4", 20+w.IntN(60), w.IntN(256)))
			}
		}, "stop proxy_as_client, warn forged_forwarded_for", "60 real ones behind 1 address"},
		"a client that writes headers as many browsers": {func(w *town) {
			w.people(150)
			for i := range 1100 {
				w.hit(float64(i), "198.51.100.66", "GET /shop/1", 200, w.browser(), fmt.Sprintf("%d.%d.%d.4", 20+w.IntN(60), w.IntN(256), w.IntN(256)))
			}
		}, "warn forged_forwarded_for", "1,100 requests of 1 address"},
		"a proxy beside visitors that come past it": {func(w *town) {
			w.people(150)
			for i := range 300 {
				w.visit(float64(i), w.browser(), fmt.Sprintf("%d.%d.%d.4", 20+w.IntN(60), w.IntN(256), w.IntN(256)), 2, "198.51.100.66")
			}
		}, "info shared_addresses, warn proxy_as_client", "trust them only if they are yours"},
		"entries that are no addresses": {func(w *town) {
			w.people(150)
			for i := range 15 {
				w.hit(float64(i), fmt.Sprintf("198.51.100.%d", i), "GET /shop/1", 200, w.browser(), "' or 1=1")
			}
		}, "info forged_forwarded_for", "belongs to no host in 15 requests"},
		"its own work": {func(w *town) {
			w.people(60)
			for i := range 900 {
				w.hit(8*float64(i), "198.51.100.5", "POST /wp-cron.php?doing_wp_cron=1", 200, "WordPress/6.4; https://shop.example", "-")
			}
		}, "info own_server", "--exclude 198.51.100.5"},
		"pingbacks of others": {func(w *town) {
			w.people(60)
			for i := range 300 {
				w.hit(8*float64(i), "198.51.100.5", fmt.Sprintf("GET /blog/%d", i%30), 200, "WordPress/6.4; https://other.example", "-")
			}
		}, "", ""},
		"a monitor": {func(w *town) {
			w.people(60)
			for i := range 120 {
				w.hit(60*float64(i), "198.51.100.5", "GET /shop/1", 200, "Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "-")
			}
		}, "info health_check", "--exclude 198.51.100.5"},
		"a check from within": {func(w *town) {
			w.people(60)
			for i := range 1200 {
				w.hit(5*float64(i), "10.100.0.1", "HEAD /", 301, curl, "-")
			}
		}, "info health_check", "--exclude 10.100.0.1"},
		"a program that asks for the first page at any time": {func(w *town) {
			w.people(60)
			for range 120 {
				w.hit(7200*w.Float64()*w.Float64(), "198.51.100.5", "GET /", 200, curl, "-")
			}
		}, "", ""},
		"a reader of a feed": {func(w *town) {
			w.people(60)
			for i := range 120 {
				w.hit(3600*float64(i), "198.51.100.5", "GET /feed.xml", 200, curl, "-")
			}
		}, "", ""},
		"one that asks for a feed each minute": {func(w *town) {
			w.people(60)
			for i := range 120 {
				w.hit(60*float64(i), "198.51.100.5", "GET /feed.xml", 200, curl, "-")
			}
		}, "", ""}, // a program, and no monitor of the site
		"one that asks for the first page each minute": {func(w *town) {
			w.people(60)
			for i := range 120 {
				w.hit(60*float64(i), "198.51.100.5", "GET /", 200, curl, "-")
			}
		}, "info health_check", "--exclude 198.51.100.5"},
		"passwords are tried": {func(w *town) {
			w.people(60)
			for i := range 3000 {
				w.hit(float64(i), "198.51.100.66", "POST /administrator/index.php", 200, "Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 Chrome/40.0 Safari/537.36", "-")
			}
		}, "info attacker", "100.00 % try passwords"},
		"a few passwords are tried": {func(w *town) {
			w.people(300)
			for i := range 220 {
				w.hit(float64(i), "198.51.100.66", "POST /administrator/index.php", 200, curl, "-")
			}
		}, "info attacker", "100.00 % try passwords"},
		"a hundred in a long log": {func(w *town) {
			w.people(900)
			for i := range 100 {
				w.hit(60*float64(i), "198.51.100.66", "POST /administrator/index.php", 200, curl, "-")
			}
		}, "info attacker", "100.00 % try passwords"},
		"so few that they are not worth to tell": {func(w *town) {
			w.people(300)
			for i := range 20 {
				w.hit(float64(i), "198.51.100.66", "POST /administrator/index.php", 200, curl, "-")
			}
		}, "", ""},
		"a partner's program": {func(w *town) {
			w.people(60)
			for i := range 600 {
				w.hit(4*float64(i)+3*w.Float64(), "198.51.100.66", fmt.Sprintf("GET /prices/%d", i%100), 200, "python-requests/2.31.0", "-")
			}
		}, "", ""},
		"an app": {func(w *town) {
			w.people(10)
			for i := range 100 {
				for range 20 {
					w.hit(7200*w.Float64(), fmt.Sprintf("198.51.100.%d", i), fmt.Sprintf("GET /api/%d", w.IntN(9)), 200, app, "-")
				}
			}
		}, "info api_or_app", "100 of 110 clients"},
		"tools, one of them loud": {func(w *town) {
			w.people(40)
			for i := range 45 {
				w.hit(float64(i), fmt.Sprintf("198.51.100.%d", i), "GET /prices", 200, curl, "-")
			}
			for i := range 3000 {
				w.hit(float64(i), "198.51.100.200", fmt.Sprintf("GET /prices/%d", i), 200, curl, "-")
			}
		}, "", ""},
		"a site for people that is scanned": {func(w *town) {
			w.people(60)
			for i := range 3000 {
				w.hit(float64(i), fmt.Sprintf("198.51.100.%d", i%200), fmt.Sprintf("GET /%d.env", i), 404, curl, "-")
			}
		}, "info attacker", "200 addresses"},
		"passwords are tried from many addresses": {func(w *town) {
			w.people(60)
			for i := range 600 {
				w.hit(float64(i), fmt.Sprintf("198.51.100.%d", i%100), "POST /wp-login.php", 200, w.browser(), "-")
			}
		}, "info attacker", "a swarm of 100 addresses with one form: 600 passwords were tried"},
		"a password is guessed": {func(w *town) {
			w.people(60)
			for i := range 5 { // who are let in
				w.hit(7300+float64(i), fmt.Sprintf("203.0.0.%d", 1+i), "POST /login", 200, w.browser(), "-")
			}
			for i := range 40 {
				w.hit(float64(i), "198.51.100.66", "POST /login", 401, curl, "-")
			}
			w.hit(60, "198.51.100.66", "POST /login", 200, curl, "-")
		}, "info attacker, warn password_guessed", "1 address (198.51.100.66) got in after many wrong passwords"},
		"secrets are given away": {func(w *town) {
			w.people(60)
			w.hit(10, "198.51.100.66", "GET /.git/config", 200, curl, "-")
			w.hit(11, "198.51.100.66", "GET /.git/HEAD", 200, curl, "-")
			w.hit(12, "198.51.100.67", "GET /shop/"+strings.Repeat("a", 40)+"/.env", 200, curl, "-")
		}, "warn secrets_served", "3 requests for /.git/HEAD, …" + strings.Repeat("a", 35) + "/.env with 200, from 2 clients"},
		"a search engine reads what is for those who run the site": {func(w *town) {
			w.people(60)
			for i := range 30 {
				w.hit(float64(i), "66.249.66.1", fmt.Sprintf("GET /shop/%d", i), 200, googlebot, "-")
				w.hit(float64(i), "66.249.66.1", "GET /admin/orders", 200, googlebot, "-")
			}
		}, "warn admin_indexed", "1 address (66.249.66.1) of search engines got 30 pages of the site's administration"},
		"a search engine that must log in": {func(w *town) {
			w.people(60)
			for i := range 30 {
				w.hit(float64(i), "66.249.66.1", "GET /wp-admin/admin-ajax.php", 200, googlebot, "-")
				w.hit(float64(i), "66.249.66.1", "GET /admin/orders", 302, googlebot, "-")
				w.hit(float64(i), "66.249.66.1", "GET /admin/login", 200, googlebot, "-")
			}
		}, "", ""},
		"inner services beside visitors": {func(w *town) {
			w.people(60)
			for i := range 900 {
				w.hit(8*w.Float64()*900, fmt.Sprintf("10.1.0.%d", i%9), fmt.Sprintf("GET /prices/%d", i%70), 200, "orders/2.1", "-")
			}
		}, "stop inner_hosts", "9 addresses (10.1.0.0, 10.1.0.1, 10.1.0.2, and 6 more) sent 900"},
		"a service of the site beside visitors": {func(w *town) {
			w.people(150)
			for i := range 90 {
				w.hit(float64(i), "10.0.4.7", "GET /api/stock", 200, "okhttp/4.12.0", "-")
			}
		}, "warn inner_hosts", "--exclude 10.0.4.7"},
		"an intranet beside visitors": {func(w *town) {
			w.people(60)
			for i := range 80 {
				w.visit(3600*w.Float64(), w.browser(), "-", 6, fmt.Sprintf("10.1.0.%d", i))
			}
		}, "", ""},
		"people who sign in now and then": {func(w *town) {
			w.people(100)
			var browsers []string
			for i := range 400 {
				browsers = append(browsers, w.browser())
				client, browser := fmt.Sprintf("198.51.100.%d", i%100), browsers[i%100]
				w.visit(float64(i), browser, "-", 1, client)
				w.hit(60+float64(i), client, "POST /wp-login.php", 302, browser, "-")
			}
		}, "", ""},
		"a mirror that lacks much": {func(w *town) {
			for i := range 3000 {
				w.hit(float64(i), fmt.Sprintf("198.51.100.%d", i%200), fmt.Sprintf("GET /dists/%d", i), []int{200, 404, 404}[i/200%3], "Debian APT-HTTP/1.3 (2.6.1)", "-")
			}
			for i := range 90 {
				w.hit(float64(i), fmt.Sprintf("203.0.113.%d", i), "GET /dists/1", 200, "Debian APT-HTTP/1.3 (2.6.1)", "-")
			}
		}, "info api_or_app", "90 of 90 clients"},
		"a site for people that tools attack": {func(w *town) {
			w.people(100)
			for i := range 10 {
				for j := range 800 {
					w.hit(float64(j), fmt.Sprintf("198.51.100.%d", i), "GET /.env", 404, curl, "-")
				}
			}
		}, "info attacker", "100.00 % are probes of scanners, 100.00 % ask for what is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			c.build(w)
			l, found := reading{format: mainFormat}.look(t, w.write(t))
			tells(t, name, l, found)
			var got []string
			said := ""
			for _, f := range found {
				if slices.Contains(clientCodes, f.Code) {
					got = append(got, f.Severity.String()+" "+f.Code)
					if said == "" {
						said = f.String()
					}
				}
			}
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, ", ")
			}
			if slices.Sort(got); !slices.Equal(got, want) || !strings.Contains(said, c.says) {
				t.Errorf("found %q: %s\nwant %q, and %q", got, said, want, c.says)
			}
		})
	}
}

// Clients of one agent that are much of the log together are asked about, unless they are people.
func TestHeavyTogether(t *testing.T) {
	for name, wanted := range map[string]bool{"in one page": true, "as people": false} {
		w := newTown(t)
		w.people(100)
		agent := w.browser()
		for i := range 12 {
			client := fmt.Sprintf("%d.51.100.9", 20+13*i)
			for page := range 60 {
				if wanted {
					w.hit(float64(100*page+i)+w.Float64()*90, client, "GET /shop/1", 200, agent, "-")
				} else {
					w.visit(7200*w.Float64(), agent, "-", 1, client)
				}
			}
		}
		_, found := reading{format: mainFormat}.look(t, w.write(t))
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == "heavy_client" })
		if i >= 0 != wanted || wanted && !strings.Contains(found[i].Evidence, "and 9 more") {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// An agent is told of heavy clients only if all have it.
func TestHeavyWithAgents(t *testing.T) {
	for name, agents := range map[string][2]string{"one": {"node", "node"}, "two": {"node", "python-requests/2.32.3"}} {
		w := newTown(t)
		w.people(100)
		for i := range 4000 {
			w.hit(float64(i)*4, fmt.Sprintf("198.51.100.%d", i%2), fmt.Sprintf("GET /api/%d", i), 200, agents[i%2], "-")
		}
		_, found := reading{format: mainFormat}.look(t, w.write(t))
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == "heavy_client" })
		if i < 0 {
			t.Fatalf("%s: %v", name, found)
		}
		if f := &found[i]; strings.Contains(f.Brief, "as node") != (name == "one") || strings.Contains(f.Evidence, "the busiest: ") != (name == "two") {
			t.Errorf("%s: %s\n%s", name, f.Brief, f.Evidence)
		}
	}
}

// What a finding proposes tells the clients apart that are behind the proxies, and is enough.
func TestRemedyOfProxies(t *testing.T) {
	for name, edge := range map[string]func(w *town) string{
		"one on a private network":    func(*town) string { return "10.0.0.1" },
		"several on private networks": func(w *town) string { return fmt.Sprintf("10.0.%d.%d", w.IntN(3), w.IntN(5)) },
		"two":                         func(w *town) string { return []string{"198.51.100.7", "2001:db8::7"}[w.IntN(2)] },
		"a delivery network": func(w *town) string {
			if w.IntN(3) == 0 {
				return fmt.Sprintf("2400:cb00:%x:1024::%x", w.IntN(600), w.IntN(1<<16))
			}
			return fmt.Sprintf("%s.%d.%d", []string{"162.158", "172.68", "108.162"}[w.IntN(3)], w.IntN(256), w.IntN(256))
		},
		"some on both": func(w *town) string {
			return []string{"10.0.0.1", "10.0.0.2", "198.51.100.7"}[w.IntN(3)]
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			const people = 23
			for i := range people {
				browser := w.browser()
				for range 10 {
					w.visit(86400*w.Float64(), browser, fmt.Sprintf("203.0.7.%d", i), 2, edge(w))
				}
			}
			log := w.write(t)
			l, found := reading{format: mainFormat}.look(t, log)
			tells(t, "proxies, "+name, l, found)
			i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == "proxy_as_client" })
			if i < 0 {
				t.Fatal("no proxy is found")
			}
			var from, trusted string
			if n, err := fmt.Sscanf(found[i].Remedy, "--client-from %s --trusted-proxy %s", &from, &trusted); n != 2 {
				t.Fatal(found[i].Remedy, err)
			}
			l, found = reading{format: mainFormat, from: from, trusted: strings.Split(trusted, ",")}.look(t, log)
			tells(t, "proxies that are trusted, "+name, l, found)
			if slices.ContainsFunc(found, func(f Finding) bool { return f.Code == "proxy_as_client" }) || l.senders() != people {
				t.Errorf("with --trusted-proxy %s there are %d clients, want %d; %v", trusted, l.senders(), people, found)
			}
		})
	}
}

// The networks that are proposed hold all addresses, and are not many.
func TestCovering(t *testing.T) {
	rng := testneeds.Rand(t, 16, 2)
	for range 200 {
		var all []netip.Addr
		is6, most := rng.IntN(2) == 0, 1+rng.IntN(8)
		for range 1 + rng.IntN(60) {
			var a [16]byte
			for i := range a {
				a[i] = byte(rng.IntN(1 << rng.IntN(9)))
			}
			if is6 {
				a[0] = 0x20
				all = append(all, netip.AddrFrom16(a))
			} else {
				all = append(all, netip.AddrFrom4([4]byte(a[:4])))
			}
		}
		names := covering(slices.Clone(all), most)
		for _, a := range all {
			if !slices.ContainsFunc(names, func(p netip.Prefix) bool { return p.Contains(a) }) {
				t.Errorf("%s is in none of %q", a, names)
			}
		}
		for i, p := range names {
			if slices.ContainsFunc(names[i+1:], p.Overlaps) {
				t.Errorf("%s is in another one of %q", p, names)
			}
		}
		if len(names) > most {
			t.Errorf("%d networks, want at most %d", len(names), most)
		}
	}
}

// Whatever a client makes up, it is one client, and takes no more room.
func TestHostileClients(t *testing.T) {
	w := newTown(t)
	for i := range 3 * mostOrigins {
		w.hit(float64(i)/10, "198.51.100.66", "GET /", 200, fmt.Sprintf("Agent/%d", i), fmt.Sprintf("%d.%d.%d.%d", 20+i%60, i/60%256, i/60/256, w.IntN(256)))
	}
	l, _ := reading{format: mainFormat}.look(t, w.write(t))
	for _, looker := range l.lookers {
		if c, ok := looker.(*clients); ok {
			if len(c.behind.peers) != 1 || len(c.behind.origins) != mostOrigins || len(c.heavy()) != 1 {
				t.Errorf("%d peers, %d origins, %d heavy clients", len(c.behind.peers), len(c.behind.origins), len(c.heavy()))
			}
		}
	}
	if size := unsafe.Sizeof(client{}); size > 64 {
		t.Errorf("a client takes %d bytes", size)
	}
}

// Who works for the site by its word alone, and is most of the log, is left out of the answer and of no limit: a screen says how
// to leave it out of both.
func TestOwnWorkByItsWord(t *testing.T) {
	for requests, want := range map[int]bool{4000: true, 400: false} {
		w := newTown(t)
		w.people(60)
		for i := range requests {
			w.hit(float64(2*i), "198.51.100.9", fmt.Sprintf("GET /shop/%d", i%50), 200, "Serf/1.1.0 mod_pagespeed/1.9.32.14-0", "-")
		}
		_, found := reading{format: mainFormat}.look(t, w.write(t))
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == "own_server" })
		if i < 0 || strings.HasSuffix(found[i].Brief, "ask again with --exclude 198.51.100.9") != want {
			t.Errorf("%d requests: %+v", requests, found)
		}
	}
}
