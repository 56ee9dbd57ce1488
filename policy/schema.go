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
	"github.com/goccy/go-yaml/parser"

	"shadow/contrib"
	"shadow/limit"
	"shadow/request"
)

// The schema in contrib says what a configuration may look like, to editors and here, and what to say where it does
// not: "title" is what something is called, "errorMessage" follows the value that does not fit, and "examples" have
// what is missing. Formats are checks of texts that know more than a pattern.

var formats = map[string]func(text string) error{
	"limit":     func(text string) error { _, err := parseParts(text, request.ByClient); return err },
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

// schemaAt returns the part of the schema at a path, behind references.
func schemaAt(path []string) node {
	at, _ := find(schemaNodes(), path)
	if ref := said(at, "$ref"); ref != "" {
		return schemaAt(strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
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
	misfit := validate(value)
	if misfit == nil {
		return
	}
	leaves, bad := leavesOf(misfit, nil), map[node]bool{}
	for _, unknownKeys := range []bool{true, false} { // these first: what is missing may be meant by them
		for _, leaf := range leaves {
			if leaf.keyword == "additionalProperties" == unknownKeys {
				d.explain(leaf, top, bad)
			}
		}
	}
	d.prune(top, bad)
}

// leavesOf are the misfits that say what is wrong. Of alternatives it is the first that fits in kind, else the first.
func leavesOf(m *misfit, leaves []*misfit) []*misfit {
	switch m.keyword {
	case "", "allOf":
		for _, cause := range m.causes {
			leaves = leavesOf(cause, leaves)
		}
		return leaves
	case "anyOf":
		i := slices.IndexFunc(m.causes, func(cause *misfit) bool { return !otherKind(cause, len(m.at)) })
		return leavesOf(m.causes[max(i, 0)], leaves)
	}
	return append(leaves, m)
}

// otherKind reports whether a value at a depth is of a kind that the schema does not want there: a text for a list.
func otherKind(m *misfit, depth int) bool {
	here := func(cause *misfit) bool { return otherKind(cause, depth) }
	switch m.keyword {
	case "type":
		return len(m.at) == depth
	case "anyOf":
		return !slices.ContainsFunc(m.causes, func(cause *misfit) bool { return !here(cause) })
	}
	return len(m.at) == depth && slices.ContainsFunc(m.causes, here)
}

// explain notes the problem behind a misfit, and what has to leave the tree.
func (d *document) explain(m *misfit, top node, bad map[node]bool) {
	schema := schemaAt(m.schema)
	at, entry := find(top, m.at)
	if bad[at] {
		return
	}
	switch m.keyword {
	case "additionalProperties":
		for _, entry := range at.(*ast.MappingNode).Values {
			if key := keyOf(entry); slices.Contains(m.keys, key) {
				d.fail(entry.Key, "unknown key %q%s; %s", key, keyHint(key, keysOf(schema)), describeKeys(schema))
				bad[entry] = true
			}
		}
		d.damaged[at] = d.beginning(at)
		return
	case "required", "oneOf", "minProperties", "minItems":
		if d.damaged[at] == nil {
			for _, text := range missing(m, schema) {
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
				again = i == m.second && said(item, "limit") != ""
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
		d.fail(at, "%s", wrong(m, schema, at))
	}
}

// missing says what a mapping or a list lacks.
func missing(m *misfit, schema node) (texts []string) {
	what := said(schema, "title")
	switch m.keyword {
	case "required":
		for _, key := range m.keys {
			property, _ := find(schema, []string{"properties", key})
			if ref := said(property, "$ref"); ref != "" {
				property = schemaAt(strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
			}
			texts = append(texts, fmt.Sprintf("%s lacks the key %q, such as %s: %s", what, key, key,
				said(property, "examples", "0")))
		}
		return texts
	case "oneOf":
		choices, _ := find(schema, []string{"oneOf"})
		var keys []string
		for _, choice := range choices.(*ast.SequenceNode).Values {
			keys = append(keys, said(choice, "required", "0"))
		}
		return append(texts, fmt.Sprintf("%s needs exactly one of %s", what, strings.Join(keys, ", ")))
	case "minProperties":
		return append(texts, fmt.Sprintf("%s is empty; want one of %s, or leave it out", what,
			strings.Join(keysOf(schema), ", ")))
	}
	return append(texts, cmp.Or(said(schema, "errorMessage"), "the list is empty"))
}

// wrong says what is wrong with a value.
func wrong(e *misfit, schema, at node) string {
	message := said(schema, "errorMessage")
	isType := e.keyword == "type"
	m, isMapping := at.(*ast.MappingNode)
	switch {
	case e.err != nil:
		return e.err.Error()
	case isType && slices.Contains(e.want, "object"):
		return "want a mapping here: " + describeKeys(schema)
	case isMapping && !m.IsFlowStyle:
		return "want a text here; one with a colon and a blank in it must stand in quotes"
	case isType && e.want[0] == "array", at.Type() == ast.SequenceType && !isType:
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
		_, unlisted := strconv.Atoi(e.at[len(e.at)-1])
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
