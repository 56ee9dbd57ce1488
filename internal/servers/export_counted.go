package servers

import (
	"errors"
	"fmt"
	"slices"

	"shadow/internal/request"
)

// cannotCount is the error of a key that a server does not have.
func cannotCount(p request.Part) error { return fmt.Errorf("it cannot count by %s", p) }

// only is the one part of a key, for a server that counts by no more.
func only(parts []request.Part) (request.Part, error) {
	if len(parts) > 1 {
		return parts[0], fmt.Errorf("it cannot count by several parts: %s", joinParts(parts))
	}
	return parts[0], nil
}

// A counted is requests of a setting that are counted by the same parts of a key.
type counted struct {
	name  string // of the setting, and _client behind it for the second one
	when  []clause
	parts []request.Part
	lacks bool // what is counted by the client for want of a value
}

// counts takes apart requests that have what a key names, and those that have not and count by their client.
func (s setting) counts() ([]counted, error) {
	var values, others []request.Part
	for _, p := range s.by {
		switch {
		case p.IsValue() && p.Kind != request.PartSegment || p.Kind == request.PartUser:
			values = append(values, p)
		case p.Kind != request.PartClient && !p.IsGroup():
			others = append(others, p)
		}
	}
	switch {
	case len(values) == 0:
		return []counted{{s.name, s.when, s.by, false}}, nil
	case len(values) > 1:
		return nil, errors.New("a key with several values that a request may lack is not exported")
	}
	others = slices.Insert(others, 0, request.Part{Kind: request.PartClient}) // without a value it is the client
	has, err := product([][]clause{orAll(s.when), {{{kind: "without", values: []string{values[0].String()}, not: true}}}})
	lacks, bad := product([][]clause{orAll(s.when), {{{kind: "without", values: []string{values[0].String()}}}}})
	all := []counted{{s.name, simplified(has), s.by, false}, {s.name, simplified(lacks), others, true}}
	all = slices.DeleteFunc(all, func(c counted) bool { return len(c.when) == 0 })
	for i := range all[min(1, len(all)):] {
		all[i+1].name += "_client"
	}
	return all, errors.Join(err, bad)
}

func orAll(when []clause) []clause {
	if when == nil {
		return []clause{{}}
	}
	return when
}
