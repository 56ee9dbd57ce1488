package match

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/intern"
)

// actionsOf compiles rules for a test.
func actionsOf(t *testing.T, rules ...request.Rule) (*intern.Dict, *Actions) {
	t.Helper()
	d := intern.NewDict()
	a, err := NewActions(rules, d)
	if err != nil {
		t.Fatal(err)
	}
	return d, a
}

func TestActionsFromPaths(t *testing.T) {
	d, a := actionsOf(t)
	m := a.NewMatcher()
	for _, c := range []struct{ method, target, want string }{
		{"GET", "/", "/"},
		{"GET", "/?page=2", "/"},
		{"GET", "//", "/"},
		{"GET", "/about", "/about"},
		{"GET", "/about/", "/about"},
		{"GET", "/about#team", "/about"},
		{"GET", "/about#team?a/b", "/about"},
		{"POST", "/login?next=/cart/1", "/login"},
		{"GET", "/product/1", "/product/…"},
		{"GET", "/product/1/reviews/2", "/product/…"},
		{"GET", "//product//1", "/product/…"},
		{"GET", "/product//", "/product"},
		{"GET", "/account;jsessionid=0A1B", "/account"},
		{"GET", "/account;jsessionid=0A1B/orders", "/account/…"},
		{"GET", "http://www.example.org/product/1?x", "/product/…"},
		{"GET", "HTTPS://www.example.org", "/"},
		{"GET", "http://", "/"},
		{"GET", "/go?to=http://www.example.org/", "/go"},
		{"OPTIONS", "*", "(no path)"},
		{"CONNECT", "www.example.org:443", "(no path)"},
		{"GET", "ftp://www.example.org/a", "(no path)"},
		{"GET", "", "(no path)"},
		{"GET", "?", "(no path)"},
		{"", "\x16\x03\x01", "(not http)"},
		{"", "", "(not http)"},
		{"", "/product/1", "/product/…"}, // the format logs no method
		{"GET", "/assets/site.css", "static"},
		{"GET", "/assets/site.CSS?v=3", "static"},
		{"GET", "/favicon.ico", "static"},
		{"GET", "/fonts/a.woff2", "static"},
		{"GET", "/v.mp4", "static"},
		{"GET", "/.css", "static"},
		{"GET", "/site.css/more", "/site.css/…"},
		{"GET", "/site.csss", "/site.csss"},
		{"GET", "/css", "/css"},
		{"GET", "/robots.txt", "/robots.txt"},
		{"GET", "/page.html", "/page.html"},
		{"GET", "/feed.xml", "/feed.xml"},
		{"GET", "/caf\xc3\xa9/1", "/caf\xc3\xa9/…"},
		{"GET", "/%6Cogin", "/%6Cogin"},
		{"GET", "/a\x1b[31m", "/a\x1b[31m"}, // a caller that prints it makes it harmless
		{"GET", "/" + strings.Repeat("a", 64), "/" + strings.Repeat("a", 64)},
		{"GET", "/" + strings.Repeat("a", 65) + "/b", "/" + strings.Repeat("a", 64) + "…/…"},
		{"GET", "/" + strings.Repeat("न", 22), "/" + strings.Repeat("न", 21) + "…"},
		{"GET", "/" + strings.Repeat("\x80", 65), "/" + strings.Repeat("\x80", 60) + "…"},
	} {
		for range 2 { // found, and then remembered
			if got := d.Name(m.ID([]byte(c.method), []byte(c.target))); got != c.want {
				t.Errorf("%s %q is %q, want %q", c.method, c.target, got, c.want)
			}
		}
	}
}

func TestActionAskedFor(t *testing.T) {
	for name, want := range map[string]string{
		"/user/login": "/user/login /user/login /user/login/… /user/… /user/… /user static /login",
		"user/login/": "/user/login /user/login /user/login/… /user/… /user/… /user static /login",
		"/user":       "/user/… /user/… /user/… /user/… /user/… /user static /login",
		"/user/other": "/user/… /user/… /user/… /user/… /user/… /user static /login",
	} {
		d, a := actionsOf(t)
		a.Ask(name)
		m := a.NewMatcher()
		var got []string
		for _, target := range []string{
			"/user/login", "//user/login;a=1/?b=/", "/user/login/a", "/user/logins", "/user/9", "/user", "/user/login/a.css", "/login",
		} {
			got = append(got, d.Name(m.ID([]byte("GET"), []byte(target))))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("asked for %s: %s, want %s", name, strings.Join(got, " "), want)
		}
	}
}

