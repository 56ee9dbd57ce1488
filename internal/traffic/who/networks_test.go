package who

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/request"
	"shadow/internal/testneeds"
)

// read has a person read pages by way of clients: each names the one before, and is made of files, unless those are
// kept elsewhere.
func (w *town) read(at time.Duration, agent string, pages int, files bool, clients ...string) {
	by := func() string { return clients[w.IntN(len(clients))] }
	for from := "https://search.example/"; pages > 0; pages-- {
		at += w.seconds(3 + 60*w.ExpFloat64())
		page := fmt.Sprintf("/shop/%d", w.IntN(50))
		w.hit(at, by(), "GET "+page, 200, from, agent)
		from = host + page
		for i := range 2 + w.IntN(3) {
			if files {
				w.hit(at+time.Duration(i)*time.Second/2, by(), fmt.Sprintf("GET /assets/%d.css", w.IntN(20)), 200, from, agent)
			}
		}
	}
}

func (w *town) seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// anytime returns a moment of the first two hours.
func (w *town) anytime() time.Duration { return w.seconds(7200 * w.Float64()) }

// readers adds people at addresses of their own: how many pages one reads differs as people do.
func (w *town) readers(n int, address string) {
	for i := range n {
		var client string
		switch strings.Count(address, "%d") {
		case 1:
			client = fmt.Sprintf(address, i%250)
		case 2:
			for client == "" || w.want[client] != nil {
				client = fmt.Sprintf(address, w.IntN(256), 1+w.IntN(250))
			}
		}
		w.read(w.anytime(), w.browser(), 1+int(5*w.ExpFloat64()), true, client)
		w.is(client, Person, Office, Undecided)
	}
}

// bot has each of n addresses send requests, one every so many seconds.
func (w *town) bot(n int, address func(i int) string, every float64, request string, status int, rotates bool) {
	for i := range n {
		agent, client := w.browser(), address(i)
		w.is(client, Disguised, Attacker)
		for at := every * w.Float64(); at < 7200; at += every * (0.5 + w.Float64()) {
			if rotates {
				agent = w.browser()
			}
			text := request
			if strings.Contains(request, "%d") {
				text = fmt.Sprintf(request, w.IntN(5000))
			}
			w.hit(w.seconds(at), client, text, status, "-", agent)
		}
	}
}

// app adds an app on phones, each at an address of a carrier; it claims to be a browser and loads nothing but offers.
// So it is disguised where it loads many, and never attacks.
func (w *town) app(status int) {
	for range 300 {
		client := fmt.Sprintf("100.70.%d.%d", w.IntN(256), w.IntN(256))
		w.is(client, Undecided, Disguised)
		for range 1 + int(6*w.ExpFloat64()) {
			w.hit(w.anytime(), client, "GET /api/offers", status, "-",
				"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148")
		}
	}
}

