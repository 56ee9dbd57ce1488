package commands

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/report/table"
)

// The answer of suggest fits a screen, 25 lines of 100 columns, whatever the log, the server and the flags. Only lines
// to paste, and commands, may be longer.
func TestSuggestFitsAScreen(t *testing.T) {
	samples := filepath.Join(testneeds.Root(t), "sample-logs")
	logs := [][]string{}
	for _, name := range []string{"shop-combined.log", "nginx-timed.log", "vhosts.log", "api.json", "broken.log", "rotated"} {
		logs = append(logs, []string{filepath.Join(samples, name)})
	}
	flags := [][]string{
		nil,
		{"--protect", "all=90%"},
		{"--target", "all"},
		{"--protect", "browsers=90%", "--target", "programs"},
		{"--client", "addr/24,/64"},
		{"--client", "agent", "--protect", "all=90%"},
		{"--each-action"},
		{"--action", "login"},
	}
	long := [][]string{{"--action", "/login", "--client", "addr/24,/64", "--client-from", "x-forwarded-for", "--trusted-proxy", "private", "--protect", "all=50%"}}
	for _, server := range []string{"any", "nginx", "haproxy", "envoy", "envoy-local", "traefik", "caddy", "apache"} {
		flags = append(flags, []string{"--for", server})
		long = append(long, []string{"--for", server, "--action", "login", "--protect", "all=50%"})
	}
	for _, f := range long {
		fitsAScreen(t, append(f, logs[0]...)...)
	}
	for _, log := range logs {
		for _, f := range flags {
			fitsAScreen(t, append(f[:len(f):len(f)], log...)...)
		}
	}
}

// The same for real logs, as they are.
func TestSuggestOfRealLogsFitsAScreen(t *testing.T) {
	folder := testneeds.Shared(t, "logs")
	if testing.Short() {
		t.Skip("reads 3,000,000 lines")
	}
	sets, err := filepath.Glob(filepath.Join(folder, "*"))
	must(t, err)
	for _, set := range sets {
		logs, err := filepath.Glob(filepath.Join(set, "*.gz"))
		must(t, err)
		if len(logs) > 0 {
			fitsAScreen(t, logs...)
			fitsAScreen(t, append([]string{"--for", "envoy-local"}, logs...)...)
		}
	}
}

var (
	answerBegins = regexp.MustCompile(`^(\S+|\d+ files): [\d,]+ requests?, `)
	isCommand    = regexp.MustCompile(`^(next)? +shadow `)
)

func fitsAScreen(t *testing.T, args ...string) {
	t.Helper()
	out, _ := command(t, t.TempDir(), append([]string{"suggest", "--quiet", "--max-bad", "100%"}, args...)...).Output() // some logs have no answer
	answers, lines := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if answerBegins.MatchString(line) {
			answers, lines = answers+1, 0
		}
		if lines++; lines == 26 {
			t.Errorf("%q: more than 25 lines:\n%s", args, out)
		}
		if table.ColumnsOf(line) > 100 && !strings.HasPrefix(line, "    ") && !isCommand.MatchString(line) {
			t.Errorf("%q: %d columns: %s", args, table.ColumnsOf(line), line)
		}
	}
	if answers == 0 && len(out) > 0 {
		t.Errorf("%q: no answer was recognised in\n%s", args, out)
	}
}
