package policy

import (
	"errors"
	"fmt"
	"strings"

	"shadow/limit"
)

// New is the policy of one limit, counted by a key. A limit that names no algorithm is a token bucket.
func New(spec limit.Spec, by Key) (Policy, error) {
	if spec.Algorithm == "" {
		spec.Algorithm = Algorithms[0].Name
	}
	algorithm, err := find(spec.Algorithm)
	if err != nil {
		return Policy{}, fmt.Errorf("limit %q: %w", spec, err)
	}
	limiter, err := construct(algorithm, spec)
	if err != nil {
		return Policy{}, err
	}
	return Policy{Name: spec.String(), Parts: []Part{{Spec: spec, By: by, Limiter: limiter}}}, nil
}

// ParseLimits makes a policy of each limit in texts, in their order and each once. Lists and ranges become one policy
// for each count; a limit without algorithm and options becomes one for each algorithm that is meant by that.
func ParseLimits(texts []string, by Key) ([]Policy, error) {
	var specs []limit.Spec
	for _, text := range texts {
		more, err := parseLimit(text)
		if err != nil {
			return nil, err
		}
		specs = append(specs, more...)
	}
	return FromSpecs(specs, by)
}

// errCombination is about a+b.
var errCombination = errors.New("limits joined by '+' cannot be judged yet; write each as a limit of its own")

// parseLimit is limit.ParseAll, after a look at what it does not know: which algorithms there are.
func parseLimit(text string) ([]limit.Spec, error) {
	if strings.Contains(text, "+") {
		return nil, fmt.Errorf("limit %q: %w", text, errCombination)
	}
	if name, _ := limit.CutAlgorithm(text); name != "" {
		if _, err := find(name); err != nil {
			return nil, fmt.Errorf("limit %q: %w", text, err)
		}
	}
	return limit.ParseAll(text)
}

// FromSpecs makes the policies of limits that have been read already, as ParseLimits does.
func FromSpecs(specs []limit.Spec, by Key) ([]Policy, error) {
	var policies []Policy
	seen := map[limit.Spec]bool{}
	for _, given := range specs {
		for _, spec := range meant(given) {
			if seen[spec] {
				continue
			}
			seen[spec] = true
			p, err := New(spec, by)
			if err != nil {
				return nil, err
			}
			policies = append(policies, p)
		}
	}
	return policies, nil
}

// meant is the limits, each with its algorithm, that spec stands for.
func meant(spec limit.Spec) []limit.Spec {
	switch {
	case spec.Algorithm != "":
		return []limit.Spec{spec}
	case spec.Options != "":
		spec.Algorithm = Algorithms[0].Name
		return []limit.Spec{spec}
	}
	var specs []limit.Spec
	for _, a := range Algorithms {
		if a.Bare {
			spec.Algorithm = a.Name
			specs = append(specs, spec)
		}
	}
	return specs
}
