package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// limitingHAProxy is a configuration of HAProxy that limits /login in the frontend or the backend.
const limitingHAProxy = `global
    nbthread 1
defaults
    mode http
    timeout client 10s
    timeout connect 10s
    timeout server 10s
frontend f
    bind ADDRESS
    http-after-response set-header Verdict "%[var(txn.old)] %[capture.req.hdr(0)]"
    FRONTEND
    # here
    RULE
    default_backend b
backend b
    BACKEND
    RULE
    http-request return status 200
backend old
    stick-table type ip size 1k expire 2h store http_req_rate(1h)
`

// TestPastedLinesKeepLimitsOfHAProxy pastes what export and suggest write behind the rules that take counters.
func TestPastedLinesKeepLimitsOfHAProxy(t *testing.T) {
	testneeds.Program(t, "haproxy")
	for _, c := range []struct{ at, counter, how string }{
		{"FRONTEND", "sc0", "deny deny_status 503"},
		{"FRONTEND", "sc1", "set-var(txn.old) str(over)"},
		{"FRONTEND", "sc2", "deny deny_status 503"},
		{"BACKEND", "sc0", "deny deny_status 503"},
		{"BACKEND", "sc2", "set-var(txn.old) str(over)"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			before, behind, _ := strings.Cut(limitingHAProxy, c.at)
			behind = strings.Replace(behind, "RULE", "http-request "+c.how+" if { "+c.counter+"_http_req_rate(old) gt 1 }", 1)
			text := before + "http-request track-" + c.counter + " src table old if { path /login }" + behind
			text = strings.NewReplacer("FRONTEND", "", "BACKEND", "", "RULE", "").Replace(text)
			file := filepath.Join(t.TempDir(), "haproxy.cfg")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			within, err := ReadWithin("haproxy", file)
			if err != nil {
				t.Fatal(err)
			}
			limited := visitedHAProxy(t, text)["/login"]
			over := map[bool]string{true: "503", false: "200 over"}[strings.HasPrefix(c.how, "deny")]
			if !slices.Equal(limited, []string{"200", over, over, over}) {
				t.Fatalf("it does not limit before: %q", limited)
			}
			pastes := map[string][]Block{"export": haproxyBlocks(t, 1, within)}
			if c.counter != "sc2" { // which what knows nothing of the configuration takes
				d, err := haproxy.Lines("haproxy:2/1h", Where{Client: "addr"})
				if err != nil {
					t.Fatal(err)
				}
				pastes["suggest"] = d.Blocks
			}
			for name, blocks := range pastes {
				if err := within.Judge(blocks); err != nil {
					t.Errorf("%s is refused: %v", name, err)
				}
				for _, enforce := range []bool{false, true} {
					now, more := visitedHAProxy(t, pastedHAProxy(text, blocks, enforce)), "200 over-limit"
					login := slices.Clone(limited)
					for i, verdict := range now["/login"] {
						now["/login"][i] = strings.TrimSuffix(verdict, " over-limit")
					}
					if enforce { // it stands before the rule that refused
						more = "429"
						login = append(login[:2], more, more)
					}
					if !slices.Equal(now["/login"], login) || !slices.Equal(now["/free"], []string{"200", "200", more, more}) {
						t.Errorf("%s, enforced %t: %q, before %q", name, enforce, now, limited)
					}
				}
			}
			err = within.Judge(haproxyBlocks(t, 3, nil))
			if err == nil || !strings.Contains(err.Error(), c.counter+" is taken at "+file) {
				t.Errorf("lines that take all counters are judged: %v", err)
			}
			blocks := haproxyBlocks(t, 3, within)
			if within.Judge(blocks) != nil || strings.Count(fmt.Sprint(blocks), "http-request track-sc") != 2 {
				t.Errorf("of three limits two have a counter: %v", blocks)
			}
		})
	}
}

// haproxyBlocks are lines for so many limits.
func haproxyBlocks(t *testing.T, n int, within *Within) []Block {
	policies, err := policy.ParseLimits([]string{"haproxy:2/1h"}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	part := policies[0].Parts[0]
	want := Wanted{Spec: part.Spec, Shape: part.Limiter.(limit.Describer).Shape(), By: request.ByClient}
	want.Text = part.Spec.String()
	return haproxyTarget.Export(slices.Repeat([]Wanted{want}, n), Where{Client: "addr", Within: within}).Blocks
}

// pastedHAProxy pastes blocks, in a dry run or enforced.
func pastedHAProxy(text string, blocks []Block, enforce bool) string {
	for _, b := range blocks {
		lines := strings.Join(b.Lines, "\n") + "\n"
		if enforce {
			lines = strings.ReplaceAll(lines, "http-request capture str(over-limit) len 10", "http-request deny status 429")
		}
		if strings.Contains(b.Place, "frontend") {
			text = strings.Replace(text, "# here\n", lines, 1)
		} else {
			text += lines
		}
	}
	return text
}

// visitedHAProxy starts HAProxy, asks four times for each page, and returns its verdicts.
func visitedHAProxy(t *testing.T, text string) map[string][]string {
	t.Helper()
	address, file := freeAddress(t), filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(strings.Replace(text, "ADDRESS", address, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, address, exec.Command("haproxy", "-db", "-f", file))
	said := map[string][]string{}
	for n, path := range []string{"/login", "/free"} {
		for range 4 {
			said[path] = append(said[path], visit{"a.example", path}.verdict(t, fmt.Sprintf("127.0.0.%d", n+1), address))
		}
	}
	return said
}
