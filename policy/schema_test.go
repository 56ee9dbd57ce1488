package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"shadow/limit"
	"shadow/request"
)

// contrib/shadow.schema.json is for editors, and has to say the same as the parser. These tests read both with the words
// of JSON Schema (draft 7) that the schema uses.

const schemaFile = "../contrib/shadow.schema.json"

// A schema is a piece of JSON Schema.
type schema = map[string]any

func loadSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A checker holds values against a schema.
type checker struct {
	t    *testing.T
	root schema
}

// schemaWords are what the schema may say; those without a check explain.
var schemaWords = []string{
	"$schema", "title", "description", "definitions", "default",
	"type", "enum", "const", "pattern", "minLength", "minimum", "maximum",
	"items", "minItems", "maxItems", "uniqueItems",
	"properties", "additionalProperties", "propertyNames", "required", "minProperties",
	"anyOf", "oneOf", "allOf", "not",
}

// accepts reports whether a value fits a schema.
func (c *checker) accepts(s schema, v any) bool {
	if ref, ok := s["$ref"].(string); ok {
		for word := range s {
			if word != "$ref" && word != "description" { // which validators of draft 7 pass over
				c.t.Fatalf("%q beside $ref %s counts for nothing", word, ref)
			}
		}
		name := strings.TrimPrefix(ref, "#/definitions/")
		definition, ok := c.root["definitions"].(schema)[name].(schema)
		if !ok {
			c.t.Fatalf("there is no definition %s", ref)
		}
		return c.accepts(definition, v)
	}
	for word := range s {
		if !slices.Contains(schemaWords, word) {
			c.t.Fatalf("the schema has the word %q, which this test does not know", word)
		}
	}
	return c.fitsType(s, v) && c.fitsValue(s, v) && c.fitsList(s, v) && c.fitsObject(s, v) && c.fitsOthers(s, v)
}

func (c *checker) fitsType(s schema, v any) bool {
	types := listOf(s["type"])
	return types == nil || slices.ContainsFunc(types, func(want any) bool {
		switch v := v.(type) {
		case nil:
			return want == "null"
		case string:
			return want == "string"
		case bool:
			return want == "boolean"
		case float64:
			return want == "number" || want == "integer" && v == float64(int64(v))
		case []any:
			return want == "array"
		}
		return want == "object"
	})
}

func (c *checker) fitsValue(s schema, v any) bool {
	if enum, ok := s["enum"]; ok && !slices.Contains(listOf(enum), v) {
		return false
	}
	if want, ok := s["const"]; ok && want != v {
		return false
	}
	if text, ok := v.(string); ok {
		pattern, _ := s["pattern"].(string)
		return len(text) >= number(s["minLength"], 0) && regexp.MustCompile(pattern).MatchString(text)
	}
	if n, ok := v.(float64); ok {
		return n >= float64(number(s["minimum"], -1<<40)) && n <= float64(number(s["maximum"], 1<<40))
	}
	return true
}

func (c *checker) fitsList(s schema, v any) bool {
	list, ok := v.([]any)
	if !ok {
		return true
	}
	if items, ok := s["items"].(schema); ok {
		for _, item := range list {
			if !c.accepts(items, item) {
				return false
			}
		}
	}
	for i := range list {
		if s["uniqueItems"] == true && slices.ContainsFunc(list[:i], func(w any) bool { return reflect.DeepEqual(w, list[i]) }) {
			return false
		}
	}
	return len(list) >= number(s["minItems"], 0) && len(list) <= number(s["maxItems"], 1<<40)
}

func (c *checker) fitsObject(s schema, v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return true
	}
	properties, _ := s["properties"].(schema)
	for key, value := range object {
		if names, ok := s["propertyNames"].(schema); ok && !c.accepts(names, key) {
			return false
		}
		if property, ok := properties[key].(schema); ok {
			if !c.accepts(property, value) {
				return false
			}
			continue
		}
		if s["additionalProperties"] == false {
			return false
		}
		if further, ok := s["additionalProperties"].(schema); ok && !c.accepts(further, value) {
			return false
		}
	}
	for _, key := range listOf(s["required"]) {
		if _, given := object[key.(string)]; !given {
			return false
		}
	}
	return len(object) >= number(s["minProperties"], 0)
}

