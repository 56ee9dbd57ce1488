package commands

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"shadow/internal/findings"
	"shadow/internal/suggest"
)

// TestSuggestIsDefined: docs/suggest.md names each key of the answers in JSON, in code quotes.
func TestSuggestIsDefined(t *testing.T) {
	page, err := os.ReadFile("../../docs/suggest.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--action", "login"}} {
		var report struct{ Answers any }
		if err := json.Unmarshal(run(t, "../../sample-logs", append([]string{"suggest", "shop-combined.log", "-o", "json"}, more...)...), &report); err != nil {
			t.Fatal(err)
		}
		eachKey(report.Answers, func(key string) {
			if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), "."+key+"`") && !strings.Contains(string(page), key+"[]`") {
				t.Errorf("docs/suggest.md does not define `%s`", key)
			}
		})
	}
}

// eachKey calls do for the keys of all objects within.
func eachKey(value any, do func(key string)) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			eachKey(v, do)
		}
	case map[string]any:
		for key, v := range value {
			do(key)
			eachKey(v, do)
		}
	}
}

// The default promise of an API allows one client to be hit where its share allows none: help and manual say so.
func TestDefaultPromiseIsTold(t *testing.T) {
	page, err := os.ReadFile("../../docs/suggest.md")
	if err != nil {
		t.Fatal(err)
	}
	const told = "one of 10 to 99 clients may be hit"
	help := strings.Join(strings.Fields(string(run(t, ".", "suggest", "--help"))), " ")
	for where, text := range map[string]string{"docs/suggest.md": string(page), "shadow suggest --help": help} {
		if !strings.Contains(text, told) {
			t.Errorf("%s does not say %q", where, told)
		}
	}
	for clients, want := range map[int64]int64{9: 0, 10: 1, 99: 1} {
		if got := suggest.GoalsOf(findings.API)[0].MayHit(clients); got != want {
			t.Errorf("%d of %d clients may be hit, want %d", got, clients, want)
		}
	}
}
