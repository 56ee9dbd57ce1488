package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/sweep"
	"shadow/limit"
)

// Buckets of the table are counted when few requests are of the action, however many others the log has; the requests
// are not kept where nothing would go through them again.
func TestSweepCountsOfFewAmongMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	line := `192.0.2.7 - - [19/Nov/2026:08:00:00 +0000] "GET /login HTTP/1.1" 200 5` + "\n"
	other := strings.Replace(line, "login", "a", 1)
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 9)+strings.Repeat(other, mostTwice)+line), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, action string
		kind         sweep.Kind
		kept         bool
		uncounted    int
	}{
		{"few", "/login", sweep.Token, true, 0},
		{"many", "", sweep.Token, false, 1},
		{"window", "/login", sweep.Window, false, 0},
	} {
		var out, errs bytes.Buffer
		r := &Sweep{Logs: Logs{Caller: called(&out, &errs)}, Keeping: Keeping{NoStore: true}, Action: c.action}
		r.Kinds, r.Rates = []sweep.Kind{c.kind}, []sweep.Rate{{Count: 1, Per: limit.Second}}
		if err := r.prepareSweep(t.Context(), []string{path}); err != nil {
			t.Fatal(err)
		}
		first, err := r.look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kept := r.severalPasses && r.requests.Size() > 0; kept != c.kept {
			t.Errorf("%s: requests are kept: %v", c.name, kept)
		}
		if err := r.lookAgain(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if n := len(first.Uncounted()); n != c.uncounted {
			t.Errorf("%s: %d rates have buckets that are not counted, want %d", c.name, n, c.uncounted)
		}
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	}
}