func numbered(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// Networks that are bots as a whole are found, and those of people are not.
func TestNetworks(t *testing.T) {
	owners := filepath.Join(t.TempDir(), "owners.mmdb")
	if err := testneeds.MMDB(owners, "GeoLite2-ASN", testneeds.Records{
		"45.0.0.0/8": testneeds.Owner(64500, "Bullet Proof", "ZZ"), "100.64.0.0/10": testneeds.Owner(64501, "Mobile", "DE"),
	}); err != nil {
		t.Fatal(err)
	}
	anywhere := func(w *town) func(int) string {
		return func(int) string { return fmt.Sprintf("45.%d.%d.%d", w.IntN(256), w.IntN(256), w.IntN(256)) }
	}
	edges := func(w *town, n int, who ...Identity) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("198.51.100.%d", i+1))
			w.is(all[i], who...)
		}
		return all
	}
	for name, c := range map[string]struct {
		build func(w *town)
		names []string // of networks
		key   request.Key
		sign  string
		owner string // of whose networks whole is said
		whole Whole
	}{
		"a /24": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
		}, names: []string{"45.9.16.0/24"}, key: "client/24", sign: "their numbers vary by ", owner: "AS64500 Bullet Proof", whole: OneBot},
		"a /24 that changes its agents": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, true)
		}, names: []string{"45.9.16.0/24"}, key: "client/24", sign: "0.00 % of the pages have a referer"},
		"a /24 within a provider's network": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
			w.readers(30, "45.9.%d.%d")
		}, names: []string{"45.9.16.0/24"}, key: "client/24"},
		"a /20": {build: func(w *town) {
			w.bot(300, func(i int) string { return fmt.Sprintf("45.9.%d.%d", 16+i%16, i/16) }, 120, "GET /shop/%d", 200, false)
		}, names: []string{"45.9.16.0/20"}, key: "client/20"},
		"a /48": {build: func(w *town) {
			w.bot(300, numbered("2001:db8:7:%x::1"), 120, "GET /shop/%d", 200, false)
		}, names: []string{"2001:db8:7::/48"}, key: "client/48"},
		"a /64 each of whose addresses sends a request": {build: func(w *town) {
			w.bot(700, numbered("2001:db8:7:1::%x"), 7200, "GET /shop/%d", 200, true)
		}, names: []string{"2001:db8:7:1::/64"}, key: "client/64", sign: "700 addresses where a home has a few devices"},
		"a system of networks": {build: func(w *town) {
			w.bot(300, anywhere(w), 300, "GET /shop/%d", 200, false)
		}, names: []string{"AS64500 Bullet Proof"}, key: "asn"},
		"two networks": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
			w.bot(100, numbered("2001:db8:7:%x::1"), 120, "GET /shop/%d", 200, false)
		}, names: []string{"45.9.16.0/24", "2001:db8:7::/48"}, key: "client/24"},
		"one that looks for what is not there": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 3600, "GET /%d.php", 404, true)
		}, names: []string{"45.9.16.0/24"}, key: "client/24", sign: "100.00 % of the answers are errors"},
		"one that tries passwords": {build: func(w *town) {
			w.bot(200, numbered("45.9.16.%d"), 3000, "POST /login", 200, true)
		}, names: []string{"45.9.16.0/24"}, key: "client/24", sign: "100.00 % of the requests try passwords"},
		"checks that claim to be browsers": {build: func(w *town) {
			w.bot(20, numbered("45.9.16.%d"), 60, "GET /shop/1", 200, false)
		}, names: []string{"45.9.16.0/24"}, key: "client/24"},

		"people":               {build: func(*town) {}},
		"an office":            {build: func(w *town) { w.readers(60, "198.51.100.%d") }},
		"a carrier":            {build: func(w *town) { w.readers(600, "100.70.%d.%d") }, owner: "AS64501 Mobile", whole: People},
		"a carrier's gateways": {build: func(w *town) { w.readers(600, "100.70.3.%d") }},
		"bots among a carrier's people": {build: func(w *town) {
			w.readers(150, "100.70.%d.%d")
			w.bot(200, func(int) string { return fmt.Sprintf("100.70.%d.%d", w.IntN(256), 251+w.IntN(5)) }, 200, "GET /shop/%d", 404, false)
		}, owner: "AS64501 Mobile"},
		"monitors": {build: func(w *town) {
			for i := range 20 {
				w.is(fmt.Sprintf("198.51.100.%d", i), Monitor)
				for at := 0; at < 7200; at += 60 {
					w.hit(time.Duration(at)*time.Second, fmt.Sprintf("198.51.100.%d", i), "GET /", 200, "-",
						"Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)")
				}
			}
		}},
		"a delivery network": {build: func(w *town) {
			clients := edges(w, 12, Office, Undecided)
			for range 300 {
				w.read(w.anytime(), w.browser(), 1+w.IntN(8), true, clients...)
			}
		}},
		"a delivery network that keeps the files": {build: func(w *town) {
			clients := edges(w, 40, Disguised, Undecided) // as a scraper that changes its agents
			for range 300 {
				w.read(w.anytime(), w.browser(), 1+w.IntN(8), false, clients...)
			}
		}},
		"an app at a carrier's": {build: func(w *town) { w.app(200) }},
		"an app while half of the site is gone": {build: func(w *town) {
			for i := range w.lines {
				if w.IntN(10) < 6 {
					w.lines[i].text = strings.Replace(w.lines[i].text, `" 200 512`, `" 404 512`, 1)
				}
			}
			w.app(404)
		}},
		"a site that hardly any browser sends a referer to": {build: func(w *town) {
			for i := range w.lines {
				if before, _, ok := strings.Cut(w.lines[i].text, ` 512 "`); ok && i%10 > 0 {
					_, after, _ := strings.Cut(w.lines[i].text, `" "Mozilla`)
					w.lines[i].text = before + ` 512 "-" "Mozilla` + after
				}
			}
			w.bot(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, true)
		}},
		"one address among quiet ones": {build: func(w *town) {
			w.bot(1, numbered("45.9.16.%d"), 2, "GET /shop/%d", 404, false)
			w.bot(20, numbered("45.9.16.1%d"), 1500, "GET /shop/%d", 200, false)
			for i := range 20 {
				w.is(fmt.Sprintf("45.9.16.1%d", i), Undecided, Disguised)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &town{Rand: testneeds.Rand(t, 16, 1), want: map[string][]Identity{}}
			w.readers(300, "203.%d.%d.7")
			c.build(w)
			is := reading{owners: owners}.census(t, w.write(t))
			var names []string
			for _, n := range is.Networks {
				names = append(names, n.Name)
			}
			if !slices.Equal(names, c.names) {
				t.Errorf("%q are one bot each, want %q", names, c.names)
			} else if len(names) > 0 {
				first := is.Networks[0]
				if signs := strings.Join(first.Signs, ", "); first.Key != c.key || !strings.Contains(signs, c.sign) {
					t.Errorf("by %s: %s; want by %s: %s", first.Key, signs, c.key, c.sign)
				}
			}
			for owner, whole := range is.Owners {
				if owner.String() == c.owner && whole != c.whole {
					t.Errorf("%s is %s, want %s", owner, whole, c.whole)
				}
			}
			w.compare(t, is)
		})
	}
}
