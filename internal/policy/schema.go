package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"shadow/contrib"
	"shadow/internal/request"
	"shadow/limit"
)

// The schema in contrib says what a configuration may look like, to editors and here, and what to say where it does
// not: "title" is what something is called, "errorMessage" follows the value that does not fit, and "examples" have
// what is missing. Formats are checks of texts that know more than a pattern.

var formats = map[string]func(text string) error{
	"limit":     func(text string) error { _, err := parseParts(text, request.ByClient); return err },
	"key":       func(text string) error { _, err := request.ParseKey(text); return err },
	"cost":      func(text string) error { _, err := request.ParseCost(text); return err },
	"network":   networkProblem,
	"go-regexp": func(text string) error { _, err := regexp.Compile(text); return err },
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

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
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if text, ok := v.(string); ok {
				return checkText(name, text)
			}
			return nil
		}})
	}
	compiler.RegisterFormat(&jsonschema.Format{Name: "ascending", Validate: ascending})
	return compileSchema(compiler)
})

func compileSchema(compiler *jsonschema.Compiler) *jsonschema.Schema {
	const name = "shadow.schema.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(contrib.Schema))
	if err == nil {
		err = compiler.AddResource(name, document)
	}
	if err != nil {
		panic(err) // it is embedded, and tested
	}
	return compiler.MustCompile(name)
}

// ascending checks two percentages.
func ascending(v any) error {
	if list, ok := v.([]any); ok && len(list) == 2 && percent(fmt.Sprint(list[0])) > percent(fmt.Sprint(list[1])) {
		return errors.New("the first share is greater than the second")
	}
	return nil
}

// schemaNodes is the schema as a tree, which keeps the order of its properties.
var schemaNodes = sync.OnceValue(func() node {
	file, err := parser.ParseBytes(contrib.Schema, 0)
	if err != nil {
		panic(err) // it is embedded, and tested
	}
	return file.Docs[0].Body
})

// schemaAt returns the part of the schema at an address, behind references.
func schemaAt(address string) node {
	_, pointer, _ := strings.Cut(address, "#")
	pointer, _ = url.PathUnescape(pointer)
	var path []string
	for step := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		if step != "" {
			path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	at, _ := find(schemaNodes(), path)
	if ref := said(at, "$ref"); ref != "" {
		return schemaAt(ref)
	}
	return at
}

// said is the text at a path in the schema, "" if there is none.
func said(at node, path ...string) string {
	if found, _ := find(at, path); found != nil {
		return textOf(found)
	}
	return ""
}

// keysOf are the properties of an object, in the order of the schema.
func keysOf(schema node) (keys []string) {
	if properties, _ := find(schema, []string{"properties"}); properties != nil {
		for _, entry := range properties.(*ast.MappingNode).Values {
			keys = append(keys, keyOf(entry))
		}
	}
	return keys
}

// describeKeys says what an object is called, and which keys it has.
func describeKeys(schema node) string {
	keys := strings.Join(keysOf(schema), ", ")
	if keys == "" {
		keys = "names of your own"
	}
	return said(schema, "title") + " has " + keys
}

// check holds the tree against the schema. What does not fit leaves the tree.
func (d *document) check(top node, value any) {
	var invalid *jsonschema.ValidationError
	if !errors.As(configSchema().Validate(value), &invalid) {
		return
	}
	leaves, bad := leavesOf(invalid, nil), map[node]bool{}
	for _, unknownKeys := range []bool{true, false} { // these first: what is missing may be meant by them
		for _, leaf := range leaves {
			if _, is := leaf.ErrorKind.(*kind.AdditionalProperties); is == unknownKeys {
				d.explain(leaf, top, bad)
			}
		}
	}
	d.prune(top, bad)
}

// leavesOf are the errors that say what is wrong. Of alternatives it is the first that fits in kind, else the first.
func leavesOf(e *jsonschema.ValidationError, leaves []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			leaves = leavesOf(cause, leaves)
		}
		return leaves
	case *kind.AnyOf:
		i := slices.IndexFunc(e.Causes, func(cause *jsonschema.ValidationError) bool {
			return !otherKind(cause, len(e.InstanceLocation))
		})
		return leavesOf(e.Causes[max(i, 0)], leaves)
	}
	return append(leaves, e)
}

