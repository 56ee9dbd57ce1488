package commands

import (
	"bytes"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"shadow/internal/calc"
	"shadow/internal/findings"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/stored"
	"shadow/internal/store/duck"
	"shadow/internal/tail"
	"shadow/internal/testneeds"
	"shadow/report"
	"shadow/report/advice"
	"shadow/report/calibrate"
	"shadow/report/client"
	"shadow/report/curves"
	"shadow/report/diff"
	"shadow/report/doctor"
	"shadow/report/drill"
	"shadow/report/format"
	"shadow/report/keys"
	"shadow/report/moves"
)

// contrib/schemas has a JSON Schema for each kind of object that the program prints. They are made of the types behind
// these objects, with -update, and allow no other keys: an output with a key that they lack fails a test.

// Of what is not a type in the program, these are the types.
type (
	listOf[T any] struct {
		Rows []T `json:"rows"`
	}
	defaultRow struct {
		Default string `json:"default"`
		Value   string `json:"value"`
		From    string `json:"from"` // where it stands
	}
	formatRow struct {
		Format string `json:"format"`
		What   string `json:"what"`
		Text   string `json:"as the server writes it"`
	}
	limitRow struct {
		Algorithm string `json:"algorithm"`
		Options   string `json:"options"`
		Meaning   string `json:"meaning"`
		Example   string `json:"example"`
		Bare      string `json:"side by side"` // yes: a limit without algorithm stands for this one as well
	}
	runRow struct {
		Run            int64          `json:"run"`
		Kind           string         `json:"kind"` // replay, sweep, tail or empty
		Started        format.Moment  `json:"started"`
		Finished       format.Moment  `json:"finished"`
		First          *format.Moment `json:"first"` // request; null without any
		Last           *format.Moment `json:"last"`
		Requests       int64          `json:"requests"`
		Clients        int64          `json:"clients"`
		Policies       int64          `json:"policies"`
		Curves         int64          `json:"curves"`
		Refused        int64          `json:"refused"` // by the policy that refused most
		ClientsHit     int64          `json:"clients_hit"`
		Inputs         int64          `json:"inputs"`
		Lines          int64          `json:"lines"`
		Bytes          int64          `json:"bytes"`
		Parsed         int64          `json:"parsed"`
		Unreadable     int64          `json:"unreadable"`
		Excluded       int64          `json:"excluded"`
		Warm           int64          `json:"warm"`
		Late           int64          `json:"late"`
		AlreadyRefused int64          `json:"already_refused"`
		Degraded       int64          `json:"degraded"`
		Version        string         `json:"version"`
		Command        string         `json:"command"`
		NotHTTP        int64          `json:"not_http"`
		Moved          int64          `json:"moved"`
	}
	explained struct {
		Policies [][]calc.Explanation `json:"policies"` // each with its limits
	}
	sweepReport struct {
		curves.Report
		Curves []curve `json:"curves"`
	}
	curve struct {
		Policy  string       `json:"policy,omitempty"` // whose limit it is; of a sweep by policies only, as the next three
		Text    string       `json:"text,omitempty"`
		Named   []int64      `json:"named,omitempty"` // limits that the policy has
		Clients int64        `json:"clients,omitempty"`
		Kind    string       `json:"limit_kind"`
		Per     *string      `json:"per"`  // the length of a window; null for others
		Rate    *string      `json:"rate"` // at which tokens come; null for others
		By      string       `json:"by"`
		Points  []curvePoint `json:"points"`
	}
	curvePoint struct {
		Limit int64 `json:"limit"`
		pointFigures
		ByClass    report.PerClass[pointFigures] `json:"by_class"`
		ByEvidence *struct {
			Believed pointFigures `json:"believed"`
			Doubted  pointFigures `json:"doubted"`
		} `json:"by_evidence,omitempty"`
		Band *struct {
			pointRanges
			ByClass report.PerClass[pointRanges] `json:"by_class"`
		} `json:"band,omitempty"` // only with --band
	}
	pointFigures struct {
		Refused    *int64 `json:"refused"` // null: not counted
		ClientsHit int64  `json:"clients_hit"`
	}
	pointRanges struct {
		Refused    *[2]int64 `json:"refused"` // the least and the most; null: not counted
		ClientsHit [2]int64  `json:"clients_hit"`
	}
	wouldBlock struct {
		Time       format.Moment `json:"time"`
		Client     string        `json:"client"`
		Action     string        `json:"action"`
		Class      string        `json:"class"`
		Policy     string        `json:"policy"`
		RetryAfter *float64      `json:"retry_after"`        // seconds; null: never
		Degraded   bool          `json:"degraded,omitempty"` // hosts that share the limit might have decided otherwise
	}
	verdictLine struct {
		File    string        `json:"file"`
		Line    int64         `json:"line"`
		Time    format.Moment `json:"time"`
		Client  string        `json:"client"`
		Action  string        `json:"action"`
		Status  int64         `json:"status"` // 0: none logged
		Policy  string        `json:"policy"`
		Verdict string        `json:"verdict"` // passed, delayed or refused
		Wait    *float64      `json:"wait"`    // seconds; null: no wait would help
	}
)

