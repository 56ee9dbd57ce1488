package match

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/parse"
)

// valueBits are the conditions of all scopes on a user, a field, a header or a cookie: what it must be, or that there is
// none.
type valueBits struct {
	user   uint64   // the scopes that ask for requests without one
	values *Values  // what others ask about; nil: nothing
	bits   []uint64 // of each value, the scopes that ask for requests without it
	texts  []patternBits
	asking []uint64 // of each value, the scopes that ask for a text of it
}

// splitWith takes apart a value of With: the part, and the expression that its text must fit.
func splitWith(text string) (part request.Part, expression string, err error) {
	at := strings.IndexAny(text, "=~")
	if at < 0 {
		return part, "", fmt.Errorf("with %q: want PART=TEXT or PART~EXPRESSION, such as header:X-Api-Key=gold", text)
	}
	if part, err = request.ParsePart(text[:at]); err != nil || !part.IsValue() || part.Kind == request.PartSegment {
		return part, "", fmt.Errorf("with %q: want field:NAME, header:NAME or cookie:NAME before the %c", text, text[at])
	}
	if expression = text[at+1:]; text[at] == '=' {
		expression = "^" + regexp.QuoteMeta(expression) + "$"
	}
	return part, expression, nil
}

// newValueBits compiles them. extra is what is asked of the parser already; with what they need it comes back.
func newValueBits(scopes []request.Conditions, extra []string) (a valueBits, asked []string, err error) {
	var keys []request.Key
	for i := range scopes {
		for _, text := range scopes[i].With {
			part, _, err := splitWith(text)
			if err != nil {
				return a, nil, err
			}
			keys = append(keys, request.Key(part.String()))
		}
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
	return a, extra, a.addTexts(scopes)
}

// addTexts compiles what values must be.
func (a *valueBits) addTexts(scopes []request.Conditions) (err error) {
	a.texts, a.asking = make([]patternBits, len(a.values.parts)), make([]uint64, len(a.values.parts))
	for j, part := range a.values.parts {
		texts := func(c *request.Conditions) (of []string) {
			for _, text := range c.With {
				if p, expression, _ := splitWith(text); p == part {
					of = append(of, expression)
				}
			}
			return of
		}
		if a.texts[j], err = newPatternBits(scopes, texts, newRegexp); err != nil {
			return err
		}
		for i := range scopes {
			if len(texts(&scopes[i])) > 0 {
				a.asking[j] |= 1 << i
			}
		}
	}
	return nil
}

// CanLack reports whether a request may be without a part.
func CanLack(p request.Part) bool {
	return p.Kind == request.PartUser || p.IsValue() && p.Kind != request.PartSegment
}

// mark takes requests out of the scopes that ask for what they have not, or for the lack of what they have. Of the texts
// that a scope asks for, one must fit.
func (a *valueBits) mark(marks []uint64, records []parse.Record) {
	for i := range records {
		if logged(records[i].User) != nil {
			marks[i] &^= a.user
		}
		asking, fitting := uint64(0), uint64(0)
		for j, bits := range a.bits {
			value := a.values.Of(j, &records[i])
			if value != nil {
				marks[i] &^= bits
				fitting |= a.texts[j].of(value) & a.asking[j]
			}
			asking |= a.asking[j]
		}
		marks[i] &^= asking &^ fitting
	}
}