// otherKind reports whether a value at a depth is of a kind that the schema does not want there: a text for a list.
func otherKind(e *jsonschema.ValidationError, depth int) bool {
	here := func(cause *jsonschema.ValidationError) bool { return otherKind(cause, depth) }
	switch e.ErrorKind.(type) {
	case *kind.Type:
		return len(e.InstanceLocation) == depth
	case *kind.AnyOf:
		return !slices.ContainsFunc(e.Causes, func(cause *jsonschema.ValidationError) bool { return !here(cause) })
	}
	return len(e.InstanceLocation) == depth && slices.ContainsFunc(e.Causes, here)
}

// explain notes the problem behind an error of the validator, and what has to leave the tree.
func (d *document) explain(e *jsonschema.ValidationError, top node, bad map[node]bool) {
	schema := schemaAt(e.SchemaURL)
	at, entry := find(top, e.InstanceLocation)
	if bad[at] {
		return
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, entry := range at.(*ast.MappingNode).Values {
			if key := keyOf(entry); slices.Contains(k.Properties, key) {
				d.fail(entry.Key, "unknown key %q%s; %s", key, keyHint(key, keysOf(schema)), describeKeys(schema))
				bad[entry] = true
			}
		}
		d.damaged[at] = d.beginning(at)
		return
	case *kind.Required, *kind.OneOf, *kind.MinProperties, *kind.MinItems:
		if d.damaged[at] == nil {
			for _, text := range missing(k, schema) {
				d.fail(at, "%s", text)
			}
		}
		return
	case *kind.UniqueItems:
		seen := map[string]bool{}
		for i, item := range at.(*ast.SequenceNode).Values {
			what, again := strconv.Quote(textOf(item)), false
			switch item.(type) {
			case *ast.NullNode, *ast.SequenceNode: // wrong by itself
			case *ast.MappingNode: // a limit, or wrong by itself
				what = "the limit " + said(item, "limit")
				again = i == k.Duplicates[1] && said(item, "limit") != ""
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
		d.fail(at, "%s", wrong(e, schema, at))
	}
}

// missing says what a mapping or a list lacks.
func missing(k jsonschema.ErrorKind, schema node) (texts []string) {
	what := said(schema, "title")
	switch k := k.(type) {
	case *kind.Required:
		for _, key := range k.Missing {
			property, _ := find(schema, []string{"properties", key})
			if ref := said(property, "$ref"); ref != "" {
				property = schemaAt(ref)
			}
			texts = append(texts, fmt.Sprintf("%s lacks the key %q, such as %s: %s", what, key, key,
				said(property, "examples", "0")))
		}
		return texts
	case *kind.OneOf:
		choices, _ := find(schema, []string{"oneOf"})
		var keys []string
		for _, choice := range choices.(*ast.SequenceNode).Values {
			keys = append(keys, said(choice, "required", "0"))
		}
		return append(texts, fmt.Sprintf("%s needs exactly one of %s", what, strings.Join(keys, ", ")))
	case *kind.MinProperties:
		return append(texts, fmt.Sprintf("%s is empty; want one of %s, or leave it out", what,
			strings.Join(keysOf(schema), ", ")))
	}
	return append(texts, cmp.Or(said(schema, "errorMessage"), "the list is empty"))
}

// wrong says what is wrong with a value.
func wrong(e *jsonschema.ValidationError, schema, at node) string {
	message := said(schema, "errorMessage")
	k, isType := e.ErrorKind.(*kind.Type)
	f, isFormat := e.ErrorKind.(*kind.Format)
	m, isMapping := at.(*ast.MappingNode)
	switch {
	case isFormat:
		return f.Err.Error()
	case isType && slices.Contains(k.Want, "object"):
		return "want a mapping here: " + describeKeys(schema)
	case isMapping && !m.IsFlowStyle:
		return "want a text here; one with a colon and a blank in it must stand in quotes"
	case isType && k.Want[0] == "array", at.Type() == ast.SequenceType && !isType:
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
		_, unlisted := strconv.Atoi(e.InstanceLocation[len(e.InstanceLocation)-1])
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
		message = fmt.Sprintf("does not do; want a number from %s to %s", least, most)
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