// printed has, for each schema, a value of the type that is printed, and in a sentence what it is.
var printed = map[format.Schema]struct {
	of   any
	text string
}{
	format.CalcSchema:          {calc.Figures{}, "the numbers of a token bucket: shadow limits calc"},
	format.CalibrateSchema:     {calibrate.Report{}, "the limit that explains what a server refused: shadow calibrate"},
	format.CheckConfigSchema:   {pipeline.Meaning{}, "what a configuration means: shadow config check"},
	format.ImportSchema:        {pipeline.Imported{}, "the limits of a server's configuration: shadow import"},
	format.MergeSchema:         {stored.Merged{}, "what was taken into a database: shadow merge"},
	format.ParseSchema:         {pipeline.Previewed{}, "how the first lines of logs are read: shadow doctor parse"},
	format.RunsDeleteSchema:    {pipeline.Deleted{}, "what was deleted from a database: shadow report runs delete"},
	format.ConfigSchema:        {listOf[defaultRow]{}, "the defaults in force: shadow config"},
	format.DiffSchema:          {diff.Report{}, "what changes from one policy to another: shadow diff"},
	format.DoctorSchema:        {doctor.Report{}, "what is odd about a log: shadow doctor"},
	format.DrillSchema:         {drill.Report{}, "whether a server refuses what is foreseen: shadow drill"},
	format.ExplainSchema:       {client.Account{}, "what became of one client: shadow explain"},
	format.ExportSchema:        {moves.Report{}, "a limit as a server is told it: shadow export, shadow migrate"},
	format.FormatsSchema:       {listOf[formatRow]{}, "the log formats that have names: shadow doctor formats"},
	format.KeysSchema:          {keys.Report{}, "what limits should count by: shadow keys"},
	format.LimitsSchema:        {listOf[limitRow]{}, "the algorithms of limits: shadow limits"},
	format.LimitsExplainSchema: {explained{}, "what limits mean: shadow limits explain"},
	format.QuerySchema:         {listOf[map[string]any]{}, "an answer of the database: shadow query"},
	format.ReportSchema:        {report.Model{}, "who would be refused: shadow replay, shadow report, --notify-command"},
	format.RunsSchema:          {listOf[runRow]{}, "the runs of a database: shadow report runs"},
	format.SuggestSchema:       {advice.Report{}, "what the limit should be: shadow suggest"},
	format.SweepSchema:         {sweepReport{}, "what every limit would refuse: shadow sweep"},
	format.TailSchema:          {tail.Summary{}, "a line of shadow tail --output json: what it has counted so far"},
	format.VerdictSchema:       {verdictLine{}, "a line of shadow replay --verdicts: what a policy decides on a request"},
	format.WouldBlockSchema:    {wouldBlock{}, "a line of shadow tail: a request that a policy would have refused"},
	format.VersionSchema:       {build{}, "what this program was made of: shadow version"},
}

