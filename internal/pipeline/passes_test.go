package pipeline

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"shadow/internal/suggest"
	"shadow/internal/traffic/who"
)

// A user who waits sees which pass it is, and each ends when all of its bytes are done.
func TestPassesAreShown(t *testing.T) {
	type question interface {
		Run(context.Context, []string) error
	}
	config := filepath.Join(t.TempDir(), "shadow.yaml")
	text := "policies: {name: egress, limits: {limit: window:40/1m, cost: {field: bytes, per: 1000}}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := func(l Logs) question { return &Sweep{Logs: l, Keeping: Keeping{NoStore: true}, Output: "json"} }
	for _, c := range []struct {
		name  string
		ask   func(Logs) question
		first []string // the first passes
		more  bool     // whether further ones follow
	}{
		{"suggest", func(l Logs) question {
			return &Suggest{Logs: l, Protect: []suggest.Goal{{Who: who.Everybody, Percent: 90_000_000}}, Holdout: DefaultHoldout, Output: "json"}
		}, []string{"reading", "pass 2: trying limits", "pass 3: trying limits"}, true},
		{"keys", func(l Logs) question { return &Keys{Logs: l, Refuse: []float64{50}, Output: "json"} }, []string{"reading", "pass 2: trying limits"}, true},
		{"sweep of a policy", func(l Logs) question {
			l.ConfigFile = config
			return &Sweep{Logs: l, Chosen: []string{"egress"}, Keeping: Keeping{NoStore: true}, Output: "json"}
		}, []string{"pass 1 of 2: reading", "pass 2 of 2: trying limits"}, false},
		{"quiet", func(l Logs) question { l.Quiet = true; return sweep(l) }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			l, shown := Logs{Caller: called(&out, &errs)}, []string(nil)
			l.Progress = func(p Pass) func() {
				shown = append(shown, p.String())
				if done, all := p.At(); all <= 0 || done > all || len(shown) > 1 && done != 0 { // reading goes on meanwhile
					t.Errorf("%s begins at %d of %d", p, done, all)
				}
				return func() {
					if done, all := p.At(); done != all {
						t.Errorf("%s ends at %d of %d", p, done, all)
					}
				}
			}
			if err := c.ask(l).Run(t.Context(), []string{shop}); err != nil {
				t.Fatal(err)
			}
			if n := len(c.first); len(shown) < n || !slices.Equal(shown[:n], c.first) || !c.more && len(shown) > n {
				t.Errorf("%q, want %q", shown, c.first)
			}
		})
	}
}
