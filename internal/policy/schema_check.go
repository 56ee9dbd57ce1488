//go:build !js

package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"github.com/kaptinlin/jsonschema"

	"shadow/contrib"
	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/limit"
)

// formats are checks of texts that know more than a pattern.
var formats = map[string]func(text string) error{
	"limit":     func(text string) error { _, err := parseParts(text, request.ByClient); return err },
	"key":       func(text string) error { _, err := request.ParseKey(text); return err },
	"cost":      func(text string) error { _, err := request.ParseCost(text); return err },
	"network":   networkProblem,
	"go-regexp": func(text string) error { _, err := regexp.Compile(text); return err },
}

// checkText checks a text of some format.
func checkText(format, text string) error {
	switch {
	case text == "":
		return errors.New("want a text here, not an empty one")
	case strings.ContainsFunc(text, isControl):
		return fmt.Errorf("%q has a line break or another control character in it", text)
	case formats[format] == nil:
		return nil
	}
	return formats[format](text)
}

// configSchema returns the schema, with checks of its formats.
var configSchema = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler().SetAssertFormat(true)
	for name := range formats {
		compiler.RegisterFormat(name, func(v any) bool {
			text, isText := v.(string)
			return !isText || checkText(name, text) == nil
		})
	}
	compiler.RegisterFormat("ascending", ascending)
	schema, err := compiler.Compile(contrib.Schema)
	if err != nil {
		panic(err) // it is embedded, and tested
	}
	return schema
})

// ascending reports whether two percentages are in order.
func ascending(v any) bool {
	list, ok := v.([]any)
	return !ok || len(list) != 2 || percent(fmt.Sprint(list[0])) <= percent(fmt.Sprint(list[1]))
}

// listed are the texts of a list in the schema; one text alone is a list, too.
func listed(schema node, key string) (texts []string) {
	switch at, _ := find(schema, []string{key}); at := at.(type) {
	case *ast.SequenceNode:
		texts = mapped.Add(texts, at.Values, textOf)
	case *ast.StringNode:
		texts = append(texts, at.Value)
	}
	return texts
}

// describeKeys says what an object is called, and which keys it has.
func describeKeys(schema node) string {
	keys := strings.Join(keysOf(schema), ", ")
	if keys == "" {
		keys = "names of your own"
	}
	return said(schema, "title") + " has " + keys
}

// A mistake is something that does not fit: a keyword of a part of the schema refuses what stands at a path.
type mistake struct {
	keyword string
	schema  node
	path    []string
	unknown []string // the keys that the schema does not have, of additionalProperties
	again   any      // the index of an item that stands there twice, of uniqueItems
}

// validating keeps calls apart: the validator compiles expressions when it first needs them.
var validating sync.Mutex

// check holds the tree against the schema. What does not fit leaves the tree.
func (d *document) check(top node, value any) {
	validating.Lock()
	result := configSchema().ValidateStruct(value)
	validating.Unlock()
	if result.IsValid() {
		return
	}
	mistakes, bad := mistakesOf(result, schemaNodes(), nil), map[node]bool{}
	for _, unknownKeys := range []bool{true, false} { // these first: what is missing may be meant by them
		for _, m := range mistakes {
			if (m.unknown != nil) == unknownKeys {
				d.explain(m, top, bad)
			}
		}
	}
	d.prune(top, bad)
}

// refusing has the keywords that refuse a value as such. The first three leave nothing to say for others.
var refusing = []string{
	"type", "const", "enum", "format", "minProperties", "required", "minItems", "maxItems", "uniqueItems", "minLength",
	"pattern", "minimum", "maximum", "not", "oneOf",
}

// mistakesOf returns what is wrong with the value at a path, by the result for a part of the schema.
func mistakesOf(r *jsonschema.EvaluationResult, schema node, path []string) (all []mistake) {
	schema = behind(schema)
	for r.Errors["$ref"] != nil {
		r = r.Details[0]
	}
	for i, keyword := range refusing {
		if err := r.Errors[keyword]; err != nil {
			all = append(all, mistake{keyword: keyword, schema: schema, path: path, again: err.Params["index2"]})
			if i < 3 {
				return all
			}
		}
	}
	var unknown []string
	for _, part := range partsOf(r) {
		below, inside := partOf(schema, part), path
		if key, isInside := strings.CutPrefix(part.InstanceLocation, "/"); isInside {
			inside = append(slices.Clip(path), key)
		}
		if below.Type() == ast.BoolType { // "additionalProperties": false
			unknown = append(unknown, inside[len(path)])
			continue
		}
		all = append(all, mistakesOf(part, below, inside)...)
	}
	if unknown != nil {
		all = append(all, mistake{keyword: "additionalProperties", schema: schema, path: path, unknown: unknown})
	}
	return all
}

