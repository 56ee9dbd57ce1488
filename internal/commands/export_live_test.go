package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// What is exported is given to a real server, and every request must get the verdict that a replay of the policy reaches.

// exportedLive are policies of limits that nginx and HAProxy have themselves.
var exportedLive = map[string]string{
	"nginx": `policies:
  - name: live
    limits:
      - {limit: 'nginx:1r/m,burst=5,nodelay', match: {method: [POST, PUT], prefix: /api, not: {agent: '(?i)bot'}}}
      - {limit: 'nginx:1r/m,burst=12,nodelay', by: header:X-Api-Key, match: {either: [{host: '*.wiki.example'}, {path: /login}], not: {network: 127.0.0.9}}}
      - {limit: 'nginx:1r/m,burst=1,nodelay', by: client+path, match: {regexp: '\.(jpg|PNG)$', without: cookie:session}}
      - {limit: 'nginx:1r/m,burst=150,nodelay', by: client/24}
      - {limit: 'nginx:1r/m,burst=60,nodelay', by: agent}
`,
	"haproxy": `policies:
  - name: live
    limits:
      - {limit: 'haproxy:5/1h', match: {method: [POST, PUT], prefix: /api, not: {agent: '(?i)bot'}}}
      - {limit: 'haproxy:10/1h,charge=admitted', by: header:X-Api-Key, match: {either: [{host: '*.wiki.example'}, {path: /login}], not: {network: 127.0.0.9}}}
      - {limit: 'haproxy:150/1h', by: client/24, match: {not: {regexp: '\.(jpg|PNG)$', host: old.example}}}
`,
}

func TestExportedLimitsJudgeAsReplayed(t *testing.T) {
	t.Run("nginx", func(t *testing.T) {
		testneeds.Program(t, "nginx")
		dir, address := t.TempDir(), freeAddress(t)
		lines := exportedTo(t, "nginx")
		must(t, os.WriteFile(filepath.Join(dir, "harness.conf"), fmt.Appendf(nil, harness, dir), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), fmt.Appendf(nil,
			"events {}\nhttp {\ninclude harness.conf;\n%s\nserver { listen %s; }\n}\n", lines, address), 0o600))
		server := exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", dir+"/nginx.conf", "-g",
			"daemon off; master_process off; error_log stderr; pid "+dir+"/pid;")
		replayedAlike(t, "nginx", logged(t, testneeds.Rand(t, 1, 32), server, address, dir+"/log"), func(words []string) bool {
			return strings.HasPrefix(words[len(words)-1], "REJECTED")
		})
	})
	t.Run("haproxy", func(t *testing.T) {
		testneeds.Program(t, "haproxy")
		text, err := os.ReadFile("../servers/imports/testdata/haproxy/live.cfg")
		must(t, err)
		head, _, _ := strings.Cut(string(text), "    acl reads")
		rules, backends, _ := strings.Cut(strings.ReplaceAll(exportedTo(t, "haproxy"), "http-request capture str(over-limit) len 10 if",
			"http-request deny status 429 if"), "# behind all sections:")
		dir, address := t.TempDir(), freeAddress(t)
		config := filepath.Join(dir, "haproxy.cfg")
		must(t, os.WriteFile(config, []byte(strings.NewReplacer("PORT", address, "\nglobal\n", "\nglobal\n    nbthread 1\n").Replace(head)+
			rules+"    http-request return status 200\n"+backends), 0o600))
		out, err := os.Create(dir + "/log")
		must(t, err)
		defer out.Close()
		server := exec.Command("haproxy", "-db", "-f", config)
		server.Stdout, server.Stderr = out, out
		replayedAlike(t, "haproxy", logged(t, testneeds.Rand(t, 2, 32), server, address, dir+"/log"), func(words []string) bool {
			return words[4] == "429"
		})
	})
}

// exportedTo returns the policy as a server is told it.
func exportedTo(t *testing.T, server string) string {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "shadow.yaml"), []byte(exportedLive[server]), 0o600))
	return string(run(t, dir, "export", "--policy", "live", "--to", server))
}

// replayedAlike holds the verdicts of a replay of the policy against those of a server.
func replayedAlike(t *testing.T, server string, lines [][]string, isRefused func(words []string) bool) {
	file := filepath.Join(t.TempDir(), "live.yaml")
	must(t, os.WriteFile(file, []byte(exportedLive[server]), 0o600))
	sameVerdictsBy(t, lines, isRefused, "--config", file)
}
