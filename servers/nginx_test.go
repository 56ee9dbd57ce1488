package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/testneeds"
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
		d, err := nginx.Lines(limits[i], place{client: "addr/24,/64", from: "x-real-ip", trusted: []string{"private"}, action: action}.where(t))
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
	var http, server []string
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		http = append(http, fmt.Sprintf("%s_temp_path %s;", what, filepath.Join(dir, what)))
	}
	for _, variable := range []string{"client", "who"} {
		http = append(http, fmt.Sprintf("map $remote_addr $%s { default $remote_addr; }", variable))
	}
	for _, d := range limits {
		for _, b := range d.Blocks {
			switch {
			case b.Once && slices.Contains(http, b.Lines[0]):
			case b.Place == "http":
				http = append(http, b.Lines...)
			default:
				server = append(server, b.Lines...)
			}
		}
	}
	config := fmt.Sprintf("pid %s;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n%s\nserver {\nlisten unix:%s;\n%s\n}\n}\n",
		filepath.Join(dir, "pid"), strings.Join(http, "\n"), filepath.Join(dir, "socket"), strings.Join(server, "\n"))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("nginx", "-t", "-e", "stderr", "-p", dir, "-c", file).CombinedOutput()
	return string(out), err
}