// TestSchemas holds contrib/schemas against the types; -update writes it.
func TestSchemas(t *testing.T) {
	for _, s := range format.Schemas() {
		p, known := printed[s]
		if !known {
			t.Errorf("%s: no type is known of what is printed", s)
			continue
		}
		text := schemaText(t, s, p.of, p.text)
		path := schemaPath(s)
		if *update {
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, text, 0o644))
		}
		kept, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%s does not fit %s (go test ./internal/commands -run TestSchemas -update): %v", path, s, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(schemaPath(0)), "*"))
	must(t, err)
	if len(files) != len(printed) {
		t.Errorf("%d files, want %d: %v", len(files), len(printed), files)
	}
}

func schemaPath(s format.Schema) string {
	return filepath.Join("../../contrib/schemas", s.Name()+".json")
}

// schemaText returns the JSON Schema of a kind of object.
func schemaText(t *testing.T, s format.Schema, of any, text string) []byte {
	m := schemaMaker{t: t, defs: map[string]any{}}
	m.defs["root"] = nil
	schema := m.object(reflect.TypeOf(of))
	if s == format.ImportSchema { // a shadow.yaml has a schema of its own
		schema["properties"].(map[string]any)["config"] = map[string]any{"$ref": "../shadow.schema.json"}
	}
	schema["properties"].(map[string]any)["schema"] = map[string]any{"const": s.String()}
	schema["required"] = append([]string{"schema"}, schema["required"].([]string)...)
	schema["$schema"], schema["title"], schema["description"] = "https://json-schema.org/draft/2020-12/schema", s.String(), text
	if delete(m.defs, "root"); len(m.defs) > 0 {
		schema["$defs"] = m.defs
	}
	out, err := json.MarshalIndent(schema, "", "  ")
	must(t, err)
	return append(out, '\n')
}

// A schemaMaker makes schemas of types, as encoding/json writes their values.
type schemaMaker struct {
	t    *testing.T
	defs map[string]any // by type
}