// partsOf returns the parts that make a result invalid. Of alternatives it is the first that fits in kind, else the
// first.
func partsOf(r *jsonschema.EvaluationResult) (parts []*jsonschema.EvaluationResult) {
	var alternatives []*jsonschema.EvaluationResult
	for _, part := range r.Details {
		switch keyword, _ := step(part); {
		case part.IsValid() || slices.Contains([]string{"if", "not", "oneOf"}, keyword):
		case keyword == "anyOf":
			alternatives = append(alternatives, part)
		default:
			parts = append(parts, part)
		}
	}
	if r.Errors["anyOf"] == nil {
		return parts
	}
	i := slices.IndexFunc(alternatives, func(part *jsonschema.EvaluationResult) bool { return !otherKind(part) })
	return append(parts, alternatives[max(i, 0)])
}

// partOf returns the part of the schema that a result is for.
func partOf(schema node, r *jsonschema.EvaluationResult) node {
	keyword, which := step(r)
	path := []string{keyword, which}
	switch keyword {
	case "items", "additionalProperties", "then", "else": // which is an item or a key
		path = path[:1]
	case "patternProperties":
		patterns, _ := find(schema, path[:1])
		for _, entry := range patterns.(*ast.MappingNode).Values {
			if regexp.MustCompile(keyOf(entry)).MatchString(which) {
				return entry.Value
			}
		}
	}
	at, _ := find(schema, path)
	return at
}

// step returns the keyword that leads to a part, and which of its parts it is. The validator does not name else.
func step(r *jsonschema.EvaluationResult) (keyword, which string) {
	keyword, which, _ = strings.Cut(strings.TrimPrefix(r.EvaluationPath, "/"), "/")
	return cmp.Or(keyword, "else"), which
}

// otherKind reports whether a value is of a kind that the schema does not want there: a text for a list.
func otherKind(r *jsonschema.EvaluationResult) bool {
	if r.Errors["type"] != nil {
		return true
	}
	return slices.ContainsFunc(partsOf(r), func(part *jsonschema.EvaluationResult) bool {
		return part.InstanceLocation == "" && otherKind(part)
	})
}

// explain notes the problem behind a mistake, and what has to leave the tree.
func (d *document) explain(m mistake, top node, bad map[node]bool) {
	schema := m.schema
	at, entry := find(top, m.path)
	if at == nil || bad[at] { // nil: a key that is missing, which the validator takes for null
		return
	}
	switch m.keyword {
	case "additionalProperties":
		for _, entry := range at.(*ast.MappingNode).Values {
			if key := keyOf(entry); slices.Contains(m.unknown, key) {
				d.fail(entry.Key, "unknown key %q%s; %s", key, keyHint(key, keysOf(schema)), describeKeys(schema))
				bad[entry] = true
			}
		}
		d.damaged[at] = d.beginning(at)
		return
	case "required", "oneOf", "minProperties", "minItems":
		if d.damaged[at] == nil {
			for _, text := range missing(m.keyword, schema, at) {
				d.fail(at, "%s", text)
			}
		}
		return
	case "uniqueItems":
		seen := map[string]bool{}
		for i, item := range at.(*ast.SequenceNode).Values {
			what, again := strconv.Quote(textOf(item)), false
			switch item.(type) {
			case *ast.NullNode, *ast.SequenceNode: // wrong by itself
			case *ast.MappingNode: // a limit, or wrong by itself
				what = "the limit " + said(item, "limit")
				again = i == m.again && said(item, "limit") != ""
			default:
				again, seen[what] = seen[what], true
			}
			if again {
				d.fail(item, "%s stands here twice", what)
				bad[item] = true
			}
		}
		return
	}
	bad[at] = true
	not, _ := find(schema, []string{"not"})
	nothing, isKey := not.(*ast.MappingNode) // where nothing will do, it is the key that is wrong
	switch {
	case entry != nil && at.Type() == ast.NullType:
		d.fail(entry.Key, "%q has no value", keyOf(entry))
	case entry != nil && isKey && len(nothing.Values) == 0:
		d.fail(entry.Key, "%q %s", keyOf(entry), said(schema, "errorMessage"))
	default:
		d.fail(at, "%s", wrong(m, at))
	}
}

