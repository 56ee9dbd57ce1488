package runs

import (
	"strings"
	"testing"

	"shadow/internal/store"
)

// Runs with degraded verdicts are told from others in the list.
func TestDegradedRuns(t *testing.T) {
	list := func(format string, runs ...store.RunFact) string {
		var b strings.Builder
		if err := Write(&b, format, 0, runs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole, part := store.RunFact{Run: 1, Policies: 1, Inputs: 1, Tail: "x"}, store.RunFact{Run: 2, Policies: 1, Degraded: 1234}
	if text := list("table", whole); strings.Contains(text, "degraded") || !strings.Contains(text, "1  tail") {
		t.Error(text)
	}
	if text := list("table", whole, part); !strings.Contains(text, "degraded") || !strings.Contains(text, "1,234") {
		t.Error(text)
	}
	if text := list("json", part); !strings.Contains(text, `"degraded": 1234`) && !strings.Contains(text, `"degraded":1234`) {
		t.Error(text)
	}
}
