package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
)

// A run in the database is the one that a replay would have left; results that are not whole leave none.
func TestStoredWholeOrNotAtAll(t *testing.T) {
	if !duck.Built {
		t.Skip("built without a database")
	}
	j := newJob(t, newLog(t, 5000))
	j.Limits, j.Sweep = []string{"6/30s"}, true
	check(t, prism(t, j))
	db := filepath.Join(t.TempDir(), "shadow.db")
	files, err := os.ReadDir(j.Output)
	check(t, err)
	if len(files) != j.Shards+1 {
		t.Fatalf("%d files", len(files))
	}
	rng := testneeds.Rand(t, 1, 2)
	for _, f := range files {
		name := filepath.Join(j.Output, f.Name())
		whole, err := os.ReadFile(name)
		check(t, err)
		damages := map[string]func() error{
			"gone":    func() error { return os.Remove(name) },
			"cut":     func() error { return os.WriteFile(name, whole[:len(whole)-1], 0o600) },
			"longer":  func() error { return os.WriteFile(name, append(whole[:len(whole):len(whole)], 0), 0o600) },
			"changed": func() error { return os.WriteFile(name, flipped(rng, whole), 0o600) },
		}
		for what, damage := range damages {
			if f.Name() == RunFile && what == "changed" { // its own figures have no checksum
				continue
			}
			check(t, damage())
			if _, err := Store(t.Context(), j.Output, db); err == nil {
				t.Errorf("%s %s: nobody notices", f.Name(), what)
			}
			if _, err := os.Stat(db); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s %s: there is a database: %v", f.Name(), what, err)
			}
			check(t, os.WriteFile(name, whole, 0o600))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Store(ctx, j.Output, db); !errors.Is(err, context.Canceled) {
		t.Error("interrupted:", err)
	}
	number, err := Store(t.Context(), j.Output, db)
	check(t, err)
	if number != "1" {
		t.Errorf("run %s", number)
	}
}

// What of a database a replay and the pipeline must have in common: all but ids, which differ from run to run.
var stored = []string{
	"* EXCLUDE (command, version, started, finished) FROM runs", "* FROM inputs", "* FROM policies", "* FROM parts",
	"* FROM findings", "* FROM curves", "* FROM curve_points", "* FROM request_times", "* FROM not_http",
	"* FROM unreadable_lines", "* EXCLUDE (action) FROM actions", "* EXCLUDE (agent) FROM agents",
	"c.* EXCLUDE (client, agent), a.name FROM clients c JOIN agents a USING (run, agent)",
	"i.* EXCLUDE (client), c.name FROM client_identities i JOIN clients c USING (run, client)",
	"t.* EXCLUDE (client), c.name FROM client_tallies t JOIN clients c USING (run, client)",
	"t.* EXCLUDE (action), a.name FROM action_tallies t JOIN actions a USING (run, action)",
}

// A stored run of the pipeline is the one that shadow replay leaves, with identities, findings and curves.
func TestStoredAsByReplay(t *testing.T) {
	if !duck.Built {
		t.Skip("built without a database")
	}
	logs := []string{disordered(t, 7, 8000), compressed(t, disordered(t, 8, 3000))}
	for by, limits := range map[string][]string{
		"client": {"6/30s", "cloudflare~:60/m", "nginx:1r/s,burst=3,delay=1"},
		"path":   {"token:20/1m"}, "site": {"window:100/1m"},
	} {
		t.Run(by, func(t *testing.T) {
			j := newJob(t, logs...)
			j.By, j.Limits, j.Sweep, j.Started = by, limits, by != "site", time.Now()
			check(t, prism(t, j))
			db, one := filepath.Join(t.TempDir(), "shadow.db"), filepath.Join(t.TempDir(), "one.db")
			_, err := Store(t.Context(), j.Output, db)
			check(t, err)
			args := slices.Concat([]string{"replay", "--quiet", "--db", one, "--events", "none", "--by", by}, logs)
			for _, l := range limits {
				args = append(args, "--limit", l)
			}
			if j.Sweep {
				args = append(args, "--sweep")
			}
			shadow(t, args...)
			for _, of := range stored {
				query := "SELECT " + of + " ORDER BY ALL"
				got, want := shadow(t, "query", "--db", db, query), shadow(t, "query", "--db", one, query)
				if got != want {
					t.Errorf("%s: %s", of, differ(got, want))
				}
				if empty := len(want) < 10; empty && (j.Sweep || !strings.Contains(of, "curve")) && !strings.Contains(of, "not_http") {
					t.Errorf("the test is too easy: %s has %q", of, want)
				}
			}
			for _, output := range []string{"json", "csv", "markdown"} {
				got, want := report(t, db, output), report(t, one, output)
				if got != want {
					t.Errorf("%s: %s", output, differ(got, want))
				}
			}
		})
	}
}

// report returns that of the stored run, but for what differs from one way to judge to the other.
func report(t *testing.T, db, output string) string {
	t.Helper()
	var kept []string
	for line := range strings.Lines(shadow(t, "report", "--db", db, "--output", output)) {
		if own := []string{notKept, `"database":`, `"version":`, `"command":`}; !slices.ContainsFunc(own, func(text string) bool {
			return strings.Contains(line, text)
		}) && strings.Trim(line, "> \n,[]") != "" {
			kept = append(kept, strings.TrimRight(strings.ReplaceAll(line, db, ""), ",\n[]"))
		}
	}
	return strings.Join(kept, "\n")
}

// shadow runs the program, and returns what it prints.
func shadow(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stderr, cmd.Env = &stderr, append(os.Environ(), "TZ=UTC", asProgram+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shadow %q: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// differ returns the first lines in which texts differ.
func differ(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\ngot  %.500s\nwant %.500s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func flipped(rng *rand.Rand, data []byte) []byte {
	other := append([]byte(nil), data...)
	other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
	return other
}

// What another program wrote, or a damaged file whose checksum is right, is an error or another result: never a panic.
func TestHostileResults(t *testing.T) {
	j := newJob(t, newLog(t, 300))
	j.Limits, j.Sweep = []string{"6/30s", "cloudflare~:60/m", "nginx:1r/s,burst=3,delay=1"}, true
	check(t, prism(t, j))
	rng := testneeds.Rand(t, 3, 4)
	packed, err := os.ReadFile(filepath.Join(j.Output, foundFile(0, j.Shards)))
	check(t, err)
	whole, err := s2.Decode(nil, packed)
	check(t, err)
	noticed := 0
	for i := range 2000 {
		data := flipped(rng, whole)
		if i%4 == 0 {
			data = whole[:rng.IntN(len(whole))]
		}
		if data = s2.Encode(nil, data); i%4 == 1 {
			data = flipped(rng, data)
		}
		p, err := j.build()
		check(t, err)
		if p.take(data, j.shape(0), p.Share(t.Context(), true, true), new(lateness)) != nil {
			noticed++
		}
		check(t, p.done())
	}
	if noticed < 500 {
		t.Errorf("%d of 2000 are noticed", noticed)
	}
}
