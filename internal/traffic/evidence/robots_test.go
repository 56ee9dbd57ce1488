package evidence

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// The rules for everybody, by the examples of RFC 9309, sections 2.2.2, 2.2.3 and 5.2, and ours.
func TestRobots(t *testing.T) {
	for _, c := range []struct{ text, forbidden, allowed string }{
		{"User-agent: *\nDisallow: /", "/ /a /a?b", ""},
		{"User-agent: *\nDisallow:", "", "/ /a"},
		{"User-agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/", "/a.gif /example/ /example/b /x/y.gif", "/example /a.gif?b /publications/ /"},
		{"User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", "/example/page/ /example/page/a"},
		{"User-agent: *\nDisallow: /a\nAllow: /a", "", "/a /ab"},
		{"User-agent: *\nDisallow: /a*b*c$", "/abc /axbxc /abcbc /abcc", "/abcd /ab /acb /ac"},
		{"User-agent: *\nDisallow: /a$", "/a", "/a/ /ab"},
		{"User-agent: *\nDisallow: /*?", "/?a /b?", "/b"},
		{"User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", "/a"},
		{"User-agent: *\nUser-agent: ExampleBot\nDisallow: /a\nUser-agent: b\nDisallow: /b", "/a", "/b"},
		{"\uFEFFuser-AGENT : * # all\r\nDISALLOW: /a # not this\r\nSitemap: https://shop.example/\r\nnonsense\r\ndisallow:/b\r\n", "/a /b", "/c"},
	} {
		r, err := ParseRobots(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for target := range strings.FieldsSeq(c.forbidden) {
			if !r.forbids([]byte(target)) {
				t.Errorf("%q allows %s", c.text, target)
			}
		}
		for target := range strings.FieldsSeq(c.allowed) {
			if r.forbids([]byte(target)) {
				t.Errorf("%q forbids %s", c.text, target)
			}
		}
	}
}

func TestNoRobots(t *testing.T) {
	for _, text := range []string{"", "<html>Not Found</html>", "Disallow: /", "User-agent: *\n" + strings.Repeat("Disallow: /a\n", maxRobotsRules+1)} {
		if _, err := ParseRobots(text); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

// Patterns fit as the expressions that they stand for.
func TestRobotsPatterns(t *testing.T) {
	testneeds.Rapid(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[/ab*]{1,8}\$?`).Draw(t, "pattern")
		target := rapid.StringMatching(`[/ab]{0,10}`).Draw(t, "target")
		stem, whole := strings.CutSuffix(pattern, "$")
		expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(stem), `\*`, ".*")
		if whole {
			expression += "$"
		}
		rule := newRobotsRule(pattern, false)
		if got, want := rule.fits([]byte(target)), regexp.MustCompile(expression).MatchString(target); got != want {
			t.Errorf("%s fits %q: %v, want %v", pattern, target, got, want)
		}
	})
}
