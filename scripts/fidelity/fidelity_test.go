package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/fidelity.md")

// The recordings are of this schedule.
func TestSchedule(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b, schedule()); err != nil {
		t.Fatal(err)
	}
	const want = "13fadb942b611c627bf3364d14db340a3cbd462e22ff152f0d48abf2836a6a67"
	if got := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); got != want {
		t.Errorf("the schedule has changed: its sum is %s; every row has to be recorded again", got)
	}
}

// The limits of all rows are held against what was recorded of the real code, or against twins; the table of
// docs/fidelity.md says how many verdicts are the same.
func TestRowsOfDocs(t *testing.T) {
	const page = "../../docs/fidelity.md"
	all := schedule()
	var b strings.Builder
	b.WriteString("| system | setting there | limit here | verified with | last run | equal, % |\n|---|---|---|---|---|---|\n")
	last := row{}
	days, err := lastRuns()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		admitted, err := recorded(all, r.name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := compare(all, r.limit, admitted)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(r.line(last, days, a.percent()))
		last = r
		if a.refused < 25_000 || a.refused > 190_000 {
			t.Errorf("%s: %d of %d refused proves little", r.name, a.refused, a.requests)
		}
	}
	for _, w := range twins {
		b.WriteString(w.line(last, days, w.percent(t, all)))
		last = w.row
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- generated: rows -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end -->\n")
	if !found || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + "<!-- generated: rows -->\n\n" + b.String() + "\n<!-- end -->\n" + after
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("%s should have (-update rewrites it)\n%s", page, b.String())
	default:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// line is the line of a row in the table. What it shares with the row before, but for numbers, is left out.
func (r row) line(last row, days map[string]string, equal string) string {
	r.code, last.code = strings.TrimPrefix(r.code, r.system+" "), strings.TrimPrefix(last.code, last.system+" ")
	if r.system == last.system {
		r.system = "″"
		if numbers.ReplaceAllString(r.setting, "") == numbers.ReplaceAllString(last.setting, "") {
			r.setting = "″"
		}
	}
	if r.code == last.code {
		r.code = "″"
	}
	day := days[r.name]
	if day != "" && day == days[last.name] {
		day = "″"
	}
	return fmt.Sprintf("| %s | %s | `%s` | %s | %s | %s |\n", r.system, r.setting, r.limit, r.code, day, equal)
}

var numbers = regexp.MustCompile(`[\d_]+`)

// A single verdict that differs is not lost in rounding.
func TestPercent(t *testing.T) {
	for want, a := range map[string]agreement{
		"100": {requests: requests, equal: requests}, "99.99": {requests: requests, equal: requests - 1},
		"0.00": {requests: requests}, "50.00": {requests: requests, equal: requests / 2},
	} {
		if got := a.percent(); got != want {
			t.Errorf("%+v is %s %%, want %s", a, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"rows"}, nil, &out); err != nil || strings.Count(out.String(), "\n") != len(rows) {
		t.Errorf("%s, %v", out.String(), err)
	}
	for _, c := range []struct{ args, in, want string }{
		{"record express-6-30s", "01", "2 verdicts, want 200000"},
		{"record express-6-30s", "x", "'x' is no verdict"},
		{"record nosuch", strings.Repeat("1", requests), "no row is called"},
		{"recrd", "", "want schedule, rows or record NAME"},
	} {
		if err := run(strings.Fields(c.args), strings.NewReader(c.in), &out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
