package commands

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
)

// The cells of the notebook run one after the other, on a run that is there.
func TestNotebook(t *testing.T) {
	t.Parallel()
	if !duck.Built {
		t.Skip("no database in this program")
	}
	text, err := os.ReadFile("../../contrib/notebook/runs.ipynb")
	must(t, err)
	var notebook struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source []string
		}
	}
	must(t, json.Unmarshal(text, &notebook))
	var script strings.Builder
	for _, cell := range notebook.Cells {
		if cell.Type == "code" {
			script.WriteString(strings.Join(cell.Source, "") + "\n")
		}
	}
	python, err := filepath.Abs(testneeds.File(t, "../../bin/duckdb-clients/bin/python"))
	must(t, err)
	log, err := filepath.Abs("../../sample-logs/shop-combined.log")
	must(t, err)
	dir := t.TempDir()
	run(t, dir, "replay", log, "--limit", "token:6/30s", "--quiet")
	cmd := exec.Command(python, "-c", script.String())
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SHADOW_DB=shadow.db", "PYTHONIOENCODING=utf-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"│ token:6/30s │ client    │     1381 │     285 │", "203.0.113.203 │ attacker", "│ person ", "2026-03-02 03:00:00 │      98 │"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the notebook does not show %q:\n%s", want, out)
		}
	}
}
