package servers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
	"shadow/limit/limittest"
)

// wanted are limits with every kind of condition and key.
func wanted(t *testing.T) (all []Wanted) {
	for _, c := range []struct {
		limit, by string
		match     request.Conditions
	}{
		{"token:10/s,burst=20", "client", request.Conditions{}},
		{"nginx:10r/s,burst=20,nodelay", "site", request.Conditions{Prefixes: []string{"/api"}}},
		{"window:100/15m", "client", request.Conditions{Methods: []string{"POST", "PUT"}, Paths: []string{"/login", "/a/**/b?"}}},
		{"fixed:60/1m", "host", request.Conditions{Hosts: []string{"A.example", "*.example"}, Agents: []string{`(?i)"bot\.x'`}}},
		{"token:5/1m", "header:X-Api-Key", request.Conditions{
			Any: []request.Conditions{{Regexps: []string{"^/x$"}}, {Countries: []string{"DE"}, ASNs: []string{"AS64500"}}},
		}},
		{"token:5/1m", "client/24", request.Conditions{Not: []request.Conditions{{Networks: []string{"10.0.0.0/8", "::1"}}}}},
		{"haproxy:20/10s", "user", request.Conditions{Without: []string{"cookie:sid", "header:X-A"}}},
		{"token:5/1m", "client+path", request.Conditions{}},
		{"token:10/s,burst=20", "client", request.Conditions{Not: []request.Conditions{{Networks: []string{"192.0.2.0/24"}}}}},
	} {
		all = append(all, wantedLimit(t, c.limit, c.by, c.match))
	}
	return all
}

// wantedLimit is a limit to export.
func wantedLimit(t *testing.T, text, by string, match request.Conditions) Wanted {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	key, err := request.ParseKey(by)
	if err != nil {
		t.Fatal(err)
	}
	part := policies[0].Parts[0]
	return Wanted{
		Spec: part.Spec, Shape: part.Limiter.(limit.Describer).Shape(), By: key, Match: match,
		Text: strings.TrimSuffix(fmt.Sprintf("%s by %s, on %s", part.Spec, by, match.String()), ", on "),
	}
}

// told returns what a target is told of a limit, without what it is told of each.
func told(target *Target, w Wanted, where Where) string {
	var b strings.Builder
	e := target.Export([]Wanted{w}, where)
	b.WriteString("== " + w.Text + "\n")
	for _, text := range e.Said() {
		if text != target.Enforce && text != target.Beside {
			b.WriteString(text + "\n")
		}
	}
	for _, block := range e.Blocks {
		b.WriteString("[" + block.Place + "]\n" + strings.Join(block.Lines, "\n") + "\n")
	}
	return b.String()
}

// TestExports has what each target is told, one limit at a time, in a file that -update rewrites.
func TestExports(t *testing.T) {
	proxied := place{client: "addr", from: "x-forwarded-for", trusted: []string{"10.0.0.0/8"}}.where(t)
	for _, target := range Targets {
		t.Run(target.Name, func(t *testing.T) {
			var b strings.Builder
			for i, w := range wanted(t) {
				where := Where{Client: "addr"}
				if i == 0 {
					where = proxied
				}
				b.WriteString(told(target, w, where) + "\n")
			}
			limittest.Golden(t, "testdata/export-"+target.Name+".txt", b.String())
		})
	}
}

// noCooldown are the targets that have none.
var noCooldown = strings.Fields("nginx ingress-nginx haproxy envoy envoy-local envoy-gateway traefik caddy kong apisix aws-waf " +
	"aws-waf-terraform lua")