// of returns the schema of a type.
func (m *schemaMaker) of(t reflect.Type) map[string]any {
	kind := func(name string) map[string]any { return map[string]any{"type": name} }
	switch {
	case t.Kind() == reflect.Pointer:
		return orNull(m.of(t.Elem()))
	case t == reflect.TypeFor[format.Moment]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[findings.Share]():
		return map[string]any{"type": []string{"number", "null"}, "minimum": 0, "maximum": 1}
	case t.Kind() == reflect.Array && t.Implements(reflect.TypeFor[json.Marshaler]()): // an object with a key per element
		var keys map[string]any
		text, err := json.Marshal(reflect.New(t).Interface())
		must(m.t, err)
		must(m.t, json.Unmarshal(text, &keys))
		names, properties := []string{}, map[string]any{}
		for name := range keys {
			names, properties[name] = append(names, name), m.of(t.Elem())
		}
		slices.Sort(names)
		return map[string]any{"type": "object", "additionalProperties": false, "required": names, "properties": properties}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		m.t.Fatalf("%v writes JSON of its own", t)
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return kind("string")
	}
	switch t.Kind() {
	case reflect.Struct:
		if t.Name() == "" {
			return m.object(t)
		}
		name := strings.TrimPrefix(t.String(), "commands.")
		if _, begun := m.defs[name]; !begun {
			m.defs[name] = nil
			m.defs[name] = m.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": m.of(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": m.of(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": m.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Interface:
		return map[string]any{}
	case reflect.String:
		return kind("string")
	case reflect.Bool:
		return kind("boolean")
	case reflect.Float64:
		return kind("number")
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return kind("integer")
	}
	m.t.Fatalf("%v: what is that in JSON?", t)
	return nil
}

// orNull returns a schema that allows null as well.
func orNull(schema map[string]any) map[string]any {
	if name, plain := schema["type"].(string); plain {
		schema["type"] = []string{name, "null"}
		return schema
	}
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
}

// object returns the schema of a struct, with the keys of those embedded in it.
func (m *schemaMaker) object(t reflect.Type) map[string]any {
	required, properties := []string{}, map[string]any{}
	m.fields(t, false, properties, &required)
	return map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

func (m *schemaMaker) fields(t reflect.Type, optional bool, properties map[string]any, required *[]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch embedded := field.Type; {
		case field.Anonymous && name == "":
			if embedded.Kind() == reflect.Pointer { // nil: it has no keys
				m.fields(embedded.Elem(), true, properties, required)
			} else {
				m.fields(embedded, optional, properties, required)
			}
			continue
		case !field.IsExported() || name == "-":
			continue
		}
		if name == "" {
			m.t.Fatalf("%v: field %s has no key", t, field.Name)
		}
		mayLack := strings.Contains(options, "omitempty")
		of := field.Type
		if mayLack && of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		schema := m.of(of)
		if text := commentOf(m.t, t, field.Name); text != "" {
			schema["description"] = text
		}
		if properties[name] = schema; !mayLack && !optional {
			*required = append(*required, name)
		}
	}
}

// comments holds those at the fields of the structs of a package, by type and field.
var comments = map[string]map[string]string{}

// commentOf returns the comment at a field in the program.
func commentOf(t *testing.T, of reflect.Type, field string) string {
	own := reflect.TypeFor[build]().PkgPath()
	folder := filepath.Join("../..", strings.TrimPrefix(of.PkgPath(), strings.TrimSuffix(own, "/internal/commands")))
	if of.PkgPath() == "" || of.Name() == "" {
		return ""
	}
	if of.PkgPath() == own {
		folder = "."
	}
	if comments[folder] == nil {
		comments[folder] = map[string]string{}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		must(t, err)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			must(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				spec, is := n.(*ast.TypeSpec)
				if !is {
					return true
				}
				if s, is := spec.Type.(*ast.StructType); is {
					for _, f := range s.Fields.List {
						for _, id := range f.Names {
							text := strings.TrimSpace(f.Comment.Text())
							comments[folder][spec.Name.Name+"."+id.Name] = nils.ReplaceAllString(text, "null")
						}
					}
				}
				return true
			})
		}
	}
	name, _, _ := strings.Cut(of.Name(), "[")
	return comments[folder][name+"."+field]
}

var nils = regexp.MustCompile(`\bnil\b`)

// compiled are the schemas of contrib/schemas, by their names in outputs.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, s := range format.Schemas() {
		schema, err := c.Compile(schemaPath(s))
		if err != nil {
			panic(err)
		}
		all[s.String()] = schema
	}
	return all
})

