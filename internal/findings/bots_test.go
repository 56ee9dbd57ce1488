package findings

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
)

// read has a person read pages by way of clients: each names the one before, and is made of files, unless those are
// kept elsewhere.
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

func numbered(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// Networks that are bots as a whole are told, with what gives them away and the key by which a limit counts them,
// unless they send little. Which these are is decided, and tested, in traffic/who.
func TestBotNetworks(t *testing.T) {
	owners := filepath.Join(t.TempDir(), "owners.mmdb")
	if err := testneeds.MMDB(owners, "GeoLite2-ASN", testneeds.Records{
		"45.0.0.0/8": testneeds.Owner(64500, "Bullet Proof", "ZZ"), "100.64.0.0/10": testneeds.Owner(64501, "Mobile", "DE"),
	}); err != nil {
		t.Fatal(err)
	}
	// What the networks of owners are, by town.
	wholes := map[string]string{"a /24": "as a whole a bot", "a carrier": "as a whole people"}
	for name, c := range map[string]struct {
		build   func(w *town)
		says    string // "": nothing is told
		remedy  string
		hostile int
	}{
		"a /24": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
		}, "45.9.16.0/24 is one bot: ", "--by client/24", 200},
		"a system of networks": {func(w *town) {
			w.swarm(300, func(int) string { return fmt.Sprintf("45.%d.%d.%d", w.IntN(256), w.IntN(256), w.IntN(256)) }, 300, "GET /shop/%d", 200, false)
		}, "AS64500 Bullet Proof is one bot", "--by asn", 300},
		"two networks": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 60, "GET /shop/%d", 200, false)
			w.swarm(100, numbered("2001:db8:7:%x::1"), 120, "GET /shop/%d", 200, false)
		}, "2 networks (45.9.16.0/24, 2001:db8:7::/48) are one bot each: ", "--by client/24", 300},
		"one that tries passwords": {func(w *town) {
			w.swarm(200, numbered("45.9.16.%d"), 3000, "POST /login", 200, true)
		}, "0.00 % of the pages have a referer, 100.00 % of the requests try passwords", "--by client/24", 200},

		"people":    {func(*town) {}, "", "", 0},
		"a carrier": {func(w *town) { w.readers(600, "100.70.%d.%d") }, "", "", 0},
		"few requests": {func(w *town) {
			w.readers(1500, "198.51.%d.%d")
			w.swarm(20, numbered("45.9.16.%d"), 550, "GET /shop/%d", 200, false)
		}, "", "", 20},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			w.readers(300, "203.%d.%d.7")
			c.build(w)
			l, all := reading{format: mainFormat, owners: owners}.look(t, w.write(t))
			tells(t, name, l, all)
			var found Finding
			for _, f := range all {
				if f.Code == "bot_network" {
					found = f
				}
				if whole := wholes[name]; f.Code == "one_network" && whole != "" && !strings.HasSuffix(f.Evidence, whole) {
					t.Errorf("%q, want %q", f.Evidence, whole)
				}
			}
			if !strings.Contains(found.Evidence, c.says) || c.says == "" && found.Code != "" || found.Remedy != c.remedy {
				t.Errorf("found %s, want %q and %q", found.String(), c.says, c.remedy)
			}
			if n := len(l.members(who.Hostile)); n != c.hostile {
				t.Errorf("%d clients are hostile, want %d", n, c.hostile)
			}
		})
	}
}
