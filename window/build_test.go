package window

import (
	"fmt"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

// constructors maps the names of limits to the constructors of this package.
var constructors = map[string]func(limit.Spec) (limit.Limiter, error){
	"window":  New,
	"fixed":   NewFixed,
	"counter": NewCounter,
	"polled":  newPolledForTest,

	"envoy":       NewEnvoy,
	"cloudflare~": NewCloudflare,
	"aws~":        NewAWS,

	"haproxy": NewHAProxy,
	"caddy":   NewCaddy,

	"fail2ban":        NewFail2ban,
	"symfony-sliding": NewSymfony,
	"mod-evasive":     NewEvasive,
}

// build makes the limiter that spec names.
func build(spec limit.Spec) (limit.Limiter, error) {
	if c := constructors[spec.Algorithm]; c != nil {
		return c(spec)
	}
	return nil, fmt.Errorf("limit %q: no such algorithm in this package", spec)
}

// must is the limiter that text describes.
func must(t testing.TB, text string) limit.Limiter {
	t.Helper()
	spec, err := limit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestScripts(t *testing.T) { limittest.Scripts(t, build) }
