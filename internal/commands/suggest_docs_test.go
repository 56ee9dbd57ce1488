package commands

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
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
