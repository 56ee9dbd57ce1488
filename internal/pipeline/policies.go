package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic/ingest"
)

// A Choice says what to judge by: limits on the command line, policies of the configuration, or both.
type Choice struct {
	Limits []string
	By     request.Key // what they count by
	Chosen []string    // policies by name

	// Derive makes of the policies that are chosen those to judge by; nil: these.
	Derive func(*policy.Config, []policy.Policy) ([]policy.Policy, error)
}

// Choose makes the policies: those of --limit first, then those of the configuration.
func (f *Choice) Choose(config *policy.Config) ([]policy.Policy, error) {
	policies, err := policy.ParseLimits(f.Limits, f.By)
	if err != nil {
		return nil, BadFlag("limit", "", err)
	}
	config.Spare(policies)
	chosen, err := config.Pick(f.Chosen)
	if err != nil {
		return nil, Usage("--policy: %w", err)
	}
	policies = append(policies, chosen...)
	if len(policies) == 0 {
		return nil, Usage("which limit? Say, for instance, --limit 6/30s (6 requests per 30 seconds), " +
			"or write policies into " + DefaultConfig)
	}
	seen := map[string]bool{} // names, by which reports tell policies apart
	for _, p := range policies {
		if seen[p.Name] {
			return nil, Usage("two policies are called %q: give one in the configuration another name", p.Name)
		}
		seen[p.Name] = true
	}
	if f.Derive != nil {
		return f.Derive(config, policies)
	}
	return policies, nil
}

// explainMissing names the policies of the configuration that count by what no log tells. Judged all the same they
// would count everybody as one; left out, a run that is kept would lack them. So which of the others to judge by is to
// be said.
func explainMissing(err error, policies []policy.Policy) error {
	var missing *ingest.MissingFieldError
	if !errors.As(err, &missing) {
		return err
	}
	what := missing.Field
	isIt := func(p request.Part) bool { return p.String() == what }
	lacks := func(k request.Key) bool { return lacksPart(k, what) }
	var names []string
	place := ""
	for _, p := range policies {
		if p.Place == "" || !slices.ContainsFunc(p.Keys(), lacks) && (what != ingest.TheSize || !p.BySize()) &&
			(what != ingest.TheTime || !p.ByTime()) &&
			!slices.ContainsFunc(p.CostFields(), isIt) {
			continue
		}
		if names = append(names, p.Name); place == "" {
			place = p.Place
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%s: policies that count by %s (%s) cannot be judged; --policy picks others: %w",
		place, strings.TrimPrefix(what, "the "), strings.Join(names, ", "), err)
}

// lacksPart reports whether a key has a part that is missing.
func lacksPart(k request.Key, what string) bool {
	return what == ingest.TheHost && k.ByHosts() || what == ingest.TheUser && k.ByUsers() || what == ingest.ThePath && k.ByPaths() ||
		slices.ContainsFunc(k.Parts(), func(p request.Part) bool { return p.String() == what })
}
