package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/internal/traffic/who"
	"shadow/report"
)

// TestCompletionInBash sources the script and completes a flag's value, as bash does when the user presses Tab.
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

// TestCompletionInOtherShells completes a command in zsh, and a flag's value in fish, as they do when the user presses
// Tab.
func TestCompletionInOtherShells(t *testing.T) {
	for shell, c := range map[string]struct{ script, want string }{
		"fish": {`shadow completion fish | source; complete -C "shadow export --to h"`, "haproxy\n"},
		"zsh": {`shadow completion zsh >_shadow
			zmodload zsh/zpty
			zpty -b shell zsh -f -i
			zpty -w shell 'PS1=; fpath=('$PWD' $fpath); autoload -U compinit; compinit -u -D; print READ""Y'
			zpty -r -m shell out '*READY*'
			zpty -w -n shell $'shadow calib\t'
			zpty -r -m shell out '*calibrate*'
			print -r -- ${(M)out%calibrate*}`, "calibrate"},
	} {
		program := testneeds.Program(t, shell)
		dir := t.TempDir()
		cmd := command(t, dir)
		cmd.Path, cmd.Args = program, []string{shell, "-c", c.script}
		cmd.Env = append(cmd.Env, "HOME="+dir, "TERM=dumb")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%s: %v, completed to %q", shell, err, out)
		}
	}
}

// ofHosts are the options of limits on several hosts, behind what was typed.
func ofHosts(typed string) string {
	all := []string{"replicas=", "cache=", "drift=", "store=down:open", "store=down:closed", "store=down:fixed"}
	return typed + strings.Join(all, " "+typed)
}

// TestCompletions asks what the scripts of all shells ask; they take from it what goes on as the word begins.
func TestCompletions(t *testing.T) {
	for _, c := range []struct {
		line, want string
	}{
		{"replay --by ", strings.Join(slices.Concat(request.Keys(), request.PartWords()), " ")},
		{"replay --output ", "table json csv markdown html"},
		{"query --output ", "table json csv markdown parquet"},
		{"doctor formats --output ", "table json csv markdown"},
		{"replay --sort ", "refused requests client"},
		{"replay --parser ", "auto gonx"},
		{"doctor parse --parser ", "auto gonx"},
		{"replay --events ", "all none"},
		{"replay --format ", strings.Join(formatNames(), " ")},
		{"doctor parse --format ", strings.Join(formatNames(), " ")},
		{"replay --client ", "addr addr/24 addr/64 addr/24,/64 user header:"},
		{"rep", "replay report"},
		{"help re", "replay report"},
		{"report --compare ", "previous 7d none"},
		{"report --anonymize ", "hash prefix"},
		{"help completion ", "bash zsh fish powershell"},
		{"replay --fail-if ", strings.Join(report.ConditionNames(), " ")},
		{"replay --config site.yaml --policy ", "guard api"},
		{"tail --policy ", "one"},
		{"suggest --config site.yaml --action ", "login search"},
		{"suggest --config odd.yaml --action ", ""},
		{"replay --limit token:6/30s,", "token:6/30s,burst= token:6/30s,initial= token:6/30s,refill=even token:6/30s,refill=step " +
			"token:6/30s,refill=interval token:6/30s,debt token:6/30s,cooldown= token:6/30s,clock= " + ofHosts("token:6/30s,")},
		{"replay --limit in-turn:window:1/s+nginx:10r/s,burst=5,", "in-turn:window:1/s+nginx:10r/s,burst=5,delay= in-turn:window:1/s+nginx:10r/s,burst=5,nodelay " +
			"in-turn:window:1/s+nginx:10r/s,burst=5,max= " +
			"in-turn:window:1/s+nginx:10r/s,burst=5,cooldown= in-turn:window:1/s+nginx:10r/s,burst=5,clock= " +
			ofHosts("in-turn:window:1/s+nginx:10r/s,burst=5,")},
		{"limits explain caddy:6/30s,cooldown=5s,", "caddy:6/30s,cooldown=5s,clock= " + ofHosts("caddy:6/30s,cooldown=5s,")},
		{"suggest --target ", strings.Join(who.Words(), " ")},
		{"export --to ", strings.Join(servers.TargetNames(), " ")},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"site.yaml": "actions:\n  - {name: login, prefix: /login}\n  - {name: search, prefix: /search}\n" +
				"policies:\n  - {name: guard, limits: 6/30s}\n  - {name: api, limits: 10/s}\n",
			"shadow.yaml": "policies: [{name: one, limits: 6/30s}]\n",
			"odd.yaml":    "policies: 7\n",
		} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		out := run(t, dir, append([]string{"__completeNoDesc"}, strings.Split(c.line, " ")...)...)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if got := strings.Join(lines[:len(lines)-1], " "); got != c.want { // the last line says what to do besides
			t.Errorf("shadow %s: completed to %q, want %q", c.line, got, c.want)
		}
	}
	if duck.Built {
		dir := t.TempDir()
		run(t, dir, "replay", filepath.Join(testneeds.Root(t), "sample-logs", "shop-combined.log"), "--limit", "6/30s", "--quiet")
		for begun, want := range map[string]string{"FROM latest_pol": "FROM latest_policy_totals", "SELECT client FROM client_to": "SELECT client FROM client_totals"} {
			if out := string(run(t, dir, "__completeNoDesc", "query", begun)); !strings.Contains("\n"+out, "\n"+want+"\n") {
				t.Errorf("%q: completed to %q, want %q", begun, out, want)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if len(run(t, t.TempDir(), "completion", shell)) < 1000 {
			t.Errorf("no script for %s", shell)
		}
	}
}
