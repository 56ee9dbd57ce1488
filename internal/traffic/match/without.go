package match

import (
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/parse"
)

// absences are the condition of all scopes on what a request must not have: a user, a field, a header or a cookie.
type absences struct {
	user   uint64   // the scopes that ask for requests without one
	values *Values  // what others ask about; nil: nothing
	bits   []uint64 // of each value, the scopes
}

// newAbsences compiles them. extra is what is asked of the parser already; with what they need it comes back.
func newAbsences(scopes []request.Conditions, extra []string) (a absences, asked []string, err error) {
	var keys []request.Key
	for i := range scopes {
		for _, text := range scopes[i].Without {
			key, err := request.ParseKey(text)
			if err != nil || len(key.Parts()) != 1 || !CanLack(key.Parts()[0]) {
				return a, nil, fmt.Errorf("without %q: want user, field:NAME, header:NAME or cookie:NAME", text)
			}
			if key == request.ByUser {
				a.user |= 1 << i
			}
			keys = append(keys, key)
		}
	}
	if a.values, extra, err = NewValues(keys, nil, extra); a.values == nil {
		return a, extra, err
	}
	a.bits = make([]uint64, len(a.values.parts))
	for i := range scopes {
		for j, part := range a.values.parts {
			if slices.ContainsFunc(scopes[i].Without, func(text string) bool { p, _ := request.ParsePart(text); return p == part }) {
				a.bits[j] |= 1 << i
			}
		}
	}
	return a, extra, nil
}

// CanLack reports whether a request may be without a part.
func CanLack(p request.Part) bool {
	return p.Kind == request.PartUser || p.IsValue() && p.Kind != request.PartSegment
}

// asked reports whether any scope has the condition.
func (a *absences) asked() bool { return a.user != 0 || a.values != nil }

// mark takes requests out of the scopes that ask for what they have not.
func (a *absences) mark(marks []uint64, records []parse.Record) {
	for i := range records {
		if logged(records[i].User) != nil {
			marks[i] &^= a.user
		}
		for j, bits := range a.bits {
			if a.values.Of(j, &records[i]) != nil {
				marks[i] &^= bits
			}
		}
	}
}
