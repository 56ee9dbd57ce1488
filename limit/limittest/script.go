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

// A script shows limits at work, one key each. Times are in seconds; '.' is admitted, x is refused and d is admitted
// but kept waiting:
//
//	limit token:6/30s
//	at    0 0 0 0 0 0 0 5 5 10
//	want  . . . . . . x . x .
//	wait  0 0 0 0 0 0 5 0 5 0
//
// A row "took" below that of at has what each request takes, in seconds, for a limit on those under way.
//
// Rows of at, want and, if wanted, wait (seconds until the request would be admitted) and late (seconds that an
// admitted request is kept waiting) may follow each other: time goes on. Of a limit.Approximation, a row "or 2", of
// the verdicts of its second variant, may end in a text that begins with "if". Lines that begin with # are comments,
// and those that begin with a blank are drawings. With -update, the rows below at are written again.

// Scripts runs testdata/*.txt. Each script must contain a limit, and there must be one.
func Scripts(t *testing.T, build func(limit.Spec) (limit.Limiter, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { Script(t, file, build) })
	}
}

// Script runs one file of scripts.
func Script(t *testing.T, file string, build func(limit.Spec) (limit.Limiter, error)) {
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
	judged  []judged // the latest row of times

	variants []*player // of an approximation
}

// A judged is one request of a script.
type judged struct {
	stamp string     // its time, as written
	took  string     // how long it takes, as written
	wait  limit.Time // 0 if it is admitted
	late  limit.Time // how long it is then kept waiting
	width int        // of its column
}

// cell returns the text below the request in a row.
func (j judged) cell(row string) string {
	switch {
	case row == "at":
		return j.stamp
	case row == "took":
		return j.took
	case row == "wait":
		return seconds(j.wait)
	case row == "late":
		return seconds(j.late)
	case j.wait > 0:
		return "x"
	case j.late > 0:
		return "d"
	}
	return "."
}

// play returns the script with the rows below at as they should be.
func play(script string, build func(limit.Spec) (limit.Limiter, error)) (string, error) {
	p := player{build: build}
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		var err error
		if lines[i], err = p.line(line, lines[i+1:]); err != nil {
			return "", fmt.Errorf("%d: %w", i+1, err)
		}
	}
	if p.limiter == nil {
		return "", fmt.Errorf("%d: the script has no limit", len(lines))
	}
	return strings.Join(lines, "\n"), nil
}

// line plays one line. The rows below it may want wide columns.
func (p *player) line(line string, below []string) (string, error) {
	fields := strings.Fields(line)
	switch {
	case len(fields) == 0 || line[0] == '#' || line[0] == ' ':
		return line, nil
	case fields[0] == "limit" && len(fields) == 2:
		return line, p.start(fields[1])
	case p.limiter == nil:
		return "", fmt.Errorf("want a limit first, not %q", line)
	case fields[0] == "at":
		took, below := tookOf(below)
		if err := p.judge(fields[1:], took, rows(below)); err != nil {
			return "", err
		}
		return p.row("at"), nil
	case fields[0] == "or" && len(fields) > 1:
		return p.variant(line, fields[1])
	case fields[0] == "took" || isResult(fields[0]):
		return p.row(fields[0]), nil
	}
	return "", fmt.Errorf("unknown line %q", line)
}

// variant is the row of what a variant decides, and the text behind it.
func (p *player) variant(line, number string) (string, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(p.variants) {
		return "", fmt.Errorf("%q: want the number of a variant, 1 to %d", number, len(p.variants))
	}
	row := fmt.Sprintf("%-6s", "or "+number) + strings.TrimPrefix(p.variants[i-1].row("want"), "want  ")
	if _, text, found := strings.Cut(line, " if "); found {
		row += strings.Repeat(" ", max(1, len(p.row("at"))-len(row))) + "   if " + text
	}
	return row, nil
}

// isResult reports whether a row is computed from the times above it.
func isResult(row string) bool { return row == "want" || row == "wait" || row == "late" }

// tookOf returns what a row "took" says, if lines begins with one, and the lines behind it.
func tookOf(lines []string) (took, rest []string) {
	if len(lines) > 0 {
		if fields := strings.Fields(lines[0]); len(fields) > 0 && fields[0] == "took" {
			return fields[1:], lines[1:]
		}
	}
	return nil, lines
}

// rows are the names of the rows of results with which lines begins.
func rows(lines []string) (names []string) {
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		if !isResult(name) {
			break
		}
		names = append(names, name)
	}
	return names
}

func (p *player) start(text string) error {
	spec, err := limit.Parse(text)
	if err != nil {
		return err
	}
	p.state.Release()
	p.judged = nil
	if p.limiter, err = p.build(spec); err != nil {
		return err
	}
	p.variants = nil
	if approximation, ok := p.limiter.(limit.Approximation); ok {
		for _, l := range approximation.Variants() {
			p.variants = append(p.variants, &player{limiter: l})
		}
	}
	return nil
}

// judge plays a row of times, with columns that are wide enough for the rows of results.
func (p *player) judge(stamps, took, rows []string) error {
	for _, v := range p.variants {
		if err := v.judge(stamps, took, rows); err != nil {
			return err
		}
	}
	p.judged = nil
	for i, stamp := range stamps {
		t, err := parseSeconds(stamp)
		if err != nil {
			return err
		}
		j := judged{stamp: stamp, wait: p.limiter.Wait(&p.state, t), width: len(stamp)}
		if d, ok := p.limiter.(limit.Delayer); ok && j.wait == 0 {
			j.late = d.Delay(&p.state, t)
		}
		if i < len(took) {
			takes, err := parseSeconds(took[i])
			if err != nil {
				return err
			}
			j.took, j.width = took[i], max(j.width, len(took[i]))
			p.limiter.(limit.Weigher).ChargeFor(&p.state, t, int64(takes), j.wait > 0)
		} else {
			p.limiter.Charge(&p.state, t, j.wait > 0)
		}
		for _, row := range rows {
			j.width = max(j.width, len(j.cell(row)))
		}
		p.judged = append(p.judged, j)
	}
	return nil
}

// row is a row of cells, each below its time.
func (p *player) row(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s", name)
	for _, j := range p.judged {
		fmt.Fprintf(&b, "%-*s ", j.width, j.cell(name))
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
