package moves

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/pipeline"
	"shadow/internal/policy"
	"shadow/internal/servers"
	"shadow/internal/servers/imports"
	"shadow/internal/suggest"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
	"shadow/report/diff"
	"shadow/report/moves"
	"shadow/report/reporttest"
)

// What is exported is imported again, as far as there is an importer: the limits that the target has, and those that its
// text is read as, must refuse the same requests of a random log.

// readAs are the importers of targets.
var readAs = map[string]string{
	"nginx": "nginx", "ingress-nginx": "ingress-nginx", "haproxy": "haproxy", "envoy": "envoy", "envoy-local": "envoy",
	"envoy-gateway": "envoy-gateway", "traefik": "traefik", "caddy": "caddy", "kong": "kong", "apisix": "apisix", "aws-waf": "aws-waf",
	"aws-waf-terraform": "terraform", "cloudflare": "cloudflare",
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// randomMatch are conditions in YAML; "" for all requests.
func randomMatch(r *rand.Rand, depth int) string {
	var texts []string
	for range r.IntN(3) {
		texts = append(texts, pick(r,
			"method: POST", "method: [GET, POST]", "path: /login", "path: [/login, /api/a]", "prefix: /api", "path: /api/*",
			"regexp: '^/(login|search)$'", "host: a.example", "host: [a.example, b.example]", "host: '*.example'",
			"agent: '(?i)^curl'", "network: 192.0.2.0/24", "network: [192.0.2.1, '2001:db8::/32']", "without: header:X-Api-Key"))
	}
	if depth < 2 {
		switch r.IntN(5) {
		case 0:
			if inner := randomMatch(r, depth+1); inner != "" {
				texts = append(texts, "not: "+inner)
			}
		case 1:
			one, other := randomMatch(r, depth+1), randomMatch(r, depth+1)
			if one != "" && other != "" {
				texts = append(texts, "either: ["+one+", "+other+"]")
			}
		}
	}
	seen := map[string]bool{}
	var own []string
	for _, text := range texts {
		if key, _, _ := strings.Cut(text, ":"); !seen[key] {
			own, seen[key] = append(own, text), true
		}
	}
	if own == nil {
		return ""
	}
	return "{" + strings.Join(own, ", ") + "}"
}

// randomLimit is an entry of limits.
func randomLimit(r *rand.Rand) string {
	limit := pick(r, "token:%d/10s", "window:%d/1m", "nginx:%dr/s,burst=3", "nginx:%dr/m,burst=2,nodelay", "fixed:%d/m", "haproxy:%d/20s",
		"caddy:%d/30s", "envoy:%d/m", "traefik:%d/1m,burst=4", "token:%d/1m,burst=12", "fixed:%d/30s,align=first", "aws~:1%d/1m", "haproxy:%d/10s,charge=admitted")
	by := pick(r, "client", "client", "client", "site", "host", "path", "agent", "header:X-Api-Key", "client/24", "client+host", "cookie:sid")
	text := fmt.Sprintf("limit: '"+limit+"', by: '%s'", 2+r.IntN(8), by)
	match := randomMatch(r, 0)
	if r.IntN(5) == 0 { // as a path of an Ingress is
		match = pick(r, "{host: a.example, either: [{path: /api}, {prefix: /api/}]}",
			"{either: [{path: /login}, {prefix: /login/}], not: {network: 192.0.2.0/28}}", "{either: [{prefix: /api/}, {path: /api}]}")
	}
	if match != "" {
		text += ", match: " + match
	}
	return "{" + text + "}"
}

// randomLog has requests of ten minutes.
func randomLog(r *rand.Rand) string {
	var b strings.Builder
	at := 1_767_225_600_000
	for range 1500 {
		at += r.IntN(800)
		fmt.Fprintf(&b, "%s %d.%03d %s \"%s %s HTTP/1.1\" 200 \"%s\" \"%s\" \"%s\"\n",
			pick(r, "192.0.2.1", "192.0.2.2", "192.0.2.200", "198.51.100.1", "198.51.100.2", "2001:db8::1", "2001:db9::1"),
			at/1000, at%1000, pick(r, "a.example", "b.example", "c.test"), pick(r, "GET", "GET", "POST", "PUT"),
			pick(r, "/", "/login", "/login/", "/loginx", "/api", "/api/a", "/api/a/b", "/apis", "/search", "/xsearch"),
			pick(r, "curl/8", "Mozilla/5.0", "CURL", "x"), pick(r, "-", "-", "key1", "key2"), pick(r, "-", "s1", "s2"))
	}
	return b.String()
}

const randomFormat = `$remote_addr $msec $host "$request" $status "$http_user_agent" "$http_x_api_key" "$cookie_sid"`

// TestExportsAreReadBack is the property, for each target.
func TestExportsAreReadBack(t *testing.T) {
	r := testneeds.Rand(t, 7, 77)
	for _, target := range servers.Targets {
		t.Run(target.Name, func(t *testing.T) {
			said, compared := 0, 0
			for tries := 0; tries < 400 && compared < 25; tries++ {
				entry := randomLimit(r)
				whole := exported(t, target, "policies: [{name: wanted, limits: ["+entry+"]}]")
				if whole == nil {
					continue
				}
				if said++; whole.Target.Comment != "" {
					if _, err := policyTrees(target, whole.Text()); err != nil {
						t.Fatalf("%s\n%v\n%s", entry, err, whole.Text())
					}
				}
				if readAs[target.Name] == "" {
					compared++
					continue
				}
				if sameAgain(t, r, entry, whole) {
					compared++
				}
			}
			t.Logf("%d said, %d compared", said, compared)
			if compared < 25 {
				t.Errorf("only %d of 400 random limits were compared", compared)
			}
		})
	}
}

// TestExemptIsReadBack: the clients that are exempt there are those that were.
func TestExemptIsReadBack(t *testing.T) {
	r := testneeds.Rand(t, 7, 78)
	for _, target := range servers.Targets {
		switch target.Name {
		case "kong", "lua", "aws-waf": // has no way, no importer, or its addresses elsewhere
			continue
		}
		entry := "{limit: 'token:5/10s', by: 'client', match: {prefix: /login, not: {network: 192.0.2.0/24}}}"
		if e := exported(t, target, "policies: [{name: wanted, limits: ["+entry+"]}]"); e == nil || !sameAgain(t, r, entry, e) {
			t.Errorf("%s is not read back: %v", target.Name, e)
		}
	}
}

// policyTrees reads what is YAML.
func policyTrees(target *servers.Target, text string) (int, error) {
	if target.Ending != ".yaml" {
		return 0, nil
	}
	trees, err := policy.Trees([]byte(text))
	return len(trees), err
}

// exported is a policy as the target is told it; nil if that cannot be said whole.
func exported(t *testing.T, target *servers.Target, config string) *servers.Export {
	t.Helper()
	c, err := policy.ParseConfig("", []byte(config))
	if err != nil {
		t.Fatalf("%s: %v", config, err)
	}
	e := target.Export(wantedOf(&c, c.Policies[0].Policies[0]), servers.Where{Client: "addr"})
	if len(e.Lost) > 0 {
		return nil
	}
	return e
}

// sameAgain holds what is read back against what is there; false if the importer says that it does not read all.
func sameAgain(t *testing.T, r *rand.Rand, entry string, e *servers.Export) bool {
	t.Helper()
	dir := t.TempDir()
	i := new(imports.Import)
	if err := i.Add("exported"+e.Target.Ending, []byte(e.Whole(dir)), readAs[e.Target.Name]); err != nil {
		t.Fatalf("%s: %v\n%s", entry, err, e.Text())
	}
	if i.Done(); len(i.Lost()) > 0 {
		return false
	}
	var again strings.Builder
	if err := i.Write(&again); err != nil {
		t.Fatal(err)
	}
	if len(i.Policies) != 1 {
		t.Fatalf("%s is read as %d policies:\n%s\n%s", entry, len(i.Policies), again.String(), e.Text())
	}
	name := i.Policies[0].Name
	_, rest, _ := strings.Cut(entry, ", by:")
	config := again.String() + "  - {name: wanted, limits: [{limit: '" + e.Limits[0].Set + "', by:" + rest + "]}\n"
	var out bytes.Buffer
	d := diffOf(t, &out, dir, config, randomLog(r), "wanted", name)
	if err := d.Run(t.Context(), []string{filepath.Join(dir, "log")}); err != nil && strings.Contains(err.Error(), "different conditions") {
		return false // read back they are more than a configuration can have
	} else if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", entry, err, config, e.Text())
	}
	if !strings.Contains(out.String(), `"requests": {`+"\n"+`    "only_a": 0,`+"\n"+`    "only_b": 0,`) {
		t.Fatalf("%s is read as another limit:\n%s\n%s\n%s", entry, config, e.Text(), cutAt(out.String(), `"requests": {`+"\n    \"only"))
	}
	return true
}

