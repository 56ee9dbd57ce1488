package pipeline

import (
	"fmt"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/match"
)

// What the one takes the other takes, too.
func TestConfigValues(t *testing.T) {
	for _, text := range []string{
		"192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "::ffff:192.0.2.0/120", "::ffff:0:0/95", "private", "0.0.0.0/0", "::/0",
		"192.0.2.1/24", "192.0.2.300", "192.0.2.0/33", "fe80::1%eth0", "192.0.2", "", "1.2.3.4/", "01.2.3.4",
	} {
		_, here := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, "tiers: {a: {addresses: %q}}", text))
		_, there := match.NewTiers([]request.Tier{{Name: "a", Networks: []string{text}}}, nil)
		agree(t, "network", text, here, there)
	}
	for _, text := range []string{"200", "4xx", "5XX", "099", "0xx", "40", "1000", "xxx", "4x4", "599", "600", "6xx", "999", "+99"} {
		here := condition("count", "status", text)
		_, there := match.NewScopes([]request.Conditions{{Statuses: []string{text}}}, nil, nil, nil)
		agree(t, "status", text, here, there)
	}
	for _, text := range []string{"^/a", "(", "a{1001}", `\pL`} {
		here := condition("match", "regexp", text)
		_, there := match.NewScopes([]request.Conditions{{Regexps: []string{text}}}, nil, nil, nil)
		agree(t, "regexp", text, here, there)
	}
}

// condition returns what policy finds wrong with a value.
func condition(scope, key, text string) error {
	_, err := policy.ParseConfig("shadow.yaml", fmt.Appendf(nil, "policies: {name: p, limits: {limit: 5/m, %s: {%s: %q}}}", scope, key, text))
	return err
}

func agree(t *testing.T, what, text string, here, there error) {
	t.Helper()
	if (here == nil) != (there == nil) {
		t.Errorf("%s %q: policy says %v, traffic %v", what, text, here, there)
	}
}
