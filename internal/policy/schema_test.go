package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"shadow/contrib"
	"shadow/internal/request"
	"shadow/limit"
)

// The schema is for editors, too, which do not know its formats. What the program refuses on account of a single value,
// the patterns of the schema have to refuse as well.

// A schema is a part of the JSON schema.
type schema = map[string]any

func loadSchema(t *testing.T) (s schema) {
	t.Helper()
	if err := json.Unmarshal(contrib.Schema, &s); err != nil {
		t.Fatal(err)
	}
	return s
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

// editorSchema is the schema as another library reads it than the program has.
var editorSchema = sync.OnceValue(func() *jsonschema.Schema {
	return jsonschema.NewCompiler().MustCompile("../../contrib/shadow.schema.json")
})

// editorAccepts reports whether an editor takes a text, which checks no formats.
func editorAccepts(t *testing.T, text string) bool {
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
		t.Fatal(err)
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(asJSON)); err != nil {
		t.Fatal(err)
	}
	return editorSchema().Validate(v) == nil
}

// oddConfigs may look odd, and are taken all the same.
var oddConfigs = []string{
	"policies: {name: p, limits: [' nginx:10r/s,burst=20,nodelay ', 'nginx:rate=10r/m burst=20  delay=3', 'token:5,10..20:5/1h30m,cooldown=1m/extend', 6/d, 6/2w, 'aws~:10/1m', 'leaky:6/500ms,drip=1h']}",
	"defaults: {exclude: [], exclude-status: 429, client: header:X-Api-Key, db: 5, trusted-proxy: [private, '::1'], protect: browsers=99.9%}", "defaults:",
	"exempt: {addresses: [private, 10.0.0.0/8, '::1', '2001:DB8::/32', '::ffff:1.2.3.4']}", in("count: {status: [100, 599, 5xx, 5XX]}"),
	in("cost: [{match: {method: [GET, POST]}, points: 0}, {field: bytes, per: 1024}]"), in("cost: {field: usage.total_tokens, per: 1000}"), in("cost: {field: 'header:X-Cost'}"),
}

// The words that the program knows are those of the schema.
func TestSchemaWords(t *testing.T) {
	properties := func(name string) schema {
		return loadSchema(t)["definitions"].(schema)[name].(schema)["properties"].(schema)
	}
	conditions := slices.Collect(maps.Keys(properties("matching")))
	known := []string{eitherKey, notKey}
	new(request.Conditions).Each(func(key string, _ *[]string) { known = append(known, key) })
	same(t, "count", slices.Collect(maps.Keys(properties("counting"))), known)
	same(t, "match", append(conditions, statusKey), known)

	enum := func(s any) (words []string) {
		for _, w := range s.(schema)["enum"].([]any) {
			words = append(words, w.(string))
		}
		return words
	}
	definitions := loadSchema(t)["definitions"].(schema)
	limit := definitions["limit"].(schema)["anyOf"].([]any)[1].(schema)
	var examples []string
	for _, key := range limit["properties"].(schema)["by"].(schema)["examples"].([]any) {
		examples = append(examples, key.(string))
	}
	same(t, "by", examples[:len(request.Keys())], request.Keys())
	same(t, "combine", enum(properties("policy")["combine"]), combineNames())
	same(t, "defaults", keysOf(schemaAt("properties", "defaults")), DefaultNames)
	same(t, "class", enum(definitions["class"]), append([]string{anyValue}, request.Classes()...))
}

