package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// proposed holds what JSON has to paste.
type proposed struct {
	Answers []struct {
		Answer struct {
			Key, Note string
			Paste     []struct {
				Place string
				Lines []string
			}
		}
	}
}

// TestNginxTakesWhatIsProposed has a real nginx check the directives, all that there are for an answer, and holds the
// key against the client that was judged.
func TestNginxTakesWhatIsProposed(t *testing.T) {
	testneeds.Program(t, "nginx")
	proxied := behindProxy(t)
	for name, c := range map[string]struct {
		args []string
		key  string
	}{
		"address":  {[]string{"shop-combined.log"}, "$binary_remote_addr"},
		"nearest":  {[]string{"vhosts.log"}, "$binary_remote_addr"},
		"user":     {[]string{"api.json", "--client", "user", "--protect", "all=50%"}, "$remote_user"},
		"agent":    {[]string{"shop-combined.log", "--client", "agent", "--protect", "all=90%"}, "$http_user_agent"},
		"networks": {[]string{"rotated", "--client", "addr/24,/64", "--protect", "browsers=99%"}, "$client_network"},
		"network":  {[]string{"rotated", "--client", "addr/16", "--protect", "browsers=99%"}, "$client_network"},
		"proxies":  {[]string{proxied, "--format", combined + ` "$http_x_forwarded_for"`, "--client-from", "x-forwarded-for", "--trusted-proxy", "private,2001:db8::/32"}, "$binary_remote_addr"},
		"proxied":  {[]string{proxied, "--format", combined + ` "$http_x_forwarded_for"`, "--client-from", "x-forwarded-for", "--trusted-proxy", "10.0.0.1", "--each-action"}, "$binary_remote_addr"},
		"below":    {[]string{"shop-combined.log", "--client", "addr/32,/64", "--each-action"}, "$client_network"},
		"variable": {[]string{"shop-combined.log", "--client", "who", "--protect", "all=90%", "--format", strings.Replace(combined, "$remote_addr", "$who", 1)}, "$who"},
		"odd":      {[]string{"shop-combined.log", "--client", "addr/31"}, ""},
		"actions":  {[]string{"shop-combined.log", "--each-action"}, "$binary_remote_addr"},
		"bounds":   {[]string{"shop-combined.log", "--action", "login"}, "$binary_remote_addr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"suggest", "--for", "nginx", "--output", "json"}, c.args...)
			var p proposed
			if err := json.Unmarshal(run(t, "../../sample-logs", args...), &p); err != nil {
				t.Fatal(err)
			}
			var http, server []string
			for _, a := range p.Answers {
				answer := &a.Answer
				if len(answer.Paste) == 0 {
					continue
				}
				if answer.Key != c.key || c.key == "" && !strings.Contains(answer.Note, "$client") {
					t.Errorf("key %q, want %q; note: %s", answer.Key, c.key, answer.Note)
				}
				for _, block := range answer.Paste {
					switch block.Place {
					case "http":
						http = append(http, block.Lines...)
					case "server":
						server = append(server, block.Lines...)
					default: // a location of its own
						server = append(server, fmt.Sprintf("location /%d {", len(server)))
						server = append(append(server, block.Lines...), "}")
					}
				}
			}
			if http == nil {
				t.Fatal("nothing for nginx")
			}
			if name == "variable" {
				http = append([]string{"map $remote_addr $who { default $remote_addr; }"}, http...)
			}
			out, err := checkNginx(t, http, server)
			if c.key == "" {
				if err == nil || !strings.Contains(out, `unknown "client" variable`) {
					t.Errorf("nginx takes a key that nobody has filled in: %s", out)
				}
			} else if err != nil {
				t.Errorf("%v\n%s\n%s\n%s", err, out, strings.Join(http, "\n"), strings.Join(server, "\n"))
			}
		})
	}
}

const combined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// behindProxy returns a log as a server behind a proxy writes it.
func behindProxy(t *testing.T) string {
	log, err := os.ReadFile("../../sample-logs/shop-combined.log")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(log)) {
		client, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		fmt.Fprintf(&lines, "10.0.0.1 %s %q\n", rest, client)
	}
	name := filepath.Join(t.TempDir(), "proxied.log")
	if err := os.WriteFile(name, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// checkNginx asks nginx whether it takes directives of the http block and of a server.
func checkNginx(t *testing.T, http, server []string) (string, error) {
	dir := t.TempDir()
	var paths strings.Builder
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&paths, "%s_temp_path %s;\n", what, filepath.Join(dir, what))
	}
	config := fmt.Sprintf("pid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n%s%s\nserver {\nlisten unix:%s;\n%s\n}\n}\n",
		filepath.Join(dir, "pid"), paths.String(), strings.Join(http, "\n"), filepath.Join(dir, "socket"), strings.Join(server, "\n"))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("nginx", "-t", "-e", "stderr", "-p", dir, "-c", file).CombinedOutput()
	return string(out), err
}

// TestSuggestKeepsLimitsOfNginx names the places of a configuration that limit already, with what they need.
func TestSuggestKeepsLimitsOfNginx(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "nginx.conf")
	must(t, os.WriteFile(file, []byte("http {\nserver {\nlocation /login {\nlimit_req zone=old;\n}\n}\n}\n"), 0o600))
	var p proposed
	must(t, json.Unmarshal(run(t, "../../sample-logs", "suggest", "shop-combined.log", "--nginx-conf", file, "--output", "json"), &p))
	paste := p.Answers[0].Answer.Paste
	last := paste[len(paste)-1]
	if want := "location /login (" + file + ":3), which limits already and stays as it is"; last.Place != want ||
		strings.Join(last.Lines, " ") != "limit_req_dry_run off; limit_req_status 503;" {
		t.Errorf("the last block is %+v", last)
	}
	must(t, os.WriteFile(file, []byte("http {\nlimit_req zone=old;\n}\n"), 0o600))
	text := string(run(t, "../../sample-logs", "suggest", "shop-combined.log", "--nginx-conf", file))
	if want := "In nginx nothing can be pasted: "; !strings.Contains(text, want) || strings.Contains(text, "limit_req_dry_run on") {
		t.Errorf("where all is limited: %s", text)
	}
}