func (c *checker) fitsOthers(s schema, v any) bool {
	count := func(word string) (fit, of int) {
		for _, other := range listOf(s[word]) {
			if of++; c.accepts(other.(schema), v) {
				fit++
			}
		}
		return fit, of
	}
	anyFit, anyOf := count("anyOf")
	oneFit, oneOf := count("oneOf")
	allFit, allOf := count("allOf")
	not, isNot := s["not"].(schema)
	return (anyOf == 0 || anyFit > 0) && (oneOf == 0 || oneFit == 1) && allFit == allOf && !(isNot && c.accepts(not, v))
}

func listOf(v any) []any {
	if list, ok := v.([]any); ok || v == nil {
		return list
	}
	return []any{v}
}

func number(v any, missing int) int {
	if n, ok := v.(float64); ok {
		return int(n)
	}
	return missing
}

// An unsplitter mends what the parser splits, as editors read it.
type unsplitter struct{}

func (u unsplitter) Visit(at ast.Node) ast.Visitor {
	if list, ok := at.(*ast.SequenceNode); ok {
		for i := range list.Values {
			list.Values[i] = unsplit(list.Values[i])
		}
	}
	return u
}

// schemaAccepts holds a text in YAML against the schema.
func (c *checker) schemaAccepts(text string) bool {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil || len(file.Docs) != 1 {
		return false
	}
	var v any
	if body := file.Docs[0].Body; body != nil {
		ast.Walk(unsplitter{}, body)
		if err := yaml.NodeToValue(body, &v); err != nil {
			return false
		}
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON, &v); err != nil { // numbers as JSON has them
		c.t.Fatal(err)
	}
	return c.accepts(c.root, v)
}

// oddConfigs may look odd, and are taken all the same.
var oddConfigs = []string{
	"policies: {name: p, limits: [' nginx:10r/s,burst=20,nodelay ', 'token:5,10..20:5/1h30m,cooldown=1m/extend', 6/d, 6/2w, 'aws~:10/1m', 'leaky:6/500ms,drip=1h']}",
	"exempt: {addresses: [private, 10.0.0.0/8, '::1', '2001:DB8::/32', '::ffff:1.2.3.4']}", in("count: {status: [100, 599, 5xx, 5XX]}"),
}

// The keys and the words that the parser knows are those of the schema.
func TestSchemaKeys(t *testing.T) {
	root := loadSchema(t)
	definition := func(name string) schema { return root["definitions"].(schema)[name].(schema) }
	limit := definition("limit")["anyOf"].([]any)[1].(schema)
	field := definition("members")["properties"].(schema)["field"].(schema)
	for what, pair := range map[string]struct {
		schema schema
		keys   []string
	}{
		"file": {root, fileKeys}, "evidence": {root["properties"].(schema)["evidence"].(schema), evidenceKeys}, "action": {definition("action"), actionKeys}, "members": {definition("members"), memberKeys},
		"field": {field, fieldKeys}, "policy": {definition("policy"), policyKeys}, "limit": {limit, limitKeys},
		"match": {definition("match"), conditionKeys(false)}, "count": {definition("count"), conditionKeys(true)},
	} {
		got := []string{}
		for key := range pair.schema["properties"].(schema) {
			got = append(got, key)
		}
		same(t, what, got, pair.keys)
		if pair.schema["additionalProperties"] != false {
			t.Errorf("%s: the schema lets unknown keys through", what)
		}
	}
	words := func(v any) (texts []string) {
		for _, w := range v.([]any) {
			texts = append(texts, w.(string))
		}
		return texts
	}
	same(t, "by", words(limit["properties"].(schema)["by"].(schema)["enum"]), request.Keys())
	same(t, "combine", words(definition("policy")["properties"].(schema)["combine"].(schema)["enum"]), combineNames())
	same(t, "class", words(definition("class")["enum"]), append([]string{anyValue}, request.Classes()...))
	names := root["properties"].(schema)["tiers"].(schema)["propertyNames"].(schema)
	same(t, "names of tiers", words(names["not"].(schema)["enum"]), []string{request.DefaultTier, exemptTier, anyValue})
}

