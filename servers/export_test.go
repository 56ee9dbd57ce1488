package servers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
	"shadow/policy"
	"shadow/request"
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
	} {
		policies, err := policy.ParseLimits([]string{c.limit}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		by, err := request.ParseKey(c.by)
		if err != nil {
			t.Fatal(err)
		}
		part := policies[0].Parts[0]
		all = append(all, Wanted{
			Spec: part.Spec, Shape: part.Limiter.(limit.Describer).Shape(), By: by, Match: c.match,
			Text: strings.TrimSuffix(fmt.Sprintf("%s by %s, on %s", part.Spec, c.by, c.match.String()), ", on "),
		})
	}
	return all
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
				e := target.Export([]Wanted{w}, where)
				b.WriteString("== " + w.Text + "\n")
				for _, text := range e.Said() {
					if text != target.Enforce {
						b.WriteString(text + "\n")
					}
				}
				for _, block := range e.Blocks {
					b.WriteString("[" + block.Place + "]\n" + strings.Join(block.Lines, "\n") + "\n")
				}
				b.WriteByte('\n')
			}
			limittest.Golden(t, "testdata/export-"+target.Name+".txt", b.String())
		})
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