// missing says what a mapping or a list lacks, by the keyword that refuses it.
func missing(keyword string, schema, at node) (texts []string) {
	what := said(schema, "title")
	switch keyword {
	case "required":
		for _, key := range listed(schema, keyword) {
			if found, _ := find(at, []string{key}); found != nil {
				continue
			}
			property, _ := find(schema, []string{"properties", key})
			texts = append(texts, fmt.Sprintf("%s lacks the key %q, such as %s: %s", what, key, key,
				said(behind(property), "examples", "0")))
		}
		return texts
	case "oneOf":
		choices, _ := find(schema, []string{keyword})
		keys := mapped.Of(choices.(*ast.SequenceNode).Values, func(choice node) string {
			return said(choice, "required", "0")
		})
		return append(texts, fmt.Sprintf("%s needs exactly one of %s", what, strings.Join(keys, ", ")))
	case "minProperties":
		return append(texts, fmt.Sprintf("%s is empty; want one of %s, or leave it out", what,
			strings.Join(keysOf(schema), ", ")))
	}
	return append(texts, cmp.Or(said(schema, "errorMessage"), "the list is empty"))
}

// wrong says what is wrong with a value.
func wrong(m mistake, at node) string {
	schema, isType := m.schema, m.keyword == "type"
	message, kinds := said(schema, "errorMessage"), listed(schema, "type")
	mapping, isMapping := at.(*ast.MappingNode)
	switch {
	case m.keyword == "format" && at.Type() == ast.SequenceType: // ascending
		return "the first share is greater than the second"
	case isType && slices.Contains(kinds, "object"):
		return "want a mapping here: " + describeKeys(schema)
	case isMapping && !mapping.IsFlowStyle:
		return "want a text here; one with a colon and a blank in it must stand in quotes"
	case isType && kinds[0] == "array", at.Type() == ast.SequenceType && !isType:
		return message
	case isMapping, at.Type() == ast.SequenceType, at.Type() == ast.NullType:
		if example := said(schema, "examples", "0"); example != "" {
			return fmt.Sprintf("want %s here, such as %s", said(schema, "title"), example)
		}
		return "want a text here"
	}
	text := textOf(at)
	if err := checkText(said(schema, "format"), text); err != nil {
		return err.Error()
	}
	if choices, _ := find(schema, []string{"enum"}); choices != nil {
		var words []string
		_, unlisted := strconv.Atoi(m.path[len(m.path)-1])
		for _, choice := range choices.(*ast.SequenceNode).Values {
			if word := textOf(choice); word != anyValue || unlisted != nil { // it stands alone, without brackets
				words = append(words, word)
			}
		}
		what := said(schema, "title")
		return fmt.Sprintf("unknown %s %q%s; there are %s", what, text, limit.Hint(text, words), strings.Join(words, ", "))
	}
	if message == "" {
		least, most := said(schema, "minimum"), said(schema, "maximum")
		if message = fmt.Sprintf("does not do; want a number from %s to %s", least, most); least == "" {
			message = "is not " + cmp.Or(said(schema, "title"), "understood")
		}
		if isType {
			message += ", in digits alone: without quotes, sign, decimals, or zeros in front"
		}
	}
	return fmt.Sprintf("%q %s", text, message)
}

// keyHint is a hint at what was meant by a key that there is not.
func keyHint(key string, keys []string) string {
	switch {
	case strings.Contains(key, "="):
		return " (inside braces, a limit with options must stand in quotes)"
	case slices.ContainsFunc(Algorithms, func(a Algorithm) bool { return a.Name == key }):
		return " (a limit has no blank behind its colon, such as " + key + ":60/1m)"
	case key == statusKey:
		return " (a limiter does not know the status when it decides; what is counted stands under count)"
	}
	return limit.Hint(key, keys)
}
