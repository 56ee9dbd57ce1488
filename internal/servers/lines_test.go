package servers

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"shadow/internal/traffic/match"
	"shadow/limit/limittest"
)

// A place is a Where as people ask for it.
type place struct {
	client, from string
	trusted      []string
	nginx        bool
	action       string
	named        bool
	exempt       []string
}

func (p place) String() string {
	text := strings.TrimSpace("client " + p.client)
	for _, word := range []struct {
		name, value string
	}{{"from", p.from}, {"trusted", strings.Join(p.trusted, ",")}, {"action", p.action}, {"exempt", strings.Join(p.exempt, ",")}} {
		if word.value != "" {
			text += " · " + word.name + " " + word.value
		}
	}
	if p.named {
		text += ", named"
	}
	if p.nginx {
		text += " · nginx's log"
	}
	return text
}

func (p place) where(t *testing.T) Where {
	t.Helper()
	rule, err := match.ParseClientRule(p.client, p.from, p.trusted)
	if err != nil {
		t.Fatal(err)
	}
	v4, v6, cut := rule.Prefixes()
	return Where{
		Client: p.client, Cut: cut, V4: v4, V6: v6, ClientFrom: p.from, Trusted: rule.Trusted(),
		Action: p.action, Named: p.named, FromNginx: p.nginx, Format: `$remote_addr "$request" $who`,
		Exempt: p.exempted(t),
	}
}

// exempted are the exempt networks.
func (p place) exempted(t *testing.T) (networks []netip.Prefix) {
	t.Helper()
	for _, text := range p.exempt {
		exclude, err := match.ParseExclude([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		networks = append(networks, exclude.Networks()...)
	}
	return networks
}

// places are every kind of client, and every kind of action.
func places() (all []place) {
	proxies := []string{"10.0.0.1", "2001:db8::/32"}
	for _, client := range []string{"addr", "addr/24,/64", "addr/16", "addr/31,/60"} {
		all = append(all, place{client: client},
			place{client: client, from: "x-forwarded-for", trusted: proxies, action: "/login"})
	}
	for _, client := range []string{"header:X-Api-Key", "user", "host", "agent", "http_referer", "who", "$request_id"} {
		all = append(all, place{client: client}, place{client: client, nginx: true, action: "/api/…"})
	}
	for _, action := range []string{"/", "/…", "/x.y-z~", "/a/b", "/a b", `/"};\`, "checkout", "ä"} {
		all = append(all, place{action: action})
	}
	work := []string{"192.0.2.7", "::1", "10.0.0.0/8"}
	return append(all, place{action: "/login", named: true}, place{action: "/wp.admin/**"},
		place{exempt: work}, place{exempt: work[:2]}, place{exempt: work[:2], action: "/wp.admin/**"},
		place{exempt: work, action: "checkout", client: "user"},
		place{exempt: work, client: "addr/24,/64", from: "x-forwarded-for", trusted: proxies, action: "/login"})
}

// TestLines has what to paste for each server at each place in a file that -update rewrites.
func TestLines(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			var b strings.Builder
			limits := s.samples()
			for i, p := range places() {
				text := limits[i%len(limits)]
				d, err := s.Lines(text, p.where(t))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "== %s · %s\nkey: %s\nnote: %s\n", text, p, d.Key, d.Note)
				for _, block := range d.Blocks {
					once := ""
					if block.Once {
						once = ", once"
					}
					fmt.Fprintf(&b, "[%s%s]\n", block.Place, once)
					for _, line := range block.Lines {
						fmt.Fprintf(&b, "    %s\n", line)
					}
				}
				b.WriteByte('\n')
			}
			limittest.Golden(t, "testdata/"+s.Name+".txt", b.String())
		})
	}
}

// samples are a few limits of a server.
func (s *Server) samples() (texts []string) {
	for i, f := range s.Families() {
		text, _ := f.Limit(int64(1 + 19*i*i))
		texts = append(texts, text)
	}
	return texts
}