func cutAt(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	return word + rest[:min(len(rest), 200)]
}

// diffOf compares two policies of a configuration on a log.
func diffOf(t *testing.T, out *bytes.Buffer, dir, config, log string, policies ...string) *pipeline.Diff {
	t.Helper()
	file := filepath.Join(dir, "shadow.yaml")
	for name, text := range map[string]string{file: config, filepath.Join(dir, "log"): log} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := new(pipeline.Diff)
	d.Out, d.Err, d.Output, d.Client, d.Format, d.ConfigFile = out, out, "json", "addr", randomFormat, file
	d.NotHTTP, d.MaxBad, d.Quiet, d.Chosen, d.Cold = ingest.SkipNotHTTP, 5, true, policies, true
	return d
}

// TestRealProgramsTakeWhatIsWritten has nginx and HAProxy judge random limits, several at a time.
func TestRealProgramsTakeWhatIsWritten(t *testing.T) {
	r := testneeds.Rand(t, 8, 78)
	for _, name := range []string{"nginx", "haproxy"} {
		testneeds.Program(t, name)
		target, err := servers.TargetNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			config := "policies: [{name: p, limits: [" + randomLimit(r) + ", " + randomLimit(r) + "]}]"
			c, err := policy.ParseConfig("", []byte(config))
			if err != nil {
				t.Fatalf("%s: %v", config, err)
			}
			e := target.Export(wantedOf(&c, c.Policies[0].Policies[0]), servers.Where{Client: "addr"})
			if len(e.Blocks) == 0 {
				continue
			}
			if err := e.Check(t.Context()); err != nil {
				t.Errorf("%s: %v\n%s", config, err, e.Text())
			}
		}
	}
}

