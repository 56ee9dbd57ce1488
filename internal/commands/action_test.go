//go:build unix && !nostore

package commands

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The step of a forge fails if its condition holds, leaves both reports in any case, and takes words for what they are.
func TestActionGates(t *testing.T) {
	text, err := os.ReadFile("../../contrib/action/action.yml")
	must(t, err)
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
		Runs struct {
			Steps []struct {
				ID  string            `yaml:"id"`
				Run string            `yaml:"run"`
				Env map[string]string `yaml:"env"`
			} `yaml:"steps"`
		} `yaml:"runs"`
	}
	must(t, yaml.Unmarshal(text, &action))
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	program, err := exec.LookPath("shadow") // testscript.Main puts it on the path
	must(t, err)
	for name, c := range map[string]struct {
		inputs map[string]string
		code   int
		report bool
	}{
		"holds":     {map[string]string{"log": "*.log", "limit": "token:2/30s"}, exitHeld, true},
		"holds not": {map[string]string{"log": "access.log", "limit": "token:2/30s", "fail-if": "people_hit > 1000"}, 0, true},
		"policies":  {map[string]string{"log": "access.log", "config": "limits.yaml", "format": "combined"}, exitHeld, true},
		"hostile":   {map[string]string{"log": "$(touch made)", "limit": "token:2/30s; touch made"}, exitUsage, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Symlink(program, filepath.Join(dir, "shadow")))
			must(t, os.WriteFile(filepath.Join(dir, "access.log"), contentOf(t, "../../sample-logs/shop-combined.log"), 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "limits.yaml"), []byte("policies: [{name: few, limits: [{limit: \"token:2/30s\"}]}]\n"), 0o600))
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"),
				"GITHUB_OUTPUT="+filepath.Join(dir, "output"))
			for variable, from := range step.Env {
				input := strings.TrimSuffix(strings.TrimPrefix(from, "${{ inputs."), " }}")
				value, given := c.inputs[input]
				if !given {
					value = action.Inputs[input].Default
				}
				cmd.Env = append(cmd.Env, variable+"="+value)
			}
			said, err := cmd.CombinedOutput()
			code := 0
			if ended := new(exec.ExitError); errors.As(err, &ended) {
				code = ended.ExitCode()
			}
			if code != c.code {
				t.Fatalf("exit code %d, want %d: %s", code, c.code, said)
			}
			if existsFile(filepath.Join(dir, "made")) {
				t.Error("words were run")
			}
			if !c.report {
				return
			}
			conforms(t, contentOf(t, filepath.Join(dir, "report.json")))
			if summary := string(contentOf(t, filepath.Join(dir, "summary"))); !strings.HasPrefix(summary, "# Rate limits, replayed") {
				t.Errorf("summary: %.200s", summary)
			}
			if output := string(contentOf(t, filepath.Join(dir, "output"))); output != "report="+dir+"/report.json\n" {
				t.Errorf("output: %s", output)
			}
		})
	}
}
