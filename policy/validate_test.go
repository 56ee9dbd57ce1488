package policy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"shadow/testneeds"
)

// fullSchema is the truth that validate is held against: a validator of all of JSON Schema.
func fullSchema() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, name := range []string{"limit", "network", "go-regexp", "ascending"} {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error { return checkFormat(name, v) }})
	}
	return compileSchema(compiler)
}

// full writes down an error of the full validator. Groups and references are none of their own.
func full(e *jsonschema.ValidationError) []string {
	var causes []string
	for _, cause := range e.Causes {
		causes = append(causes, full(cause)...)
	}
	keyword := e.ErrorKind.KeywordPath()
	more := ""
	path, _ := url.PathUnescape(e.SchemaURL[strings.Index(e.SchemaURL, "#")+1:])
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference:
		return causes
	case *kind.Type:
		more = fmt.Sprint(sorted(k.Want))
	case *kind.AdditionalProperties:
		more = fmt.Sprint(sorted(k.Properties))
	case *kind.Required:
		more = fmt.Sprint(k.Missing)
	case *kind.UniqueItems:
		more = fmt.Sprint(k.Duplicates[1])
	case *kind.Format:
		more = k.Err.Error()
	case *kind.Not:
		keyword = []string{"not"}
	case *kind.OneOf:
		causes = nil // which of them fit is not looked at
	}
	text := fmt.Sprintf("%s at %q by %s: %s", strings.Join(keyword, "/"), e.InstanceLocation, path, more)
	return []string{fmt.Sprint(text, sorted(causes))}
}

// own writes down a misfit in the same way.
func own(m *misfit) []string {
	var causes []string
	for _, cause := range m.causes {
		causes = append(causes, own(cause)...)
	}
	more, path := "", ""
	for _, step := range m.schema {
		path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
	}
	switch m.keyword {
	case "":
		return causes
	case "type":
		more = fmt.Sprint(sorted(m.want))
	case "additionalProperties", "required":
		more = fmt.Sprint(m.keys)
	case "uniqueItems":
		more = fmt.Sprint(m.second)
	case "format":
		more = m.err.Error()
	case "oneOf":
		causes = nil
	}
	text := fmt.Sprintf("%s at %q by %s: %s", m.keyword, m.at, path, more)
	return []string{fmt.Sprint(text, sorted(causes))}
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// What does not fit the schema is what the full validator says, for values that look like configurations.
func TestValidate(t *testing.T) {
	keys := []string{
		"actions", "tiers", "exempt", "policies", "evidence", "name", "combine", "limits", "limit", "by", "match", "count", "method", "path", "prefix",
		"glob", "regexp", "host", "class", "tier", "status", "addresses", "users", "agents", "hosts", "sample", "hours", "default", "x", "any",
	}
	for key := range wholeSchema()["properties"].(part) {
		keys = append(keys, key)
	}
	for _, definition := range wholeSchema()["definitions"].(part) {
		if properties, is := definition.(part)["properties"].(part); is {
			for key := range properties {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	texts := []string{"any", "login", "/login", "**", "6/30s", "token:6/30s,burst=3", "window:x", "10.0.0.0/8", "::1/200", "private", "GET", "browser", "4xx", "403", "50%", "200%", "client", "", "a\nb", "(", "none", "all", "exempt"}
	r := testneeds.Rand(t, 7, 11)
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(10); {
		case n < 4 && depth > 0:
			m := map[string]any{}
			for range r.IntN(5) {
				m[keys[r.IntN(len(keys))]] = value(depth - 1)
			}
			return m
		case n < 7 && depth > 0:
			list := []any{}
			for range r.IntN(4) {
				list = append(list, value(depth-1))
			}
			return list
		case n == 7:
			return []any{nil, int64(r.IntN(700)), int64(-1)}[r.IntN(3)]
		}
		return texts[r.IntN(len(texts))]
	}
	schema := fullSchema()
	hold := func(v any) {
		var want []string
		var invalid *jsonschema.ValidationError
		if errors.As(schema.Validate(v), &invalid) {
			want = full(invalid)
		}
		var got []string
		if m := validate(v); m != nil {
			got = own(m)
		}
		if !slices.Equal(sorted(got), sorted(want)) {
			t.Fatalf("%v:\n%s\nwant\n%s", v, strings.Join(sorted(got), "\n"), strings.Join(sorted(want), "\n"))
		}
	}
	for range 1000 {
		hold(value(5))
		hold(map[string]any{"policies": map[string]any{"name": "p", "limits": value(4)}})
		hold(map[string]any{"policies": []any{value(3), map[string]any{"name": value(1), "limits": []any{map[string]any{"limit": value(1), "match": value(2), "count": value(2)}}}}})
		hold(map[string]any{"actions": value(3), "exempt": value(3), "tiers": map[string]any{"paying": value(3)}, "evidence": value(3)})
	}
}