// The pattern of limits has the algorithms and options that there are, and says what counts and periods look like.
func TestSchemaLimits(t *testing.T) {
	var names, options []string
	for _, a := range append(slices.Clone(Algorithms), Algorithm{Options: limit.Common}) {
		if a.Name != "" {
			names = append(names, a.Name)
		}
		for _, option := range optionsOf(a) {
			if name, _, _ := strings.Cut(option, "="); !slices.Contains(options, name) {
				options = append(options, name)
			}
		}
	}
	const (
		count  = `[0-9]+r?([.][.][0-9]+r?(:[0-9]+r?)?)?`
		unit   = `(ns|us|µs|μs|ms|s|m|h)`
		period = `([0-9]*[dw]|[0-9.]*` + unit + `([0-9.]+` + unit + `)*)`
	)
	want := "^ *((" + strings.Join(names, "|") + "):)?" + count + "(," + count + ")*/" + period +
		"(,(" + strings.Join(options, "|") + ")(=[^,+ ]+)?)* *$"
	if got := loadSchema(t)["definitions"].(schema)["spec"].(schema)["pattern"]; got != want {
		t.Errorf("the pattern of limits is\n%s\nwant\n%s", got, want)
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: the schema has %q, the parser %q", what, got, want)
	}
}

// What the parser takes the schema takes, too. Of what the parser refuses, the schema refuses what can be told from a
// value alone.
func TestSchemaInStep(t *testing.T) {
	c := checker{t, loadSchema(t)}
	for _, text := range schemaRefuses {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err == nil {
			t.Errorf("the parser takes %s", text)
		}
		if c.schemaAccepts(text) {
			t.Errorf("the schema takes %s", text)
		}
	}
	for _, text := range onlyParserRefuses {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err == nil {
			t.Errorf("the parser takes %s", text)
		}
		if !c.schemaAccepts(text) {
			t.Errorf("the schema refuses %s", text)
		}
	}
	for _, text := range oddConfigs {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err != nil {
			t.Errorf("the parser refuses %s: %v", text, err)
		}
	}
	for _, text := range append(validConfigs(t), oddConfigs...) {
		if !c.schemaAccepts(text) {
			t.Errorf("the schema refuses\n%s", text)
		}
	}
}

// validConfigs are those of testdata/config.txt that the parser takes.
func validConfigs(t *testing.T) (valid []string) {
	text, err := os.ReadFile("testdata/config.txt")
	if err != nil {
		t.Fatal(err)
	}
	for piece := range strings.SplitSeq(string(text), "\n---\n") {
		source := regexp.MustCompile(`(?m)^[=!] .*$`).ReplaceAllString(piece, "")
		if _, err := ParseConfig("testdata/shadow.yaml", []byte(source)); err == nil {
			valid = append(valid, source)
		}
	}
	if len(valid) < 5 {
		t.Fatalf("only %d configurations are valid", len(valid))
	}
	return valid
}

// in is a policy with one limit that says something.
func in(text string) string {
	return fmt.Sprintf("policies: {name: p, limits: {limit: 5/m, %s}}", text)
}

