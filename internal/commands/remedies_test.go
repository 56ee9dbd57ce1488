package commands

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/commands/option"
)

// A finding says which flags help. With them the command gives an answer, and where this command has no such flag, the
// finding says which one has.

// oddLogs write logs that have something to follow, by what it is called.
var oddLogs = map[string]struct {
	client string   // one of them
	args   []string // how they are read
	line   func(i int) string
}{
	"--until": {"192.0.2.7", nil, func(i int) string {
		status := 200
		if i > 300 && i%2 == 0 {
			status = 429
		}
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2026:%02d:%02d:%02d +0000] "GET / HTTP/1.1" %d 312 "-" "curl/8.5.0"`,
			i%30, i/3600, i/60%60, i%60, status)
	}},
	"--exclude-status": {"192.0.2.7", nil, func(i int) string {
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2026:00:%02d:%02d +0000] "GET / HTTP/1.1" %d 312 "-" "curl/8.5.0"`,
			i%30, i/60, i%60, 429-229*(i%2))
	}},
	"--not-http judge": {"192.0.2.7", nil, func(i int) string {
		what := "-"
		if i%3 == 1 {
			what = "GET / HTTP/1.1"
		}
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2026:00:%02d:%02d +0000] "%s" 400 0 "-" "-"`, i%30, i/60, i%60, what)
	}},
	"--client addr": {"-", []string{"--client", "user"}, func(i int) string {
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2026:00:%02d:%02d +0000] "GET /a/%d HTTP/1.1" 200 0 "-" "curl/8"`, i%30, i/60, i%60, i)
	}},
	"--client-from": {"10.0.0.1", []string{"--format", `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ` +
		`"$http_referer" "$http_user_agent" "$http_x_forwarded_for"`}, func(i int) string {
		return fmt.Sprintf(`10.0.0.%d - - [02/Mar/2026:00:%02d:%02d +0000] "GET /a/%d HTTP/1.1" 200 0 "-" "curl/8" "192.0.2.%d"`,
			i%2, i/60, i%60, i, i%40)
	}},
	"--lateness": {"192.0.2.7", nil, func(i int) string {
		return fmt.Sprintf(`192.0.2.%d - - [%02d/Mar/2026:00:%02d:%02d +0000] "GET /a/%d HTTP/1.1" 200 0 "-" "curl/8"`,
			i%30, 9-i/100, i/60, i%60, i)
	}},
	"--by client+path": {"192.0.2.7", nil, func(i int) string {
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2026:00:%02d:%02d.%03d +0000] "GET /a/%d HTTP/1.1" 200 0 "-" "curl/8"`,
			i%30, i/60, i%60, i, i)
	}},
}

func TestRemediesCanBeFollowed(t *testing.T) {
	dir := t.TempDir()
	samples, err := filepath.Abs("../../sample-logs")
	must(t, err)
	logs := map[string][]string{
		"--exclude": {filepath.Join(samples, "shop-combined.log")}, "--band": {filepath.Join(samples, "vhosts.log")},
	}
	for name, odd := range oddLogs {
		var text strings.Builder
		for i := range 400 {
			text.WriteString(odd.line(i) + "\n")
		}
		log := filepath.Join(dir, fmt.Sprint(len(logs), ".log"))
		must(t, os.WriteFile(log, []byte(text.String()), 0o600))
		logs[name] = append([]string{log}, odd.args...)
	}
	limits := []string{"--limit", "token:6/30s", "--by", "client+action"}
	asks := map[string][]string{
		"doctor": nil, "suggest": nil, "keys": nil, "sweep": {"--by", "client+action", "--no-store"},
		"replay": append([]string{"--no-store"}, limits...),
		"diff":   append([]string{"--limit", "token:9/30s"}, limits...), "explain": limits,
	}
	follow := func(command, remedy string) {
		args := append([]string{command}, asks[command]...)
		if words := strings.Fields(remedy); words[0] == "shadow" {
			args = slices.Concat(words[1:2], asks[words[1]], words[2:])
		} else {
			args = append(args, words...)
		}
		cmd, rest, err := newRoot().Find(args)
		must(t, err)
		if err := cmp.Or(cmd.ParseFlags(rest), option.Verify(cmd, nil)); err != nil {
			t.Errorf("%s proposes %q, which is followed as %q: %v", command, remedy, args, err)
		}
	}
	told := map[string]int{}
	for name, log := range logs {
		for command, more := range asks {
			args := slices.Concat([]string{command}, log, more)
			if command == "explain" {
				args = slices.Insert(args, 1, cmp.Or(oddLogs[name].client, "203.0.113.202"))
			}
			for _, f := range readJSON[struct{ Findings []struct{ Remedy string } }](t, args...).Findings {
				if f.Remedy != "" {
					follow(command, f.Remedy)
				}
				if strings.Contains(f.Remedy, name) {
					told[name]++
				}
			}
		}
	}
	for name := range logs {
		if told[name] == 0 {
			t.Errorf("no command proposes %s", name)
		}
	}
}
