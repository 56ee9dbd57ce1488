package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// A real nginx takes all lines, and those of several limits beside each other.
func TestNginxTakesLines(t *testing.T) {
	testneeds.Program(t, "nginx")
	limits := append(nginx.samples(), "nginx:10r/s,burst=20", "nginx:10r/s,burst=20,delay=8")
	for i, p := range places() {
		d, err := nginx.Lines(limits[i%len(limits)], p.where(t))
		if err != nil {
			t.Fatal(err)
		}
		out, err := checkNginx(t, d)
		if err != nil {
			t.Errorf("%s: %v\n%s", p, err, out)
		}
		if d.Key == "" && !strings.Contains(d.Note, "$client") {
			t.Errorf("%s: no key, and the note does not say so: %s", p, d.Note)
		}
	}
	var several []Directives
	for i, action := range []string{"", "/login", "/api/…", "/"} {
		w := place{client: "addr/24,/64", from: "x-real-ip", trusted: []string{"private"}, action: action}.where(t)
		d, err := nginx.Lines(limits[i], w)
		if err != nil {
			t.Fatal(err)
		}
		several = append(several, d)
	}
	if out, err := checkNginx(t, several...); err != nil {
		t.Errorf("several: %v\n%s", err, out)
	}
}

// checkNginx asks nginx whether it takes lines. Variables that only the operator knows are made.
func checkNginx(t *testing.T, limits ...Directives) (string, error) {
	dir := t.TempDir()
	file := filepath.Join(dir, "nginx.conf")
	config := nginxConfig(dir, "unix:"+filepath.Join(dir, "socket"), limits, "access_log off;")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("nginx", "-t", "-e", "stderr", "-p", dir, "-c", file).CombinedOutput()
	return string(out), err
}

// nginxConfig makes a configuration of lines, and of more for the http block and the server.
func nginxConfig(dir, listen string, limits []Directives, http string, server ...string) string {
	blocks := []string{http}
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		blocks = append(blocks, fmt.Sprintf("%s_temp_path %s;", what, filepath.Join(dir, what)))
	}
	for _, variable := range []string{"client", "who"} {
		blocks = append(blocks, fmt.Sprintf("map $remote_addr $%s { default $remote_addr; }", variable))
	}
	for _, d := range limits {
		for _, b := range d.Blocks {
			switch {
			case b.Once && (slices.Contains(blocks, b.Lines[0]) || slices.Contains(server, b.Lines[0])):
			case b.Place == "http":
				blocks = append(blocks, b.Lines...)
			default:
				server = append(server, b.Lines...)
			}
		}
	}
	return fmt.Sprintf("pid %s;\nerror_log stderr;\nevents {}\nhttp {\n%s\nserver {\nlisten %s;\n%s\n}\n}\n",
		filepath.Join(dir, "pid"), strings.Join(blocks, "\n"), listen, strings.Join(server, "\n"))
}
