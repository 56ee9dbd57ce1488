package policy

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"shadow/contrib"
)

// The part of JSON Schema (draft 7) that the schema uses, for values of documents: mappings, lists, texts, int64, nil.
// A test holds it against a validator of the whole, which takes longer to start than the program itself.

// A misfit is how a value does not fit a part of the schema.
type misfit struct {
	keyword string   // that it does not fit; "" and "allOf": its causes say
	schema  []string // where the part stands in the schema
	at      []string // where the value stands
	causes  []*misfit

	want   []string // the kinds of values
	keys   []string // that are unknown or missing
	second int      // of two equal items
	err    error    // of a format
}

// A part is a schema within the schema.
type part = map[string]any

// wholeSchema is the schema, decoded.
var wholeSchema = sync.OnceValue(func() (whole part) {
	if err := json.Unmarshal(contrib.Schema, &whole); err != nil {
		panic(err) // it is embedded, and tested
	}
	return whole
})

// A validator holds a value against the schema.
type validator struct{ patterns map[string]*regexp.Regexp }

// validate returns how a value does not fit the schema, nil if it does.
func validate(value any) *misfit {
	v := &validator{map[string]*regexp.Regexp{}}
	return v.misfit(wholeSchema(), nil, value, nil)
}

// misfit returns how the value at a place does not fit a part of the schema, which stands at path.
func (v *validator) misfit(p part, path []string, value any, at []string) *misfit {
	if ref, is := p["$ref"].(string); is {
		path = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		p = wholeSchema()
		for _, step := range path {
			p = p[step].(part)
		}
		return v.misfit(p, path, value, at)
	}
	found := &misfit{schema: path, at: at}
	fail := func(keyword string, more misfit) {
		more.keyword, more.schema, more.at = keyword, path, at
		found.causes = append(found.causes, &more)
	}
	// A value that is none of what is wanted is not looked at any further.
	isWanted := func(kind string) bool { return slices.Contains(words(p["type"]), kind) }
	if kinds := words(p["type"]); kinds != nil && !slices.ContainsFunc(kindsOf(value), isWanted) {
		fail("type", misfit{want: kinds})
		return found.causes[0]
	}
	if want, is := p["const"]; is && value != want {
		fail("const", misfit{})
		return found.causes[0]
	}
	if choices, is := p["enum"].([]any); is && !slices.Contains(choices, value) {
		fail("enum", misfit{})
		return found.causes[0]
	}
	if format, is := p["format"].(string); is {
		if err := checkFormat(format, value); err != nil {
			fail("format", misfit{err: err})
			return found.causes[0]
		}
	}
	below := func(p any, value any, key string, steps ...string) {
		if m := v.misfit(p.(part), further(path, steps...), value, further(at, key)); m != nil {
			found.causes = append(found.causes, m)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		v.mapping(p, value, fail, below)
	case []any:
		if least, is := p["minItems"].(float64); is && len(value) < int(least) {
			fail("minItems", misfit{})
		}
		if most, is := p["maxItems"].(float64); is && len(value) > int(most) {
			fail("maxItems", misfit{})
		}
		if i := firstTwice(value); p["uniqueItems"] == true && i >= 0 {
			fail("uniqueItems", misfit{second: i})
		}
		if items := p["items"]; items != nil {
			for i, item := range value {
				below(items, item, strconv.Itoa(i), "items")
			}
		}
	case string:
		if least, is := p["minLength"].(float64); is && utf8.RuneCountInString(value) < int(least) {
			fail("minLength", misfit{})
		}
		if pattern, is := p["pattern"].(string); is && !v.matches(pattern, value) {
			fail("pattern", misfit{})
		}
	case int64:
		if least, is := p["minimum"].(float64); is && value < int64(least) {
			fail("minimum", misfit{})
		}
		if most, is := p["maximum"].(float64); is && value > int64(most) {
			fail("maximum", misfit{})
		}
	}
	v.combined(p, path, value, at, fail)
	switch len(found.causes) {
	case 0:
		return nil
	case 1:
		return found.causes[0]
	}
	return found
}

// mapping checks the keys of a mapping, and what stands at each.
func (v *validator) mapping(
	p part, value map[string]any, fail func(string, misfit), below func(p, value any, key string, steps ...string),
) {
	if least, is := p["minProperties"].(float64); is && len(value) < int(least) {
		fail("minProperties", misfit{})
	}
	var missing, unknown []string
	for _, key := range words(p["required"]) {
		if _, is := value[key]; !is {
			missing = append(missing, key)
		}
	}
	if missing != nil {
		fail("required", misfit{keys: missing})
	}
	properties, _ := p["properties"].(part)
	patterns, _ := p["patternProperties"].(part)
	for _, key := range slices.Sorted(maps.Keys(value)) {
		property, known := properties[key]
		if known {
			below(property, value[key], key, "properties", key)
		}
		for pattern, property := range patterns {
			if v.matches(pattern, key) {
				known = true
				below(property, value[key], key, "patternProperties", pattern)
			}
		}
		if more := p["additionalProperties"]; !known && more == false {
			unknown = append(unknown, key)
		} else if !known && more != nil {
			below(more, value[key], key, "additionalProperties")
		}
	}
	if unknown != nil {
		fail("additionalProperties", misfit{keys: unknown})
	}
}

// combined checks what is said of a value by further parts.
func (v *validator) combined(p part, path []string, value any, at []string, fail func(string, misfit)) {
	if not, is := p["not"].(part); is && v.misfit(not, further(path, "not"), value, at) == nil {
		fail("not", misfit{})
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, is := p[keyword].([]any)
		if !is {
			continue
		}
		var causes []*misfit
		for i, p := range parts {
			if m := v.misfit(p.(part), further(path, keyword, strconv.Itoa(i)), value, at); m != nil {
				causes = append(causes, m)
			}
		}
		fit := len(parts) - len(causes)
		if keyword == "allOf" && causes != nil || keyword == "anyOf" && fit == 0 || keyword == "oneOf" && fit != 1 {
			fail(keyword, misfit{causes: causes})
		}
	}
}

// checkFormat checks a value of a format that the schema names.
func checkFormat(format string, value any) error {
	if format == "ascending" {
		return ascending(value)
	}
	if text, is := value.(string); is {
		return checkText(format, text)
	}
	return nil
}

// matches reports whether a text has a pattern in it.
func (v *validator) matches(pattern, text string) bool {
	if v.patterns[pattern] == nil {
		v.patterns[pattern] = regexp.MustCompile(pattern) // it is embedded, and tested
	}
	return v.patterns[pattern].MatchString(text)
}

// kindsOf are the types that a value has in JSON.
func kindsOf(value any) []string {
	switch value.(type) {
	case nil:
		return []string{"null"}
	case map[string]any:
		return []string{"object"}
	case []any:
		return []string{"array"}
	case int64:
		return []string{"integer", "number"}
	}
	return []string{"string"}
}

// words are the texts of a list, or one text.
func words(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, text := range v {
			texts = append(texts, text.(string))
		}
	}
	return texts
}

// firstTwice is the first item that is equal to one before it, -1 if there is none.
func firstTwice(items []any) int {
	seen := map[any]bool{} // texts and numbers
	for i, item := range items {
		switch item.(type) {
		case map[string]any, []any:
			if slices.ContainsFunc(items[:i], func(other any) bool { return reflect.DeepEqual(item, other) }) {
				return i
			}
			continue
		}
		if seen[item] {
			return i
		}
		seen[item] = true
	}
	return -1
}

// further is a path with further steps, in memory of its own.
func further(path []string, steps ...string) []string { return slices.Concat(path, steps) }
