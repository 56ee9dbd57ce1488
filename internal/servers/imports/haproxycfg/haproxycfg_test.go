package haproxycfg

import (
	"fmt"
	"testing"
)

// Sections, rules without comments, and words that are quoted or escaped.
func TestParse(t *testing.T) {
	all := Parse("bind :80 # of no section\n\nfrontend f\n  acl a path \"/a b\" '#\\' c\\ d\n\tstick-table type string\nbackend b\n")
	got := ""
	for _, s := range all {
		got += fmt.Sprintf("%s %q %d", s.Kind, s.Name, s.Line)
		for _, r := range s.Rules {
			got += fmt.Sprintf(" %d%q", r.Line, r.Words)
		}
		got += "; "
	}
	want := `frontend "" 0 1["bind" ":80"]; frontend "f" 3 4["acl" "a" "path" "/a b" "#\\" "c d"] ` +
		`5["stick-table" "type" "string"]; backend "b" 6; `
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A section takes what it does not say itself from the defaults that it names, or else the last before it.
func TestSetting(t *testing.T) {
	all := Parse("defaults a\n mode tcp\n enabled\ndefaults\n mode http\nfrontend f from a\n bind :80\n disabled\nbackend b\nbackend c\n mode tcp\n mode http\n")
	got := ""
	for _, s := range all[2:] {
		got += s.Setting("mode")[1] + s.Setting("disabled", "enabled")[0] + s.Setting("bind")[1] + " "
	}
	if want := "tcpdisabled:80 http http "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a condition asks for, with each way of negation, and acls without a name.
func TestCondition(t *testing.T) {
	for text, want := range map[string]string{
		"deny":                "[] false false",
		"deny if a !b || ! c": "[[a !b] [!c]] false true",
		"deny unless !!{ path /a } or !{ path /b": "[[{ path /a }] [!{ path /b }]] true true",
		"deny if": "[[]] false true",
	} {
		groups, _, unless, ok := Condition(Words(text))
		if got := fmt.Sprint(groups, unless, ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A table cuts texts alone, and forgets where it says so.
func TestTable(t *testing.T) {
	for text, want := range map[string]string{
		"stick-table type ip len 8 size 1k expire 500 store gpc0,http_req_rate(10s)": "{ip 0 500ms map[http_req_rate:10s]} []",
		"stick-table type string nopurge sise 1k":                                    "{string 32  map[]} [sise 1k]",
		"stick-table type binary len 20 expire 5m":                                   "{binary 20 5m map[]} []",
	} {
		var table Table
		unknown := table.Read(Words(text))
		if got := fmt.Sprint(table, unknown); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Rules of connections judge as those of requests do, and flags of a test may name a file.
func TestWordsOfRules(t *testing.T) {
	for text, want := range map[string]string{
		"http-request deny":               "[http-request deny]",
		"tcp-request content reject if a": "[http-request deny if a]",
		"tcp-request inspect-delay 5s":    "[]",
		"mode http":                       "[]",
	} {
		if got := fmt.Sprint(Rule{Words: Words(text)}.Judging()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	test, known := ParseTest(Words("-i -m beg -f file /a"), func(file string) ([]string, error) { return []string{"/" + file}, nil })
	if got := fmt.Sprint(test, known); got != "{beg true [/a /file]} true" {
		t.Error(got)
	}
	if _, known := ParseTest([]string{"-x"}, nil); known {
		t.Error("-x is known")
	}
}
