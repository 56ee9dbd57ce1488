package imports

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A block in a block, 200,000 times, is refused with its place: reading it would take all of the stack.
func TestCaddyfileIsBounded(t *testing.T) {
	nested := func(depth int) string {
		return "a.example {\n" + strings.Repeat("handle {\n", depth-1) + strings.Repeat("}\n", depth)
	}
	testneeds.Within(time.Minute, func() {
		err := new(Import).Add("Caddyfile", []byte(nested(200_000)), "")
		if err == nil || !strings.HasSuffix(err.Error(), "Caddyfile:101: nests deeper than 100 blocks") {
			t.Errorf("%v", err)
		}
	})
	if err := new(Import).Add("Caddyfile", []byte(nested(100)), ""); err != nil {
		t.Error(err)
	}
}

// A snippet that imports itself ends, and so do twenty that each import the next one ten times.
func TestImportsOfCaddyAreBounded(t *testing.T) {
	doubled := ""
	for n := range 19 {
		doubled += fmt.Sprintf("(s%d) {\n%s}\n", n, strings.Repeat(fmt.Sprintf("import s%d\n", n+1), 10))
	}
	for _, snippets := range []string{"(s0) {\nimport s0\n}\n", "&(s0) {\ninvoke s0\n}\n(s0) {\ninvoke s0\n}\n", doubled + "(s19) {\ngzip\n}\n"} {
		testneeds.Within(time.Minute, func() {
			err := new(Import).Add("Caddyfile", []byte(snippets+"a.example {\nimport s0\n}\n"), "")
			if err == nil || !strings.Contains(err.Error(), "imports make more than 100000 directives, or nest deeper than 20") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Each filter of Envoy is told of once, not once for each other one.
func TestEnvoyTellsNoPairs(t *testing.T) {
	const filter = "  - filter_chains: [{filters: [{typed_config: {http_filters: [{name: envoy.filters.http.local_ratelimit, " +
		"typed_config: {token_bucket: {max_tokens: 10, fill_interval: 1s}}}]}}]}]\n"
	i := new(Import)
	if err := i.Add("envoy.yaml", []byte("static_resources:\n  listeners:\n"+strings.Repeat(filter, 100)), ""); err != nil {
		t.Fatal(err)
	}
	i.Done()
	if n := len(i.Lost()); n != 99 {
		t.Errorf("%d notes on 100 filters", n)
	}
}

// What is a text in one line and a table in another is read without harm.
func TestTextThatIsATable(t *testing.T) {
	for file, text := range map[string]string{
		"traefik.toml":        "[http]\n  middlewares = 1\n  [http.middlewares.a.rateLimit]\n    average = 5\n",
		"docker-compose.yaml": "services: {a: {labels: [traefik.http.middlewares=1, traefik.http.middlewares.a.rateLimit.average=5]}}\n",
	} {
		i := new(Import)
		if err := i.Add(file, []byte(text), ""); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		i.Done()
	}
}
