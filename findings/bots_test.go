package findings

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"shadow/testneeds"
)

// read has somebody read pages by way of clients: each names the one before, and is made of files, unless those are kept
// elsewhere.
func (w *town) read(after float64, agent string, pages int, files bool, clients ...string) {
	by := func() string { return clients[w.IntN(len(clients))] }
	for from := "https://search.example/"; pages > 0; pages-- {
		after += 3 + 60*w.ExpFloat64()
		page := fmt.Sprintf("/shop/%d", w.IntN(50))
		w.referred(after, by(), "GET "+page, 200, agent, from)
		from = "https://shop.example" + page
		for i := range 2 + w.IntN(3) {
			if files {
				w.referred(after+float64(i)/2, by(), fmt.Sprintf("GET /assets/%d.css", w.IntN(20)), 200, agent, from)
			}
		}
	}
}

// referred adds a request with a referer.
func (w *town) referred(after float64, client, request string, status int, agent, referer string) {
	w.hit(after, client, request, status, agent, "-")
	line := &w.lines[len(w.lines)-1]
	line.text = strings.Replace(line.text, `"-" "`+agent, `"`+referer+`" "`+agent, 1)
}

// readers are people at addresses of their own: how many pages one reads differs as people do.
func (w *town) readers(n int, address string) {
	for i := range n {
		client := address
		if strings.Contains(address, "%d.%d") {
			client = fmt.Sprintf(address, w.IntN(256), 1+w.IntN(250))
		} else if strings.Contains(address, "%") {
			client = fmt.Sprintf(address, i)
		}
		w.read(7200*w.Float64(), w.browser(), 1+int(5*w.ExpFloat64()), true, client)
	}
}

// swarm has each of n addresses send requests, one every so many seconds.
func (w *town) swarm(n int, address func(i int) string, every float64, request string, status int, rotates bool) {
	for i := range n {
		agent, client := w.browser(), address(i)
		for at := every * w.Float64(); at < 7200; at += every * (0.5 + w.Float64()) {
			if rotates {
				agent = w.browser()
			}
			text := request
			if strings.Contains(request, "%d") {
				text = fmt.Sprintf(request, w.IntN(5000))
			}
			w.hit(at, client, text, status, agent, "-")
		}
	}
}

// app is one on phones, each at an address of a carrier; it claims to be a browser and loads nothing but offers.
func (w *town) app(status int) {
	for range 300 {
		client := fmt.Sprintf("100.70.%d.%d", w.IntN(256), w.IntN(256))
		for range 1 + int(6*w.ExpFloat64()) {
			w.hit(7200*w.Float64(), client, "GET /api/offers", status,
				"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148", "-")
		}
	}
}