// The patterns of limits have the algorithms, each with its options, and say what counts and periods look like.
func TestSchemaLimits(t *testing.T) {
	const (
		count  = `[0-9]+r?([.][.][0-9]+r?(:[0-9]+r?)?)?`
		unit   = `(ns|us|µs|μs|ms|s|m|h)`
		period = `([0-9]*[dw]|[0-9.]*` + unit + `([0-9.]+` + unit + `)*)`
		own    = `^ *nginx:rate=[0-9]+r/[sm]( +(burst=[0-9]+|delay=[0-9]+|nodelay))* *$`
	)
	spec := loadSchema(t)["definitions"].(schema)["spec"].(schema)
	if got, want := spec["pattern"], "^ *([a-z][a-z0-9~-]*:)?"+count+"(,"+count+")*/"+period+"(,[^+ ]+)? *$|^ *conn:"+count+"(,"+count+")*(,[a-z][^+ ]*)? *$|"+own; got != want {
		t.Errorf("the pattern of limits is\n%s\nwant\n%s", got, want)
	}
	var got, want []string
	for _, choice := range spec["anyOf"].([]any) {
		got = append(got, choice.(schema)["pattern"].(string))
	}
	add := func(name, options string) {
		patterns, numbers := append(optionPatterns(options), optionPatterns(limit.Common)...), "[0-9][^/]*/[^,]*"
		if name == "conn:" {
			patterns, numbers = optionPatterns(options), "[0-9][0-9.,:r]*"
		}
		want = append(want, "^ *"+name+numbers+"(,("+strings.Join(patterns, "|")+"))* *$")
	}
	for i, a := range Algorithms {
		name := a.Name + ":"
		if i == 0 {
			name = "(" + name + ")?"
		}
		add(name, a.Options)
	}
	for _, p := range Presets {
		add(p.Name+":", p.Options)
	}
	if want = append(want, "^ *nginx:rate="); !slices.Equal(got, want) {
		t.Errorf("the patterns of algorithms are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// optionPatterns are the patterns of options as help shows them: burst=N, refill=even|step, debt[=N], nodelay.
func optionPatterns(help string) (patterns []string) {
	for option := range strings.SplitSeq(help, ", ") {
		name, value, hasValue := strings.Cut(option, "=")
		switch optional := strings.HasSuffix(name, "["); {
		case option == "":
		case optional:
			patterns = append(patterns, strings.TrimSuffix(name, "[")+"(=[0-9]+)?")
		case value == "N":
			patterns = append(patterns, name+"=[0-9]+")
		case strings.HasPrefix(value, "PERIOD"), strings.HasPrefix(value, "N["):
			patterns = append(patterns, name+"=[^,+ ]+")
		case hasValue:
			patterns = append(patterns, name+"=("+value+")")
		default:
			patterns = append(patterns, name)
		}
	}
	return patterns
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
	for _, text := range schemaRefuses {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err == nil {
			t.Errorf("the parser takes %s", text)
		}
		if editorAccepts(t, text) {
			t.Errorf("the schema takes %s", text)
		}
	}
	for _, text := range onlyParserRefuses {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err == nil {
			t.Errorf("the parser takes %s", text)
		}
		if !editorAccepts(t, text) {
			t.Errorf("the schema refuses %s", text)
		}
	}
	for _, text := range oddConfigs {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err != nil {
			t.Errorf("the parser refuses %s: %v", text, err)
		}
	}
	for _, text := range append(validConfigs(t), oddConfigs...) {
		if !editorAccepts(t, text) {
			t.Errorf("the schema refuses\n%s", text)
		}
	}
}

// validConfigs returns the configurations of testdata/config.txt that the parser takes.
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
	"defaults: 5", "defaults: {output: json}", "defaults: {client: }", "defaults: {client: [a]}", "defaults: {exclude: {a: b}}",
	"defaults: {exclude: [a, a]}", "defaults: {db: ''}", "defaults: {format: \"a\\nb\"}", "defaults: {trusted-proxy: [[a]]}",
	in("cost: 5"), in("cost: []"), in("cost: {}"), in("cost: {points: 1, field: bytes}"), in("cost: {points: -1}"), in("cost: {points: 2000000000}"),
	in("cost: {field: a b}"), in("cost: {field: bytes, per: 0}"), in("cost: {points: 1, match: {status: 401}}"),
	"evidence: 5", "evidence: {asset: 5}", "evidence: {path: a}", "evidence: {background: []}", "evidence: {hosts: '*.example'}",
	"evidence: {sample: 0}", "evidence: {hours: 256}", "evidence: {agents: 17}", "evidence: {rhythm: 101}", "evidence: {haste: half}",
	"evidence: {referers: 5}", "evidence: {referers: [1, 2, 3]}", "evidence: {referers: [5%]}", "evidence: {errors: }",
	"policies: {name: p, limits: tokn:5/m}", "policies: {name: p, limits: TOKEN:5/m}", "policies: {name: p, limits: 'token:6/30s,brust=3'}",
	"policies: {name: p, limits: 6/30}", "policies: {name: p, limits: 6r/}", "policies: {name: p, limits: 5..50:5:5/s}", "policies: {name: p, limits: 5/1h30}",
	"exempt: {addresses: 1.2.3}", "exempt: {addresses: [example.org]}", "exempt: {addresses: fe80::1%eth0}", "exempt: {users: \"a\\nb\"}",
	"policies: {name: \"a\\nb\", limits: 5/m}", in("match: {class: [browser, any]}"),
	"policies: {name: p, limits: 'token:6/30s,align=first'}", "policies: {name: p, limits: 'window:6/30s,charge=some'}", "policies: {name: p, limits: 'nginx:6/s,nodelay=1'}",
	"evidence: {errors: 101%}", "evidence: {sample: '0'}", "evidence: {hosts: a:80}", in("match: {host: [any, a]}"), in("match: {action: [any]}"),
	in("count: {status: 999}"), in("count: {status: 6xx}"),
	"policies: {name: p, limits: [5/m, 6/s], combine: all}", "policies: {name: p, limits: [5/m, 6/s], combine: [each]}",
	in("count: {status: 40}"), in("count: {status: 1000}"), in("count: {status: 4x}"), in("count: {status: [401, 401]}"), in("wait: 5"),
}

// What takes a look at other values, at files, or at the meaning of a text.
var onlyParserRefuses = []string{
	"exempt: {addresses: 10.0.0.1/8}", "exempt: {file: nowhere.txt}", "exempt: {field: {name: x}}",
	"actions: {name: a, regexp: '('}", "policies: {name: p, limits: '1..1000000/s'}",
	"policies: [{name: p, limits: 5/m}, {name: p, limits: 6/m}]",
	"evidence: {referers: [20%, 2%]}",
	"policies: {name: p, limits: 5/m, combine: each}",
	in("cost: {points: 1, per: 5}"), in("cost: [{points: 1}, {points: 2}]"), "policies: {name: p, limits: {limit: 'nginx:5r/m', cost: {points: 2}}}",
	in("match: {tier: gold}"), in("match: {action: lgoin}"), "exempt: {addresses: 1.2.3.400}",
	in("count: {status: [401, '401']}"), "exempt: {users: [5, '5']}", "evidence: {sample: +10}", "evidence: {sample: 010}",
}

// The examples of the manual are taken by both.
func TestDocumentedConfigs(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, entry := range map[string]string{"pro.txt": "192.0.2.0/24", "keys.txt": "k1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(entry+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, example := range examples {
		if _, err := ParseConfig(filepath.Join(dir, "shadow.yaml"), []byte(example[1])); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
		if !editorAccepts(t, example[1]) {
			t.Errorf("the schema refuses\n%s", example[1])
		}
	}
	if len(examples) < 5 {
		t.Errorf("there are only %d examples", len(examples))
	}
}
