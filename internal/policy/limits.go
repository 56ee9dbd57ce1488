package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/limit"
)

// New is the policy of one limit, counted by a key. A limit that names no algorithm is a token bucket.
func New(spec limit.Spec, by request.Key) (Policy, error) {
	part, err := newPart(spec, by)
	if err != nil {
		return Policy{}, err
	}
	return Policy{Name: part.Written(), Parts: []Part{part}}, nil
}

// newPart is a limit of a policy, for all requests.
func newPart(spec limit.Spec, by request.Key) (Part, error) {
	if spec.Algorithm == "" {
		spec.Algorithm = Algorithms[0].Name
	}
	known := ""
	if preset := presetOf(spec.Algorithm); preset != nil {
		known = spec.String()
		var err error
		if spec, err = preset.inOurWords(spec); err != nil {
			return Part{}, err
		}
	}
	algorithm, err := algorithmOf(spec.Algorithm)
	if err != nil {
		return Part{}, fmt.Errorf("limit %q: %w", spec, err)
	}
	limiter, err := construct(algorithm, spec)
	part := Part{Spec: spec, By: by, Limiter: limiter, Known: known}
	if spec.UnderWay() && err == nil {
		part.Costs = taken
		if _, common := CutOptions(spec, limit.CommonNames()...); common != "" {
			err = fmt.Errorf("limit %q: a limit on requests that are under way goes without %s", spec, common)
		}
	}
	return part, err
}

// ParseLimits makes the policies that texts stand for, in their order and each once. Limits joined by '+' are one
// policy, whose limits must all admit; "each:" or another Combine before them says which of them charge. Lists and
// ranges become one policy for each count, or for each combination of counts; a limit that stands alone, without
// algorithm and options, becomes one for each algorithm that is meant by that.
func ParseLimits(texts []string, by request.Key) ([]Policy, error) {
	var policies []Policy
	seen := map[string]bool{}
	for _, text := range texts {
		how, rest, explicit := cutCombine(text)
		combinations, err := parseCombinations(text, rest, explicit, by)
		if err != nil {
			return nil, err
		}
		for _, parts := range combinations {
			p := Policy{Combine: how, Parts: parts}
			if !explicit {
				p.Combine = natural(p.Parts)
			}
			p.Name = p.text((*Part).Written)
			if err := tooRough(p.Parts); err != nil {
				return nil, fmt.Errorf("limit %q: %w", p.Name, err)
			}
			if !seen[p.Name] {
				seen[p.Name] = true
				policies = append(policies, p)
			}
		}
	}
	return policies, nil
}

// maxApproximations bounds how many limits of a policy may be approximations. Since each may be any of its variants
// whatever the others are, n of them, with four variants each, are 5ⁿ policies to judge.
const maxApproximations = 2

// tooRough is the error of a policy with too many approximations, or nil.
func tooRough(parts []Part) error {
	n := 0
	for i := range parts {
		if _, ok := parts[i].Limiter.(limit.Approximation); ok {
			n++
		}
	}
	if n <= maxApproximations {
		return nil
	}
	return fmt.Errorf("a policy may have at most two approximations (~), this one has %d; replicas and drift make one, "+
		"replicas=3/turn does not", n)
}

// parseCombinations reads limits joined by '+', the rest of text behind an explicit way to combine: the parts of one
// policy, or of several if there are lists or ranges.
func parseCombinations(text, rest string, explicit bool, by request.Key) ([][]Part, error) {
	texts := strings.Split(rest, "+")
	if len(texts) == 1 && explicit {
		return nil, fmt.Errorf("limit %q: joins several limits with '+'; there is one, which stands alone: %s",
			text, strings.TrimSpace(rest))
	}
	choices := make([][]Part, len(texts))
	for i, part := range texts {
		if strings.TrimSpace(part) == "" && len(texts) > 1 {
			return nil, fmt.Errorf("limit %q: lacks a limit beside a '+'; "+
				"want them joined, such as token:10/s+window:1000/1h", text)
		}
		specs, err := parseLimit(part)
		if len(texts) == 1 {
			specs = resolved(specs) // each for itself
		}
		if choices[i], err = newParts(specs, err, by); err != nil {
			return nil, err
		}
	}
	if size(choices) > maxPolicies && len(texts) > 1 {
		return nil, fmt.Errorf("limit %q: %w", text, errTooMany)
	}
	return products(choices), nil
}

// parseParts reads the text of a limit: one part, or one for each of its counts.
func parseParts(text string, by request.Key) ([]Part, error) {
	specs, err := parseLimit(text)
	return newParts(specs, err, by)
}

// newParts are the parts of specs, unless reading these has failed.
func newParts(specs []limit.Spec, failed error, by request.Key) (parts []Part, err error) {
	if failed != nil {
		return nil, failed
	}
	for _, spec := range specs {
		part, err := newPart(spec, by)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// maxPolicies bounds how many policies one text may stand for, as the counts of one limit are bounded.
const maxPolicies = 10_000

var errTooMany = fmt.Errorf("stands for more than %d policies; take larger steps, such as 10..1000:10", maxPolicies)

// parseLimit reads one limit, which may stand for many by its count. It looks at the name of the algorithm first, since
// what is wrong with the rest may come from there.
func parseLimit(text string) ([]limit.Spec, error) {
	name, rest := limit.CutAlgorithm(text)
	if name != "" {
		if _, err := algorithmOf(name); err != nil && presetOf(name) == nil {
			return nil, fmt.Errorf("limit %q: %w", text, err)
		}
	}
	if rate, options, ok := nginxWords(name, rest); ok {
		specs, err := limit.ParseAll(strings.Join(append([]string{name + ":" + rate}, options...), ","))
		if err != nil {
			err = fmt.Errorf("limit %q: %w", text, errors.Unwrap(err))
		}
		return specs, err
	}
	return limit.ParseAll(text)
}

// Held returns how many requests a token bucket is said to hold; false if nothing is said.
func Held(spec limit.Spec) (n int64, ok bool) {
	if spec.Algorithm != Algorithms[0].Name {
		return 0, false
	}
	n = spec.Args().Int("burst", -1)
	return n, n >= 0
}

// nginxWords takes apart a limit in the words of nginx itself: nginx:rate=10r/s burst=20 nodelay.
func nginxWords(algorithm, text string) (rate string, options []string, ok bool) {
	if algorithm != "nginx" {
		return "", nil, false
	}
	for _, word := range strings.Fields(text) {
		if value, is := strings.CutPrefix(word, "rate="); is && !ok {
			rate, ok = value, true
		} else {
			options = append(options, word)
		}
	}
	return rate, options, ok
}

// resolved are the limits, each with its algorithm, that specs stand for when they stand alone.
func resolved(written []limit.Spec) (specs []limit.Spec) {
	for _, spec := range written {
		if spec.Algorithm != "" || spec.Options != "" {
			specs = append(specs, spec)
			continue
		}
		for _, a := range Algorithms {
			if a.Bare {
				spec.Algorithm = a.Name
				specs = append(specs, spec)
			}
		}
	}
	return specs
}

// size returns the number of products, or a number beyond maxPolicies.
func size[T any](choices [][]T) int {
	n := 1
	for _, c := range choices {
		if n *= len(c); n > maxPolicies {
			break
		}
	}
	return n
}

// products is every way to take one of each of the choices; the last one changes quickest.
func products[T any](choices [][]T) [][]T {
	all := [][]T{nil}
	for _, choice := range choices {
		var longer [][]T
		for _, begun := range all {
			for _, c := range choice {
				longer = append(longer, append(slices.Clone(begun), c))
			}
		}
		all = longer
	}
	return all
}
