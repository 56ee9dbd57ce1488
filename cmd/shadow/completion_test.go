package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/request"
	"shadow/testneeds"
)

// TestCompletionInBash sources the script and completes a flag's value, as bash does when somebody presses Tab.
func TestCompletionInBash(t *testing.T) {
	bash := testneeds.Program(t, "bash")
	script := filepath.Join(t.TempDir(), "completion.bash")
	cmd := command(t, t.TempDir())
	cmd.Path, cmd.Args = bash, []string{"bash", "-c", `
		shadow completion bash >"$1" && bash -n "$1" && source "$1" || exit 1
		compopt() { :; }                    # works only while bash itself completes
		_get_comp_words_by_ref() { cur=cl prev=--by words=(shadow replay --by cl) cword=3; }
		_init_completion() { _get_comp_words_by_ref; } # of the package bash-completion
		COMP_WORDS=(shadow replay --by cl) COMP_CWORD=3 COMP_LINE='shadow replay --by cl' COMP_POINT=21 COMP_TYPE=9
		__start_shadow
		printf '%s\n' "${COMPREPLY[@]}"`, "bash", script}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "client\nclient+action\nclient+agent\nclient/24\nclient/64\nclient+agent+action\nclient/24+action\nclient/64+action\nclient+path\n" {
		t.Errorf("%v, completed to %q", err, out)
	}
}

// TestCompletions asks what the scripts of all shells ask; they take from it what goes on as the word begins.
func TestCompletions(t *testing.T) {
	for _, c := range []struct {
		line, want string
	}{
		{"replay --by ", strings.Join(slices.Concat(request.Keys(), request.PartWords()), " ")},
		{"replay --output ", "table json csv markdown html"},
		{"query --output ", "table json csv markdown"},
		{"formats --output ", "table json csv markdown"},
		{"replay --sort ", "refused requests client"},
		{"replay --parser ", "auto gonx"},
		{"parse --parser ", "auto gonx"},
		{"replay --events ", "all none"},
		{"replay --format ", strings.Join(formatNames(), " ")},
		{"parse --format ", strings.Join(formatNames(), " ")},
		{"replay --client ", "addr addr/24 addr/24,/64 user header:"},
		{"rep", "replay report"},
		{"help re", "replay report"},
		{"report --compare ", "previous 7d none"},
		{"report --anonymize ", "hash prefix"},
		{"help completion ", "bash fish powershell zsh"},
	} {
		out := run(t, t.TempDir(), append([]string{"__completeNoDesc"}, strings.Split(c.line, " ")...)...)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if got := strings.Join(lines[:len(lines)-1], " "); got != c.want { // the last line says what to do besides
			t.Errorf("shadow %s: completed to %q, want %q", c.line, got, c.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if len(run(t, t.TempDir(), "completion", shell)) < 1000 {
			t.Errorf("no script for %s", shell)
		}
	}
}