// TestCheckNeedsTheProgram: without it there is an error that says so.
func TestCheckNeedsTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, target := range servers.Targets {
		e := exported(t, target, "policies: [{name: p, limits: {limit: 'nginx:10r/s,burst=20,nodelay'}}]")
		if e == nil {
			t.Fatalf("%s has nothing near", target.Name)
		}
		if err := e.Check(t.Context()); !errors.Is(err, servers.ErrNoCheck) {
			t.Errorf("%s: %v", target.Name, err)
		}
	}
}

const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  annotations: {nginx.ingress.kubernetes.io/limit-rpm: "10", nginx.ingress.kubernetes.io/limit-burst-multiplier: "2"}
spec:
  rules: [{http: {paths: [{path: /, pathType: Prefix}]}}]
`

// migrated is the report of a migration of that Ingress on the log of the shop.
func migrated(t *testing.T, to string, protect ...suggest.Goal) (r answer, text []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ingress.yaml")
	if err := os.WriteFile(file, []byte(ingress), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	m := &Migrate{Protect: protect}
	m.Out, m.Err, m.Output, m.Client, m.To, m.LimitsFrom, m.MaxBad, m.Wanted = &out, &errs, "json", "addr", to, []string{file}, 5, true
	if err := m.Run(t.Context(), []string{shop}); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r, out.Bytes()
}

// An answer is what of a report the tests look at.
type answer struct {
	Correction *moves.Correction
	Limits     []servers.Exported
}

const shop = "../../../sample-logs/shop-combined.log"

// newlyHit counts the browsers that a limit hits and the Ingress does not, by a comparison of its own.
func newlyHit(t *testing.T, limit string) int64 {
	t.Helper()
	const from = "nginx:10r/m,burst=20,nodelay"
	if limit == from {
		return 0
	}
	var out bytes.Buffer
	d := new(pipeline.Diff)
	d.Out, d.Err, d.Output, d.Client, d.MaxBad, d.Quiet, d.Wanted = &out, &out, "json", "addr", 5, true, true
	d.Limits = []string{from, limit}
	if err := d.Run(t.Context(), []string{shop}); err != nil {
		t.Fatal(err)
	}
	var r struct {
		ByIdentity map[string]diff.ClassChange `json:"by_identity"`
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r.ByIdentity["people"].Clients.OnlyB + r.ByIdentity["offices"].Clients.OnlyB + r.ByIdentity["undecided"].Clients.OnlyB
}

// TestCorrectionIsTheSmallest: what is found keeps the promise, and the next smaller one of the grid does not.
func TestCorrectionIsTheSmallest(t *testing.T) {
	for _, to := range []string{"haproxy", "kong", "caddy", "envoy", "nginx", "aws-waf", "traefik"} {
		r, _ := migrated(t, to)
		c := r.Correction
		if !c.Found {
			t.Errorf("%s: no correction", to)
			continue
		}
		set := r.Limits[0].Set
		if n := newlyHit(t, set); n != 0 {
			t.Errorf("%s: %s newly hits %d", to, set, n)
		}
		if c.Kept {
			continue
		}
		spec, err := limit.Parse(set)
		if err != nil {
			t.Fatal(err)
		}
		spec.Count--
		if n := newlyHit(t, spec.String()); n == 0 {
			t.Errorf("%s: %s keeps the promise, and %s was found", to, spec, set)
		}
	}
}

// TestPromisesOfAll: a promise may be about others, and allow some.
func TestPromisesOfAll(t *testing.T) {
	strict, err := suggest.ParseGoal("all=100%")
	if err != nil {
		t.Fatal(err)
	}
	loose, err := suggest.ParseGoal("all=50%")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := migrated(t, "haproxy", loose); !r.Correction.Kept || r.Limits[0].Set != "haproxy:21/126506ms" {
		t.Errorf("%+v", r.Correction)
	}
	r, _ := migrated(t, "haproxy", strict)
	for group, n := range r.Correction.After.NewlyHit {
		if n > 0 {
			t.Errorf("%d of %s are newly hit", n, group)
		}
	}
}

// TestReportsAreDefined: docs/export.md or the pages of what is inside name each key.
func TestReportsAreDefined(t *testing.T) {
	_, text := migrated(t, "kong")
	reporttest.DefinedIn(t, reporttest.JSONNames(t, text), "export", "diff", "report", "evidence", "suggest", "findings")
}
