package limittest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shadow/limit"
)

// A script shows limits at work, one key each. Times are in seconds; '.' is admitted and x is refused:
//
//	limit token:6/30s
//	at    0 0 0 0 0 0 0 5 5 10
//	want  . . . . . . x . x .
//	wait  0 0 0 0 0 0 5 0 5 0
//
// Rows of at, want and, if wanted, wait (seconds until the request would be admitted) may follow each other: time goes
// on. Lines that begin with # are comments. With -update, want and wait are written anew.

// Scripts runs testdata/*.txt. Each script must contain a limit, and there must be one.
func Scripts(t *testing.T, build func(limit.Spec) (limit.Limiter, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, file, build) })
	}
}

func runFile(t *testing.T, file string, build func(limit.Spec) (limit.Limiter, error)) {
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := play(string(script), build)
	if err != nil {
		t.Fatalf("%s:%v", file, err)
	}
	Golden(t, file, got)
}

// A player plays one script.
type player struct {
	build   func(limit.Spec) (limit.Limiter, error)
	limiter limit.Limiter
	state   limit.State
	stamps  []string     // of the latest row of times, as written
	waits   []limit.Time // of the same requests
	widths  []int        // of their columns
}

// play returns the script with the rows want and wait as they should be.
func play(script string, build func(limit.Spec) (limit.Limiter, error)) (string, error) {
	p := player{build: build}
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		withWaits := strings.Contains(strings.Join(lines[i:min(i+3, len(lines))], "\n"), "\nwait")
		var err error
		if lines[i], err = p.line(line, withWaits); err != nil {
			return "", fmt.Errorf("%d: %w", i+1, err)
		}
	}
	if p.limiter == nil {
		return "", fmt.Errorf("%d: the script has no limit", len(lines))
	}
	return strings.Join(lines, "\n"), nil
}

// line plays one line. withWaits says that a row of waits follows and wants wide enough columns.
func (p *player) line(line string, withWaits bool) (string, error) {
	fields := strings.Fields(line)
	switch {
	case len(fields) == 0 || line[0] == '#':
		return line, nil
	case fields[0] == "limit" && len(fields) == 2:
		return line, p.start(fields[1])
	case p.limiter == nil:
		return "", fmt.Errorf("want a limit first, not %q", line)
	case fields[0] == "at":
		err := p.judge(fields[1:], withWaits)
		if err != nil {
			return "", err
		}
		return p.row("at", func(i int) string { return p.stamps[i] }), nil
	case fields[0] == "want":
		return p.row("want", p.verdict), nil
	case fields[0] == "wait":
		return p.row("wait", func(i int) string { return seconds(p.waits[i]) }), nil
	}
	return "", fmt.Errorf("unknown line %q", line)
}

func (p *player) start(text string) error {
	spec, err := limit.Parse(text)
	if err != nil {
		return err
	}
	p.state.Release()
	p.widths = nil
	p.limiter, err = p.build(spec)
	return err
}

func (p *player) judge(stamps []string, withWaits bool) error {
	p.stamps, p.waits, p.widths = stamps, nil, nil
	for _, stamp := range stamps {
		t, err := parseSeconds(stamp)
		if err != nil {
			return err
		}
		w := p.limiter.Wait(&p.state, t)
		p.limiter.Charge(&p.state, t, w > 0)
		p.waits = append(p.waits, w)
		width := len(stamp)
		if withWaits {
			width = max(width, len(seconds(w)))
		}
		p.widths = append(p.widths, width)
	}
	return nil
}

func (p *player) verdict(i int) string {
	if p.waits[i] > 0 {
		return "x"
	}
	return "."
}

// row is a row of cells, each below its time.
func (p *player) row(name string, cell func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s", name)
	for i, width := range p.widths {
		fmt.Fprintf(&b, "%-*s ", width, cell(i))
	}
	return strings.TrimRight(b.String(), " ")
}

// parseSeconds reads seconds, to the microsecond.
func parseSeconds(text string) (limit.Time, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("time %q: want seconds", text)
	}
	if f < 0 {
		return -limit.Time(-f*1e6 + 0.5), nil
	}
	return limit.Time(f*1e6 + 0.5), nil
}

// seconds is the shortest text of a time in seconds.
func seconds(t limit.Time) string {
	return strconv.FormatFloat(float64(t)/1e6, 'f', -1, 64)
}
