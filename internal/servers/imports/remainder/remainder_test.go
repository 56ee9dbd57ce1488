package remainder

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// Behind the beginning of a text, a remainder fits the rest if the expression fits the whole.
func TestRemainder(t *testing.T) {
	expressions := []string{
		`^POST:/api/auth/`, `POST:/login$`, `^(GET|POST):/(a|b)+$`, `:/x`, `^P(OST|UT):/x?y*`, `(?i)^post:/Login`, `^[A-Z]+:/v[0-9]/`,
		`^POST:(/a|/b/).*c$`, `^.*:/a`, `/a{2,3}$`, ``, `^$`, `ET:/?`,
	}
	testneeds.Rapid(t, func(t *rapid.T) {
		expression := rapid.SampledFrom(expressions).Draw(t, "expression")
		begin := rapid.SampledFrom([]string{"POST:", "GET:", "PUT:", "OTHER:", "", "P"}).Draw(t, "begin")
		rest := rapid.SampledFrom([]string{"", "/", "/a", "/aa", "/b", "/x", "/xy", "/login", "/LOGIN", "/api/auth/1", "/v1/x", "/a/c", "/ab", "/b/c"}).Draw(t, "rest")
		r, ok := Of(expression)
		if !ok {
			t.Fatalf("%s has anchors inside", expression)
		}
		pattern := r.Behind(begin).Pattern()
		want := regexp.MustCompile(expression).MatchString(begin + rest)
		if got := regexp.MustCompile(strings.Replace(pattern, Nothing, `\b\B`, 1)).MatchString(rest); got != want {
			t.Errorf("%s behind %q is %s; it fits %q: %t, want %t", expression, begin, pattern, rest, got, want)
		}
	})
}