func TestActionRules(t *testing.T) {
	d, a := actionsOf(t,
		request.Rule{Name: "login", Methods: []string{"POST"}, Prefix: "/login"},
		request.Rule{Name: "items", Glob: "/product/*"},
		request.Rule{Name: "search", Regexp: `^/(search|find)\b`},
		request.Rule{Name: "thumbs", Prefix: "/img/", Glob: "**.jpg", Regexp: `\d`},
		request.Rule{Name: "late", Prefix: "/product/"},
		request.Rule{Name: "feed", Glob: "/**/feed"},
		request.Rule{Name: "writes", Methods: []string{"PUT", "PATCH"}},
	)
	m := a.NewMatcher()
	for _, c := range []struct{ method, target, want string }{
		{"POST", "/login", "login"},
		{"POST", "/login-help?x", "login"},
		{"GET", "/login", "/login"},
		{"GET", "/product/1", "items"},
		{"GET", "/product/1/reviews", "late"},
		{"GET", "/product", "/product"},
		{"GET", "/find?q=/login", "search"},
		{"GET", "/finder", "/finder"},
		{"GET", "/img/a/1.jpg", "thumbs"}, // rules come before static
		{"GET", "/img/a/b.jpg", "static"},
		{"PATCH", "/anything", "writes"},
		{"GET", "http://example.org/product/2", "items"},
		{"", "/login", "/login"}, // without a method it fits no rule that asks for one
		{"", "/product/1", "items"},
		{"GET", "/feed", "feed"},
		{"GET", "/de/news/feed", "feed"},
		{"GET", "/newsfeed", "/newsfeed"},
		{"", "\x16\x03/product/1", "(not http)"},
	} {
		for range 2 {
			if got := d.Name(m.ID([]byte(c.method), []byte(c.target))); got != c.want {
				t.Errorf("%s %q is %q, want %q", c.method, c.target, got, c.want)
			}
		}
	}
}

func TestActionRulesThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		rules []request.Rule
		want  string
	}{
		{[]request.Rule{{Name: "a"}, {Prefix: "/x"}}, "action rule 2 (\"\"): it has no name"},
		{[]request.Rule{{Name: "a", Regexp: "("}}, "action rule 1 (\"a\"): error parsing regexp"},
		{[]request.Rule{{Name: "a", Glob: "/\xff"}}, "valid UTF-8"},
		{make([]request.Rule, maxRules+1), "at most"},
	} {
		if _, err := NewActions(c.rules, intern.NewDict()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestActionsAreBounded(t *testing.T) {
	d, a := actionsOf(t, request.Rule{Name: "login", Prefix: "/login"})
	m := a.NewMatcher()
	get := func(path string) string { return d.Name(m.ID([]byte("GET"), []byte(path))) }
	if _, ok := a.Other(); ok {
		t.Error("something was folded before anything came")
	}
	for i := range maxPathActions + 1000 {
		get(fmt.Sprintf("/try-%d.php", i))
	}
	for path, want := range map[string]string{
		"/try-0.php": "/try-0.php", "/try-49999.php": "/try-49999.php", "/try-50000.php": "(other)", "/new": "(other)",
		"/login": "login",
	} {
		if got := get(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	id, ok := a.Other()
	if !ok || d.Name(id) != "(other)" {
		t.Errorf("Other() = %d, %v", id, ok)
	}
	// What a request can be without naming an action does not count.
	for _, c := range [][3]string{{"GET", "/a.css", "static"}, {"OPTIONS", "*", "(no path)"}, {"", "", "(not http)"}} {
		if got := d.Name(m.ID([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("%s %s is %q, want %q", c[0], c[1], got, c[2])
		}
	}
	if want := maxPathActions + 5; d.Len() != want {
		t.Errorf("%d actions, want %d", d.Len(), want)
	}
	if most := maxPathActions + maxRules + 5; most > math.MaxUint16 {
		t.Errorf("%d actions are more than 16 bits tell apart", most)
	}
}

func TestMatcherRemembersOnlyWhatIsTrue(t *testing.T) {
	rules := []request.Rule{{Name: "write", Methods: []string{"POST", "PUT"}, Prefix: "/a"}, {Name: "b", Glob: "/*b"}}
	method := rapid.SampledFrom([]string{"", "GET", "POST", "PUT"})
	path := rapid.StringMatching(`/[ab]{0,3}(/[ab]?)?(\?[ab])?`)
	testneeds.Rapid(t, func(rt *rapid.T) {
		d, a := actionsOf(t, rules...)
		m := a.NewMatcher()
		for range 50 {
			method, path := []byte(method.Draw(rt, "method")), []byte(path.Draw(rt, "path"))
			got, want := m.ID(method, path), a.NewMatcher().ID(method, path)
			if got != want {
				rt.Fatalf("%s %s is %q, want %q", method, path, d.Name(got), d.Name(want))
			}
		}
	})
}

// slowGlob says with a regular expression what a glob means.
func slowGlob(pattern string, fold bool) *regexp.Regexp {
	s := regexp.QuoteMeta(pattern)
	one, many := `[^/]`, `[^/]*`
	if fold {
		one, many = `.`, `.*`
	}
	if !fold {
		s = strings.ReplaceAll(s, `/\*\*/`, `/(?:.*/)?`)
	}
	s = strings.NewReplacer(`(?:.*/)?`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, many, `\?`, one).Replace(s)
	if fold {
		s = `(?i)` + s
	}
	return regexp.MustCompile(`^(?s:` + s + `)$`)
}

func TestGlobsAsRegexpReadsThem(t *testing.T) {
	pattern := rapid.StringMatching(`([ab/]|\*|\*\*|\?){0,9}`)
	text := rapid.StringMatching(`[aAb/]{0,12}`)
	testneeds.Rapid(t, func(t *rapid.T) {
		p := pattern.Draw(t, "pattern")
		g, err := NewGlob(p)
		if err != nil {
			t.Fatal(err)
		}
		folding, err := newTextGlob(p)
		if err != nil {
			t.Fatal(err)
		}
		plain, folded := slowGlob(p, false), slowGlob(p, true)
		if !strings.ContainsAny(p, "*?") {
			folded = slowGlob("*"+p+"*", true)
		}
		for range 20 {
			s := text.Draw(t, "text")
			if got, want := g.fits([]byte(s)), plain.MatchString(s); got != want {
				t.Fatalf("%q fits %q: %v, want %v", p, s, got, want)
			}
			if got, want := folding.fits([]byte(s)), folded.MatchString(s); got != want {
				t.Fatalf("%q fits %q in either case: %v, want %v", p, s, got, want)
			}
		}
	})
}

func TestMatcherDoesNotAllocate(t *testing.T) {
	_, a := actionsOf(t, request.Rule{Name: "login", Methods: []string{"POST"}, Prefix: "/login"}, request.Rule{Name: "re", Regexp: "^/re[0-9]+$"})
	m := a.NewMatcher()
	method := []byte("GET")
	paths := [][]byte{[]byte("/product/1?x=y"), []byte("/re12"), []byte("/a/b.css"), []byte("http://example.org/")}
	if n := testing.AllocsPerRun(100, func() {
		for _, p := range paths {
			m.ID(method, p)
		}
		clear(m.places[:]) // the way of a path that is not remembered
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMatcher(b *testing.B) {
	method, path := []byte("GET"), []byte("/product/12345/reviews?page=2")
	for _, rules := range [][]request.Rule{nil, {{Name: "login", Methods: []string{"POST"}, Regexp: "^/login"}}} {
		a, err := NewActions(rules, intern.NewDict())
		if err != nil {
			b.Fatal(err)
		}
		m := a.NewMatcher()
		b.Run(fmt.Sprintf("%d rules, remembered", len(rules)), func(b *testing.B) {
			for b.Loop() {
				m.ID(method, path)
			}
		})
		b.Run(fmt.Sprintf("%d rules, new", len(rules)), func(b *testing.B) {
			for b.Loop() {
				m.find(method, path)
			}
		})
	}
}