var schemaRefuses = []string{
	"acts: 1", "actions: 3", "exempt: a", "exempt: {}", "policies: 7", "tiers: pro", "tiers: {default: {users: a}}", "tiers: {pro: }",
	"actions: {name: a}", "actions: {prefix: /}", "actions: {name: a, prefix: /, glob: /}", "actions: {name: any, prefix: /}",
	"actions: {name: a, prefix: b}", "actions: {name: a, glob: b}", "actions: {name: a, glob: any}", "actions: {name: [a], prefix: /}",
	"actions: {name: a, prefix: /, method: [GET, GET]}", "actions: {name: a, prefix: /, method: G T}",
	"exempt: {users: []}", "exempt: {field: {values: a}}", "exempt: {address: a}", "exempt: {users: ''}",
	"policies: {name: p}", "policies: {name: p, limits: []}", "policies: {limits: 5/m}", "policies: {name: none, limits: 5/m}",
	"policies: {name: p, limits: 6}", "policies: {name: p, limits: 6/}", "policies: {name: p, limits: 5/m+6/s}",
	"policies: {name: p, limits: [5/m, 5/m]}", "policies: {name: p, limits: {by: site}}", "policies: {name: p, limits: {limit: [5/m]}}",
	in("by: sight"), in("match: "), in("match: {}"), in("match: {status: 401}"), in("match: {path: a}"), in("match: {prefix: '*'}"),
	in("match: {class: bot}"), in("match: {tier: exempt}"), in("match: {host: http://x}"), in("match: {method: []}"),
	"evidence: 5", "evidence: {asset: 5}", "evidence: {path: a}", "evidence: {background: []}", "evidence: {hosts: '*.example'}",
	"evidence: {sample: 0}", "evidence: {hours: 256}", "evidence: {agents: 17}", "evidence: {rhythm: 101}", "evidence: {haste: half}",
	"evidence: {referers: 5}", "evidence: {referers: [1, 2, 3]}", "evidence: {referers: [5%]}", "evidence: {errors: }",
	"policies: {name: p, limits: tokn:5/m}", "policies: {name: p, limits: TOKEN:5/m}", "policies: {name: p, limits: 'token:6/30s,brust=3'}",
	"policies: {name: p, limits: 6/30}", "policies: {name: p, limits: 6r/}", "policies: {name: p, limits: 5..50:5:5/s}", "policies: {name: p, limits: 5/1h30}",
	"exempt: {addresses: 1.2.3}", "exempt: {addresses: [example.org]}", "exempt: {addresses: fe80::1%eth0}", "exempt: {users: \"a\\nb\"}",
	"policies: {name: \"a\\nb\", limits: 5/m}", in("match: {class: [browser, any]}"),
	in("count: {status: 999}"), in("count: {status: 6xx}"),
	"policies: {name: p, limits: [5/m, 6/s], combine: all}", "policies: {name: p, limits: [5/m, 6/s], combine: [each]}",
	in("count: {status: 40}"), in("count: {status: 1000}"), in("count: {status: 4x}"), in("count: {status: [401, 401]}"), in("wait: 5"),
}

// What takes a look at other values, at files, or at the meaning of a text.
var onlyParserRefuses = []string{
	"exempt: {addresses: 10.0.0.1/8}", "exempt: {file: nowhere.txt}", "exempt: {field: {name: x}}",
	"actions: {name: a, regexp: '('}", "policies: {name: p, limits: 'token:6/30s,align=first'}", "policies: {name: p, limits: '1..1000000/s'}",
	"policies: [{name: p, limits: 5/m}, {name: p, limits: 6/m}]",
	"evidence: {referers: [20%, 2%]}", "evidence: {errors: 101%}", "evidence: {sample: '0'}", "evidence: {hosts: a:80}",
	"policies: {name: p, limits: 5/m, combine: each}",
	in("match: {tier: gold}"), in("match: {action: lgoin}"), in("match: {host: [any, a]}"), "exempt: {addresses: 1.2.3.400}",
}

// The examples of the manual are taken by both.
func TestDocumentedConfigs(t *testing.T) {
	text, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, entry := range map[string]string{"pro.txt": "192.0.2.0/24", "keys.txt": "k1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(entry+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := checker{t, loadSchema(t)}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, example := range examples {
		if _, err := ParseConfig(filepath.Join(dir, "shadow.yaml"), []byte(example[1])); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
		if !c.schemaAccepts(example[1]) {
			t.Errorf("the schema refuses\n%s", example[1])
		}
	}
	if len(examples) < 5 {
		t.Errorf("there are only %d examples", len(examples))
	}
}