// TestCooldownIsWrittenOrTold: no target drops a cooldown without a word, not of its own limits either.
func TestCooldownIsWrittenOrTold(t *testing.T) {
	own := map[string]string{
		"nginx": "nginx:10r/s,burst=20,nodelay", "ingress-nginx": "nginx:10r/s,burst=20,nodelay", "haproxy": "haproxy:20/10s",
		"envoy": "envoy:60/1m", "envoy-local": "token:1/1s,burst=20", "envoy-gateway": "envoy:60/1m", "traefik": "traefik:1/1s,burst=20",
		"caddy": "caddy:20/20s", "kong": "fixed:60/1m", "apisix": "nginx:10r/s,burst=20", "aws-waf": "aws~:60/1m",
		"aws-waf-terraform": "aws~:60/1m", "cloudflare": "cloudflare~:60/15s", "lua": "nginx:10r/s,burst=20",
	}
	for _, target := range Targets {
		for _, plain := range []string{"token:10/1s,burst=20", "window:20/1m", "fixed:60/1m", own[target.Name]} {
			for _, cooldown := range []string{"10m", "7m", "30s/extend"} {
				set := target.Export([]Wanted{wantedLimit(t, plain, "client", request.Conditions{})}, Where{Client: "addr"}).Limits[0]
				w := wantedLimit(t, plain+",cooldown="+cooldown, "client", request.Conditions{})
				e := target.Export([]Wanted{w}, Where{Client: "addr"})
				if has := e.Limits[0]; slices.Contains(noCooldown, target.Name) {
					if has.Set != set.Set || has.Deviation != set.Deviation || len(e.Lost) != 1 || !strings.Contains(e.Lost[0], "its cooldown of "+cooldown) {
						t.Errorf("%s: %s is %+v with %v, without a cooldown %+v", target.Name, w.Text, has, e.Lost, set)
					}
					continue
				}
				want := map[string]string{"10m": "600", "7m": "480", "30s/extend": "30"}[cooldown]
				deviates := strings.Contains(e.Limits[0].Deviation, "cooldown")
				if !strings.Contains(e.Text(), `"mitigation_timeout": `+want+",") || len(e.Lost) > 0 || deviates != (cooldown != "10m") {
					t.Errorf("%s: %s is %+v, %v:\n%s", target.Name, w.Text, e.Limits[0], e.Lost, e.Text())
				}
				if again := target.ExportAs([]Wanted{w}, []string{e.Limits[0].Set}, Where{Client: "addr"}); len(again.Lost) > 0 {
					t.Errorf("%s: %s as %s has lost %v", target.Name, w.Text, e.Limits[0].Set, again.Lost)
				}
			}
		}
	}
}

// TestExemptNetworkLeavesTheRest: where a server has a way, exempt clients do not make it write nothing.
func TestExemptNetworkLeavesTheRest(t *testing.T) {
	for _, target := range Targets {
		for _, c := range []struct {
			networks []string
			cannot   string // the targets that have no way
		}{
			{[]string{"10.0.0.0/8"}, "kong"},
			{[]string{"192.0.2.1", "10.0.0.0/8", "2001:db8::/32"}, "kong envoy-gateway"},
		} {
			exempt := request.Conditions{Not: []request.Conditions{{Networks: c.networks}}}
			part := exempt
			part.Prefixes = []string{"/login"}
			for _, match := range []request.Conditions{exempt, part} {
				e := target.Export([]Wanted{wantedLimit(t, "token:10/1s,burst=20", "client", match)}, Where{Client: "addr"})
				if said, cannot := len(e.Blocks) > 0, slices.Contains(strings.Fields(c.cannot), target.Name); said == cannot {
					t.Errorf("%s: %s: %v", target.Name, match.String(), e.Said())
				}
				for _, n := range c.networks {
					text, bare := strings.Join(append(e.Notes, e.Text()), "\n"), strings.Split(n, "/")[0]
					if len(e.Lost) == 0 && target.Name != "lua" && !strings.Contains(text, bare) {
						t.Errorf("%s: %s is not exempt:\n%s", target.Name, n, text)
					}
				}
				if (len(e.Lost) > 0) != (len(e.Blocks) == 0) {
					t.Errorf("%s: %s: %v", target.Name, match.String(), e.Said())
				}
			}
		}
	}
}