// conforms complains about JSON that is not as its schema says. It returns the schema's name.
func conforms(t *testing.T, text []byte) string {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	must(t, err)
	object, _ := value.(map[string]any)
	name, _ := object["schema"].(string)
	schema := compiled()[name]
	if schema == nil {
		t.Errorf("there is no schema %q of %.200s", name, text)
		return name
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return name
}

// TestOutputsConform asks each command for JSON, with what adds keys, and holds each answer against its schema.
func TestOutputsConform(t *testing.T) {
	dir, samples := t.TempDir(), "../../sample-logs"
	for _, name := range []string{"shop-combined.log", "nginx-timed.log", "api.json", "vhosts.log", "broken.log", "empty.log"} {
		text, err := os.ReadFile(filepath.Join(samples, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	must(t, testneeds.MMDB(filepath.Join(dir, "networks.mmdb"), "GeoLite2-ASN", testneeds.Records{"203.0.113.0/24": testneeds.Owner(64500, "Example", "NO")}))
	recorded, err := os.ReadFile("../../leaky/testdata/verdicts/nginx-10rs-burst20-delay8-dry.log.gz")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "recorded.log.gz"), recorded, 0o644))
	must(t, os.Link(filepath.Join(dir, "shop-combined.log"), filepath.Join(dir, "copy.log")))
	for name, text := range schemaInputs {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	asked, seen := map[string]bool{}, map[string]bool{}
	ask := func(args ...string) []byte {
		cmd := command(t, dir, append(args, "--output", "json")...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != exitIncomplete && code != exitHeld {
			t.Errorf("%q: %v\n%s", args, err, errs.Bytes())
			return nil
		}
		t.Run(strings.Join(args, " "), func(t *testing.T) { seen[conforms(t, out)] = true })
		found, _, err := newRoot().Find(args)
		must(t, err)
		asked[found.CommandPath()] = true
		return out
	}
	for line := range strings.Lines(schemaQuestions) {
		args := strings.Fields(line)
		if !duck.Built && keeps.MatchString(line) || len(args) == 0 {
			continue
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		ask(args...)
	}
	lines := func(text []byte) {
		t.Helper()
		if len(text) == 0 {
			t.Error("no lines")
		}
		for line := range bytes.Lines(text) {
			seen[conforms(t, line)] = true
		}
	}
	ask("drill", "refused.log", "--limit", "window:2/10s", "--until", "2026-03-02T10:00:03Z", "--target", unlimited(t))
	run(t, dir, "replay", "shop-combined.log", "--limit", "nginx:2/1s,burst=2", "--no-store", "--verdicts", "verdicts.jsonl", "--quiet")
	verdicts, err := os.ReadFile(filepath.Join(dir, "verdicts.jsonl"))
	must(t, err)
	lines(verdicts)
	follow := command(t, dir, "tail", "-", "--from", "start", "--limit", "6/30s", "--output", "json")
	follow.Stdin, err = os.Open(filepath.Join(dir, "shop-combined.log"))
	must(t, err)
	blocks, err := follow.Output()
	must(t, err)
	lines(blocks)
	asked["shadow tail"] = true
	for _, s := range format.Schemas() {
		if !seen[s.String()] && duck.Built {
			t.Errorf("no command has printed %s", s)
		}
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		switch path := cmd.CommandPath(); {
		case !cmd.Runnable() || slices.Contains([]string{"shadow", "shadow help", "shadow explore", "shadow config init"}, path) || strings.HasPrefix(path, "shadow completion"):
		case cmd.Flags().Lookup("output") == nil || !strings.Contains(cmd.Flags().Lookup("output").Usage, "json"):
			t.Errorf("%s has no --output json", path)
		case !asked[path] && duck.Built:
			t.Errorf("%s was not asked for JSON", path)
		}
	}
	visit(newRoot())
}

// schemaQuestions are the arguments of commands, a line each; ~ is a blank.
const schemaQuestions = `
version
doctor formats
limits
limits explain token:6/30s,burst=10 6/30s in-turn:fixed:2/10s+fixed:4/1h envoy:10/s fixed:6/30s,clock=1s
limits explain token:1000000/s,burst=100000000
limits calc --capacity 5000 --refill 100/s
limits calc --capacity 60 --refill 30/m --pattern random:0.6/s --seed 7 --window 1h
config
config --config site.yaml
replay shop-combined.log --limit 6/30s --no-store
replay shop-combined.log --limit 6/30s --limit nginx:2/1s,burst=2 --evidence --harm-action /login --band --no-store
replay shop-combined.log --limit window:10/1m --retries backoff --no-store
replay nginx-timed.log --limit nginx:10r/m,burst=2 --config site.yaml --anonymize prefix --no-store
replay api.json vhosts.log --limit 6/30s --network-db networks.mmdb --crawler-ranges googlebot.json --no-store
replay broken.log shop-combined.log copy.log --limit window:100/1h,cooldown=1m --no-store
replay empty.log --limit 6/30s --no-store
replay shop-combined.log --limit 6/30s --sweep --resume --db kept.db --fail-if refused>0
replay shop-combined.log --limit 6/30s --since 2026-03-02T06:00:00Z --sweep --db kept.db
report --db kept.db
report --db kept.db --compare previous
report --db kept.db --since 2020-01-01 --anonymize hash
report --db kept.db --run 2 --compare previous --anonymize prefix
sweep nginx-timed.log --db kept.db
report --db kept.db --run 3
sweep shop-combined.log --evidence --band --no-store
sweep shop-combined.log --action /login --no-store --kind token
sweep shop-combined.log --config site.yaml --policy login --no-store
sweep empty.log --no-store
suggest shop-combined.log
suggest shop-combined.log --for nginx --protect browsers=99%
suggest nginx-timed.log --target programs --action /login
suggest api.json
suggest empty.log
doctor shop-combined.log broken.log
doctor empty.log
keys shop-combined.log
keys shop-combined.log --limit token:1/s,burst=20 --by client,client/64,client+agent
keys empty.log
calibrate refused.log
calibrate recorded.log.gz --format $client~$msec~$request_time~$limit_req_status --client client
calibrate refused.log --limit token:6/30s
diff shop-combined.log --limit token:6/30s --limit window:60/1h --evidence
diff nginx-timed.log --limit token:6/30s --limit nginx:2/1s,burst=2
explain 203.0.113.201 shop-combined.log --limit 6/30s --lines
explain 192.0.2.7 shop-combined.log --limit 6/30s
explain 203.0.113.201 nginx-timed.log --config site.yaml --limit token:10/s+window:1000/1h
export --limit token:10/s,burst=20 --to nginx
export shop-combined.log --limit token:10/s,burst=20 --to envoy
export --limit each:window:10/1m+window:100/1h --to aws-waf
migrate shop-combined.log --from nginx.conf --to traefik
migrate shop-combined.log --from nginx.conf --to envoy --protect all=99.9%
report runs --db kept.db
report runs list --db kept.db
report runs show last --db kept.db
merge kept.db --db all.db
merge kept.db --db all.db
report runs delete 1 --db all.db
report runs delete --older-than 90d --db all.db
config check site.yaml
config check many.yaml
import nginx.conf
import without.conf
doctor parse shop-combined.log broken.log empty.log nginx-timed.log --show remote_user,nothing
query FROM~policy_totals --db kept.db
query SELECT~1~AS~a,[1,2]~AS~b,NULL~AS~c,now()~AS~schema --db kept.db
query --tables --db kept.db
`

// schemaInputs are files that they read.
var schemaInputs = map[string]string{
	"site.yaml": `
defaults: {exclude: [/health]}
actions: [{name: login, prefix: /login}]
tiers: {staff: {addresses: 10.0.0.0/8}}
exempt: {addresses: 192.0.2.7}
policies:
  - {name: login, limits: {limit: token:3/1m, match: {action: login}}}
`,
	"without.conf":   "events {}\nhttp { server { listen 80; } }\n",
	"many.yaml":      "policies: {name: p, limits: {limit: '1..30/1m', match: {method: POST}}}",
	"googlebot.json": `{"prefixes": [{"ipv4Prefix": "198.51.100.0/24"}]}`,
	"refused.log": `
192.0.2.7 - - [02/Mar/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "curl/8"
192.0.2.7 - - [02/Mar/2026:10:00:01 +0000] "GET /b HTTP/1.1" 200 1 "-" "curl/8"
192.0.2.7 - - [02/Mar/2026:10:00:02 +0000] "GET /c HTTP/1.1" 429 1 "-" "curl/8"
192.0.2.7 - - [02/Mar/2026:10:00:09 +0000] "GET /c HTTP/1.1" 200 1 "-" "curl/8"
192.0.2.8 - - [02/Mar/2026:10:00:12 +0000] "GET /c HTTP/1.1" 200 1 "-" "curl/8"
`,
	"nginx.conf": `
events {}
http {
  limit_req_zone $binary_remote_addr zone=a:10m rate=6r/m;
  server { location / { limit_req zone=a burst=2 nodelay; } }
}
`,
}