func numbered(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// Networks that are bots as a whole are told, and those of people are not.
func TestBotNetworks(t *testing.T) {
	owners := filepath.Join(t.TempDir(), "owners.mmdb")
	if err := testneeds.MMDB(owners, "GeoLite2-ASN", testneeds.Records{
		"45.0.0.0/8": testneeds.Owner(64500, "Bullet Proof", "ZZ"), "100.64.0.0/10": testneeds.Owner(64501, "Mobile", "DE"),
	}); err != nil {
		t.Fatal(err)
	}
	wholes := map[string]string{ // of the networks of owners
		"a /24": "as a whole a bot", "a carrier": "as a whole people", "bots among a carrier's people": "as a whole undecided",
	}
	anywhere := func(w *town) func(int) string {
		return func(int) string { return fmt.Sprintf("45.%d.%d.%d", w.IntN(256), w.IntN(256), w.IntN(256)) }
	}
	for name, c := range map[string]struct {
		build    func(w *town)
		says     string // "": nothing is told
		remedy   string
		targets  int
		untraced string // what is said where there are no referers to go by
	}{
		"a /24": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
		}, "45.9.16.0/24 is one bot: ", "--by client/24", 200, "45.9.16.0/24"},
		"a /24 that changes its agents": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, true)
		}, "0 fetched a file, where of as many others about", "--by client/24", 0, ""},
		"a /24 within a provider's network": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
			w.readers(30, "45.9.%d.%d")
		}, "45.9.16.0/24 is", "--by client/24", 200, "45.9.16.0/24"},
		"a /20": {func(w *town) {
			w.swarm(300, func(i int) string { return fmt.Sprintf("45.9.%d.%d", 16+i%16, i/16) }, 120, "GET /shop/%d", 200, false)
		}, "45.9.16.0/20 is", "--by client/20", 300, "45.9.16.0/20"},
		"a /48": {func(w *town) {
			w.swarm(300, numbered("2001:db8:7:%x::1"), 120, "GET /shop/%d", 200, false)
		}, "2001:db8:7::/48 is", "--by client/48", 300, "2001:db8:7::/48"},
		"a system of networks": {func(w *town) {
			w.swarm(300, anywhere(w), 300, "GET /shop/%d", 200, false)
		}, "AS64500 Bullet Proof is one bot", "--by asn", 300, "AS64500"},
		"two networks": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
			w.swarm(100, numbered("2001:db8:7:%x::1"), 120, "GET /shop/%d", 200, false)
		}, "2 networks (45.9.16.0/24, 2001:db8:7::/48) are one bot each: ", "--by client/24", 300, "2 networks"},
		"one that looks for what is not there": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 3600, "GET /%d.php", 404, true)
		}, "100.00 % of the answers are errors", "--by client/24", 200, "45.9.16.0/24"},
		"one that tries passwords": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 3000, "POST /login", 200, true)
		}, "0.00 % of the pages have a referer, 100.00 % of the requests try passwords", "--by client/24", 200, ""},
		"checks that claim to be browsers": {func(w *town) {
			w.swarm(20, numbered("45.9.16.%d"), 60, "GET /shop/1", 200, false)
		}, "45.9.16.0/24 is", "--by client/24", 20, "45.9.16.0/24"},

		"people":               {func(*town) {}, "", "", 0, ""},
		"an office":            {func(w *town) { w.readers(60, "198.51.100.%d") }, "", "", 0, ""},
		"a carrier":            {func(w *town) { w.readers(600, "100.70.%d.%d") }, "", "", 0, ""},
		"a carrier's gateways": {func(w *town) { w.readers(600, "100.70.3.%d") }, "", "", 0, ""},
		"bots among a carrier's people": {func(w *town) {
			w.readers(150, "100.70.%d.%d")
			w.swarm(200, func(int) string { return fmt.Sprintf("100.70.%d.%d", w.IntN(256), w.IntN(256)) }, 200, "GET /shop/%d", 404, false)
		}, "", "", 0, ""},
		"monitors": {func(w *town) {
			for i := range 20 {
				for at := 0.0; at < 7200; at += 60 {
					w.hit(at, fmt.Sprintf("198.51.100.%d", i), "GET /", 200, "Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "-")
				}
			}
		}, "", "", 0, ""},
		"a delivery network": {func(w *town) {
			for range 300 {
				w.read(7200*w.Float64(), w.browser(), 1+w.IntN(8), true, strings.Fields("198.51.100.1 198.51.100.2 198.51.100.3 198.51.100.4 198.51.100.5 198.51.100.6 198.51.100.7 198.51.100.8 198.51.100.9 198.51.100.10 198.51.100.11 198.51.100.12")...)
			}
		}, "", "", 0, ""},
		"a delivery network that keeps the files": {func(w *town) {
			var edges []string
			for i := range 40 {
				edges = append(edges, fmt.Sprintf("198.51.100.%d", i))
			}
			for range 300 {
				w.read(7200*w.Float64(), w.browser(), 1+w.IntN(8), false, edges...)
			}
		}, "", "", 0, ""},
		"an app at a carrier's": {func(w *town) {
			w.app(200)
		}, "", "", 0, ""},
		"an app while half of the site is gone": {func(w *town) {
			for i := range w.lines {
				if w.IntN(10) < 6 {
					w.lines[i].text = strings.Replace(w.lines[i].text, `" 200 512`, `" 404 512`, 1)
				}
			}
			w.app(404)
		}, "", "", 0, ""},
		"a site that hardly any browser sends a referer to": {func(w *town) {
			for i := range w.lines {
				if before, _, ok := strings.Cut(w.lines[i].text, ` 512 "`); ok && i%10 > 0 {
					_, after, _ := strings.Cut(w.lines[i].text, `" "Mozilla`)
					w.lines[i].text = before + ` 512 "-" "Mozilla` + after
				}
			}
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, true)
		}, "", "", 0, ""},
		"one address among quiet ones": {func(w *town) {
			w.swarm(1, numbered("45.9.16.%d"), 2, "GET /shop/%d", 404, false)
			w.swarm(20, numbered("45.9.16.1%d"), 1500, "GET /shop/%d", 200, false)
		}, "", "", 0, ""},
		"few requests": {func(w *town) {
			w.readers(1500, "198.51.%d.%d")
			w.swarm(20, numbered("45.9.16.%d"), 550, "GET /shop/%d", 200, false)
		}, "", "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			w.readers(300, "203.%d.%d.7")
			c.build(w)
			log := w.write(t)
			for _, untraced := range []bool{false, true} {
				says := c.says
				if untraced {
					says = c.untraced
				}
				l, all := reading{format: mainFormat, owners: owners, untraced: untraced}.look(t, log)
				tells(t, fmt.Sprintf("%s, untraced %v", name, untraced), l, all)
				var found Finding
				for _, f := range all {
					if f.Code == "bot_network" {
						found = f
					}
					if whole := wholes[name]; f.Code == "one_network" && whole != "" && !strings.HasSuffix(f.Evidence, whole) {
						t.Errorf("%q, want %q", f.Evidence, whole)
					}
				}
				t.Log(untraced, found.String())
				if !strings.Contains(found.Evidence, says) || says == "" && found.Code != "" {
					t.Errorf("want %q", says)
				}
				if says == "" {
					continue
				}
				if found.Remedy != c.remedy {
					t.Errorf("remedy %q, want %q", found.Remedy, c.remedy)
				}
				if n := len(l.Attackers()); n != c.targets {
					t.Errorf("%d of its clients are targets, want %d", n, c.targets)
				}
			}
		})
	}
}