// TestBesideIsSaid: each target says what must not be there, in what is pasted or beside it.
func TestBesideIsSaid(t *testing.T) {
	for _, target := range Targets {
		e := target.Export([]Wanted{wantedLimit(t, "token:10/1s,burst=20", "client", request.Conditions{})}, Where{Client: "addr"})
		if target.Beside == "" && target != &nginxTarget && target != &haproxyTarget || target.Beside != "" && !slices.Contains(e.Notes, target.Beside) {
			t.Errorf("%s: %v", target.Name, e.Notes)
		}
	}
}

// TestPathsAreQuotedOnce: that a limit is tried before it is written does not change what is written.
func TestPathsAreQuotedOnce(t *testing.T) {
	w := wantedLimit(t, "envoy:60/1m", "client", request.Conditions{Paths: []string{"/login.php"}})
	for _, target := range []*Target{&envoyTarget, &envoyLocalTarget} {
		if text := target.Export([]Wanted{w}, Where{Client: "addr"}).Text(); !strings.Contains(text, `'/login\.php(\?.*)?'`) {
			t.Errorf("%s:\n%s", target.Name, text)
		}
	}
}

// TestNearestIsOnTheGrid: what a target is told is one of its own, so it is told that again.
func TestNearestIsOnTheGrid(t *testing.T) {
	for _, target := range Targets {
		for _, w := range wanted(t) {
			text, _ := target.Nearest(w.Spec, w.Shape)
			if text == "" {
				continue
			}
			spec, err := limit.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			again, deviation := target.Nearest(spec, w.Shape)
			if again != text || deviation != "" {
				t.Errorf("%s: %s is told as %s, which is told as %s (%s)", target.Name, w.Text, text, again, deviation)
			}
		}
	}
}

// TestClauses: of a set of conditions and its opposite one always fits.
func TestClauses(t *testing.T) {
	a := request.Conditions{Methods: []string{"POST"}, Prefixes: []string{"/a"}}
	for _, c := range []struct {
		of   request.Conditions
		want int
	}{
		{request.Conditions{}, 0},
		{a, 1},
		{request.Conditions{Not: []request.Conditions{a}}, 2},
		{request.Conditions{Any: []request.Conditions{a, {Methods: []string{"POST"}}}}, 1}, // one has the other within it
		{request.Conditions{Methods: []string{"GET"}, Not: []request.Conditions{a}}, 1},    // no GET is a POST
	} {
		all, err := clausesOf(c.of)
		if err != nil || len(all) != c.want {
			t.Errorf("%s: %v, %v", c.of.String(), all, err)
		}
	}
	if _, err := clausesOf(request.Conditions{Methods: []string{"GET"}, Not: []request.Conditions{{Methods: []string{"GET"}}}}); err == nil {
		t.Error("what no request fits is exported")
	}
	many := request.Conditions{}
	for i := range 8 {
		many.Not = append(many.Not, request.Conditions{Methods: []string{fmt.Sprint(i)}, Prefixes: []string{"/" + fmt.Sprint(i)}})
	}
	if _, err := clausesOf(many); err != errClauses {
		t.Errorf("%v", err)
	}
	if slices.Contains(TargetNames(), "") {
		t.Error("a target has no name")
	}
}

// TestExportsWereJudged: what judges the lines of a target has seen those that it is told now. scripts/exports/run has it
// judge them again; nginx, HAProxy and Lua run in other tests.
func TestExportsWereJudged(t *testing.T) {
	kept, err := os.ReadFile("testdata/export-judged.txt")
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]string{}
	for line := range strings.Lines(string(kept)) {
		fields := strings.Fields(line)
		judged[fields[0]] = fields[1]
	}
	for _, target := range Targets {
		switch target.Name {
		case "nginx", "haproxy", "lua":
			continue
		}
		golden, err := os.ReadFile("testdata/export-" + target.Name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(golden))[:16]; judged[target.Name] != sum {
			t.Errorf("the lines for %s are others than were judged: run scripts/exports/run %[1]s", target.Name)
		}
	}
}
