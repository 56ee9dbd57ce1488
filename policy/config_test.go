package policy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	got, err := ParseConfig("shadow.yaml", []byte(`
# routes that matter
actions:
  - name: login
    method: post
    prefix: /account/login
  - {name: search, method: [GET, HEAD], glob: "/*/search"}
  - name: listing
    regexp: ^/(shop|store)/[0-9]+$
  - name: 404
    prefix: /404
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Actions: []ActionRule{
		{Name: "login", Methods: []string{"POST"}, Prefix: "/account/login"},
		{Name: "search", Methods: []string{"GET", "HEAD"}, Glob: "/*/search"},
		{Name: "listing", Regexp: "^/(shop|store)/[0-9]+$"},
		{Name: "404", Prefix: "/404"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, text := range []string{"", "\n", "# nothing yet\n", "actions:\n", "actions: []\n", "---\n"} {
		if got, err := ParseConfig("shadow.yaml", []byte(text)); err != nil || len(got.Actions) != 0 {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// Each error begins with the place.
func TestParseConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"acts: 1\n":    `shadow.yaml:1:1: unknown field "acts"`,
		"actions: 3\n": "shadow.yaml:1:10: ",
		"actions:\n  - name: a\n    perfix: /x\n":                           `shadow.yaml:3:5: unknown field "perfix"`,
		"actions:\n  - name: a\n    name: b\n    prefix: /\n":               "shadow.yaml:3:5: ",
		"actions:\n  - name: a\n    regexp: ^/a(\n":                         `shadow.yaml:3:13: action "a": error parsing regexp: missing closing )`,
		"actions:\n  - name: a\n    prefix: /a\n    glob: /b\n":             `action "a" has 2 of prefix, glob and regexp; want exactly one`,
		"actions:\n  - name: a\n    prefix: login\n":                        `action "a": "login" fits no path; want a slash at its beginning`,
		"actions:\n  - name: a\n    glob: '*.php'\n":                        `action "a": "*.php" fits no path; want a slash at its beginning`,
		"actions:\n  - name: a\n":                                           `action "a" has 0 of prefix, glob and regexp; want exactly one`,
		"actions:\n  - prefix: /a\n":                                        "shadow.yaml:2:11: an action needs a name",
		"actions:\n  - name: a\n    prefix: /a\n    method: [GET, 'G T']\n": `shadow.yaml:4:19: action "a": "G T" is no method; want one such as POST`,
		"actions:\n  - name: [a]\n    prefix: /a\n":                         "shadow.yaml:2:11: want a text here",
		"actions:\n  - a\n":                                                 "shadow.yaml:2:5: ",
		"actions:\n- name: a\n  prefix:: [\n":                               "shadow.yaml:3:",
		"actions: []\n---\nactions: []\n":                                   "shadow.yaml: holds more than one document",
		"actions: " + strings.Repeat("[", 100):                              "shadow.yaml:1:60: nests too deep",
		"actions:\n  " + strings.Repeat("- ", 100):                          "shadow.yaml:2:101: nests too deep",
		"actions:\n" + strings.Repeat("{\n", 100):                           "shadow.yaml:52:1: nests too deep",
	} {
		got, err := ParseConfig("shadow.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "shadow.yaml:") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v; want %s", text, got, err, want)
		}
	}
}

func TestLoadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shadow.yaml")
	if _, err := LoadConfig(path); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("actions: [{name: a, prefix: /a}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadConfig(path); err != nil || len(got.Actions) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
