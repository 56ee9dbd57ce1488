package policy

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit/limittest"
)

// The texts of testdata/config.txt: configurations, and what is made of each or wrong with it.
func TestConfigs(t *testing.T) {
	const file = "testdata/config.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for piece := range strings.SplitSeq(string(text), "\n---\n") {
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSuffix(piece, "\n"), "\n") {
			if !strings.HasPrefix(line, "= ") && !strings.HasPrefix(line, "! ") {
				lines = append(lines, line)
			}
		}
		source := strings.Join(lines, "\n")
		config, err := ParseConfig("testdata/shadow.yaml", []byte(source+"\n"))
		if err != nil {
			lines = append(lines, indented("! ", err.Error())...)
		} else {
			lines = append(lines, indented("= ", describeConfig(&config))...)
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	limittest.Golden(t, file, strings.Join(out, "\n---\n")+"\n")
}

func indented(mark, text string) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, mark+strings.ReplaceAll(line, "testdata/shadow.yaml", "…"))
	}
	return lines
}

// describeConfig writes a configuration down.
func describeConfig(c *Config) string {
	var b strings.Builder
	for _, d := range c.Defaults {
		fmt.Fprintf(&b, "default %s %q of %s\n", d.Name, d.Values, d.Place)
	}
	for _, a := range c.Actions {
		fmt.Fprintf(&b, "action %q %q prefix %q glob %q regexp %q\n", a.Name, a.Methods, a.Prefix, a.Glob, a.Regexp)
	}
	for _, t := range append([]request.Tier{c.Exempt}, c.Tiers...) {
		if t.Name != "" {
			fmt.Fprintf(&b, "tier %q addresses %q users %q field %q %q\n", t.Name, t.Networks, t.Users, t.Field, t.Values)
		}
	}
	for _, set := range c.Policies {
		for _, p := range set.Policies {
			fmt.Fprintf(&b, "policy %q", p.Name)
			if p.Combine != Together {
				fmt.Fprintf(&b, " %s", p.Combine)
			}
			b.WriteByte('\n')
			for i := range p.Parts {
				fmt.Fprintf(&b, "    %s\n", p.Parts[i].String())
			}
		}
	}
	if text := c.Evidence.String(); text != "" {
		fmt.Fprintf(&b, "evidence: %s\n", text)
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return b.String()
}

// What cannot stand in a readable file: texts made by a machine.
func TestConfigNests(t *testing.T) {
	for text, want := range map[string]string{
		"actions: []\n---\nactions: []\n":          "shadow.yaml: holds more than one document; want one",
		"actions: " + strings.Repeat("[", 100):     "shadow.yaml:1:60: nests too deep",
		"actions:\n  " + strings.Repeat("- ", 100): "shadow.yaml:2:101: nests too deep",
		"actions:\n" + strings.Repeat("{\n", 100):  "shadow.yaml:52:1: nests too deep",
	} {
		if _, err := ParseConfig("shadow.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// The list has as many problems as people read, and a count of the others.
func TestConfigManyProblems(t *testing.T) {
	_, err := ParseConfig("shadow.yaml", []byte("actions:\n"+strings.Repeat("  - a\n", 60)))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != maxProblems+1 {
		t.Fatalf("%d problems: %v", len(problems), err)
	}
	if last := problems[maxProblems].String(); last != "shadow.yaml: 10 problems more" {
		t.Errorf("the last line is %q", last)
	}
}

// Every condition that differs is a scope of its own, up to as many as a mark has bits; the same ones are one.
func TestConfigScopes(t *testing.T) {
	var b strings.Builder
	b.WriteString("policies:\n")
	for i := range request.MaxScopes {
		fmt.Fprintf(&b, "  - {name: p%d, limits: [{limit: 5/m, match: {host: h%d}}, {limit: 6/m, match: {host: h%d}}]}\n", i, i, i)
	}
	config, err := ParseConfig("shadow.yaml", []byte(b.String()))
	if err != nil || len(config.Scopes) != request.MaxScopes {
		t.Fatalf("%d scopes, %v", len(config.Scopes), err)
	}
	for i, set := range config.Policies {
		for _, part := range set.Policies[0].Parts {
			if part.Match != Scope(i+1) || part.Count != part.Match || part.MatchText != fmt.Sprintf("host h%d", i) {
				t.Errorf("policy %d has %+v", i, part)
			}
		}
	}
	fmt.Fprintf(&b, "  - {name: more, limits: {limit: 5/m, match: {host: more}}}\n")
	fmt.Fprintf(&b, "  - {name: yet more, limits: [{limit: 5/m, match: {host: a}}, {limit: 5/m, match: {host: b}}]}\n")
	_, err = ParseConfig("shadow.yaml", []byte(b.String()))
	if err == nil || err.Error() != "shadow.yaml:66:26: there are more than 64 different conditions of limits" {
		t.Errorf("one scope too many: %v", err)
	}
}

// A byte order mark at the beginning is not part of the text.
func TestConfigByteOrderMark(t *testing.T) {
	config, err := ParseConfig("shadow.yaml", []byte("\uFEFFpolicies: {name: p, limits: 5/m}\n"))
	if err != nil || len(config.Policies) != 1 {
		t.Errorf("%+v, %v", config, err)
	}
	_, err = ParseConfig("shadow.yaml", []byte("\uFEFFpolicy: 1\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "shadow.yaml:1:1: unknown key \"policy\"") {
		t.Errorf("a mistake behind it: %v", err)
	}
	_, err = ParseConfig("shadow.yaml", []byte("# one\r\n# two\r\npolicy: 1\r\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "shadow.yaml:3:1: unknown key \"policy\"") {
		t.Errorf("a mistake behind comments of Windows: %v", err)
	}
}

func TestPick(t *testing.T) {
	config, err := ParseConfig("shadow.yaml", []byte("policies:\n"+
		"  - {name: login, limits: \"5,6/m\"}\n  - {name: site, limits: {limit: 9/s, by: site}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"": "login, token:5/1m|login, token:6/1m|site", "none": "", "site": "site",
		"site;login": "login, token:5/1m|login, token:6/1m|site", "login": "login, token:5/1m|login, token:6/1m",
		"login, token:6/1m": "login, token:6/1m", "login, token:6/1m;login": "login, token:5/1m|login, token:6/1m",
		"login, token:7/1m": `error: the configuration has none of that name (did you mean "login, token:5/1m"?); there are login, site`,
		"lgoin":             `error: the configuration has none of that name (did you mean "login"?); there are login, site`,
		"none;site":         "error: policy none stands alone",
	} {
		picked, err := config.Pick(strings.FieldsFunc(names, func(r rune) bool { return r == ';' }))
		got := []string{}
		for _, p := range picked {
			got = append(got, p.Name)
		}
		text := strings.Join(got, "|")
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != want {
			t.Errorf("%q picks %s, want %s", names, text, want)
		}
	}
	if _, err := new(Config).Pick([]string{"a"}); err == nil || err.Error() != "the configuration has no policies" {
		t.Errorf("of no policies: %v", err)
	}
}

// Limits of the command line pass over exempt clients as well.
func TestSpare(t *testing.T) {
	for text, want := range map[string]Scope{"": 0, "exempt: {users: a}": 1} {
		config, err := ParseConfig("shadow.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		policies, err := ParseLimits([]string{"token:6/30s+window:9/1m"}, request.BySite)
		if err != nil {
			t.Fatal(err)
		}
		config.Spare(policies)
		for _, part := range policies[0].Parts {
			if part.Match != want || part.Count != want {
				t.Errorf("%q: %+v", text, part)
			}
		}
		if want == 1 && (len(config.Scopes) != 1 || !reflect.DeepEqual(config.Scopes[0], request.Conditions{})) {
			t.Errorf("the scope is %+v", config.Scopes)
		}
	}
}

// The defaults are read by themselves, whatever else is wrong; and a user's own file has nothing else.
func TestParseDefaults(t *testing.T) {
	addresses := manyAddresses(2 * bulkLines)
	long := "defaults:\n  trusted-proxy:\n    - " + strings.Join(addresses, "\n    - ") + "\n  client: user\n"
	list := Default{"trusted-proxy", addresses, "etc/c.yaml:3:5"}
	user := Default{"client", []string{"user"}, fmt.Sprintf("etc/c.yaml:%d:11", len(addresses)+3)}
	for text, want := range map[string]any{
		"": []Default(nil), "defaults:": []Default(nil), "actions: 5": []Default(nil), "tiers: {a: {file: nowhere}}": []Default(nil),
		"defaults: {exclude: []}":                 []Default{{"exclude", nil, "etc/c.yaml:1:21"}},
		"defaults: {db: a.db}\nactions: 7":        []Default{{"db", []string{"etc/a.db"}, "etc/c.yaml:1:16"}},
		"defaults: {db: /a.db, nginx-conf: ../a}": []Default{{"db", []string{"/a.db"}, "etc/c.yaml:1:16"}, {"nginx-conf", []string{"a"}, "etc/c.yaml:1:35"}},
		long:                         []Default{list, user},
		"\uFEFFdefaults: {for: any}": []Default{{"for", []string{"any"}, "etc/c.yaml:1:17"}},
		"default: {db: a}":           `etc/c.yaml:1:1: unknown key "default" (did you mean "defaults"?); the configuration has defaults, actions,`,
		"defaults: {cleint: a}":      `etc/c.yaml:1:12: unknown key "cleint" (did you mean "client"?); the section defaults has format, nginx-conf,`,
		"defaults: [a]":              `etc/c.yaml:1:11: want a mapping here: the section defaults has format,`,
		"a":                          `etc/c.yaml:1:1: want a mapping here: the configuration has defaults,`,
	} {
		got, err := ParseDefaults("etc/c.yaml", []byte(text), false)
		if begins, wrong := want.(string); wrong {
			if err == nil || !strings.HasPrefix(err.Error(), begins) {
				t.Errorf("%.60q: %v, want %s…", text, err, begins)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%.60q: %.200q (%v), want %.200q", text, got, err, want)
		}
	}
	if c, err := ParseConfig("etc/c.yaml", []byte(long)); err != nil || !reflect.DeepEqual(c.Defaults, []Default{list, user}) {
		t.Errorf("a long list is %.200q (%v)", c.Defaults, err)
	}
	_, err := ParseDefaults("own.yaml", []byte("defaults: {for: any}\nactions: {name: a, prefix: /}\n"), true)
	if err == nil || err.Error() != `own.yaml:2:1: "actions" has no place here; a user's own file has defaults only` {
		t.Errorf("actions of a user: %v", err)
	}
}

// A configuration may hold anything: there is an answer, and what is wrong is told line by line, with the file in
// front.
func FuzzParseConfig(f *testing.F) {
	text, err := os.ReadFile("testdata/config.txt")
	if err != nil {
		f.Fatal(err)
	}
	for piece := range strings.SplitSeq(string(text), "\n---\n") {
		f.Add([]byte(piece))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4096 {
			return
		}
		config, err := ParseConfig("shadow.yaml", text)
		if err == nil {
			checkScopes(t, &config)
			if alone, err := ParseDefaults("shadow.yaml", text, false); err != nil || !reflect.DeepEqual(alone, config.Defaults) {
				t.Errorf("defaults are %v, by themselves %v (%v)", config.Defaults, alone, err)
			}
			return
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 {
			t.Fatalf("%v is no list of problems", err)
		}
		for _, p := range problems {
			if !strings.HasPrefix(p.String(), p.File+":") || strings.Contains(p.String(), "\n") {
				t.Errorf("the problem %q of %q", p, text)
			}
		}
	})
}

// checkScopes checks that parts have scopes that there are, and limits that can be judged.
func checkScopes(t *testing.T, c *Config) {
	for _, set := range c.Policies {
		for _, p := range set.Policies {
			for _, part := range p.Parts {
				if int(part.Match) > len(c.Scopes) || int(part.Count) > len(c.Scopes) || part.Limiter == nil {
					t.Errorf("policy %q has %+v", p.Name, part)
				}
			}
			if p.Name == "" || len(p.Parts) == 0 {
				t.Errorf("policy %+v", p)
			}
		}
	}
}
