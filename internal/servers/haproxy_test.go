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

// A real HAProxy takes all lines but those in which something is left for the operator to know.
func TestHAProxyTakesLines(t *testing.T) {
	testneeds.Program(t, "haproxy")
	limits := append(haproxy.samples(), "haproxy:20/10s,charge=admitted", "haproxy:1000/596h")
	for i, p := range places() {
		d, err := haproxy.Lines(limits[i%len(limits)], p.where(t))
		if err != nil {
			t.Fatal(err)
		}
		out, err := checkHAProxy(t, false, d)
		open := ""
		switch w := p.where(t); {
		case d.Key == "":
			open = "unknown fetch method 'CLIENT'"
		case strings.Contains(d.Note, "make an acl is_"+w.name()):
			open = "no such ACL : 'is_" + w.name() + "'"
		}
		if open == "" && err != nil {
			t.Errorf("%s: %v\n%s", p, err, out)
		}
		if open != "" && (err == nil || !strings.Contains(out, open)) {
			t.Errorf("%s: it takes %s, which is not filled in, or says otherwise: %s", p, open, out)
		}
	}
	var several []Directives
	for i, action := range []string{"", "/login", "/api/…", "/"} {
		w := place{client: "addr/24,/64", from: "x-forwarded-for", trusted: []string{"private"}, action: action}.where(t)
		d, err := haproxy.Lines(limits[i], w)
		if err != nil {
			t.Fatal(err)
		}
		several = append(several, d)
	}
	for _, enforce := range []bool{false, true} {
		if out, err := checkHAProxy(t, enforce, several...); err != nil {
			t.Errorf("several, enforced %t: %v\n%s", enforce, err, out)
		}
	}
}

// checkHAProxy asks HAProxy whether it takes lines.
func checkHAProxy(t *testing.T, enforce bool, limits ...Directives) (string, error) {
	dir := t.TempDir()
	file := filepath.Join(dir, "haproxy.cfg")
	config := haproxyConfig("unix@"+filepath.Join(dir, "socket"), enforce, limits...)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("haproxy", "-c", "-f", file).CombinedOutput()
	return string(out), err
}

// haproxyConfig makes a configuration of lines, in which the line with deny may stand in the place of the one with
// capture.
func haproxyConfig(listen string, enforce bool, limits ...Directives) string {
	var frontend, backends []string
	for _, d := range limits {
		for _, b := range d.Blocks {
			switch {
			case b.Once && slices.Contains(frontend, b.Lines[0]):
			case b.Place == "frontend":
				frontend = append(frontend, b.Lines...)
			default:
				backends = append(backends, b.Lines...)
			}
		}
	}
	if enforce {
		for i, line := range frontend {
			if _, deny, ok := strings.Cut(line, "later, for capture: "); ok {
				_, when, _ := strings.Cut(deny, " if ")
				at := slices.IndexFunc(frontend[:i], func(line string) bool {
					return strings.HasPrefix(line, "http-request capture") && strings.HasSuffix(line, " if "+when)
				})
				frontend[at] = deny
			}
		}
	}
	return fmt.Sprintf(`global
    nbthread 1
    log stdout format raw local0
defaults
    mode http
    timeout client 10s
    timeout connect 10s
    timeout server 10s
frontend f
    bind %s
    log global
    option httplog
%s
    http-request return status 200
%s
`, listen, strings.Join(indent(4, frontend), "\n"), strings.Join(backends, "\n"))
}
