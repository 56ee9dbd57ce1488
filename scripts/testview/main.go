// Command testview shows what go test -json says as a person wants to read it: failures with their output, skipped
// tests with their reason, a line per package and a count at the end. It exits with 1 when anything failed.
//
// Some tests want what cannot be installed, such as the real logs, which are no part of the project, and are skipped where
// it is absent: they are only counted. With CI=true no test may be skipped for another reason.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"shadow/internal/testneeds"
)

// An event is one line of go test -json (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

func main() {
	title := flag.String("title", "", "what to call the run in the last line")
	flag.Parse()
	v := newView(os.Stdout, os.Getenv("CI") == "true")
	v.read(os.Stdin)
	if !v.finish(*title) {
		os.Exit(1)
	}
}

type testName struct{ pkg, test string }

// A view collects the output of each test until it is known whether to show it.
type view struct {
	out    io.Writer
	strict bool // skipping is failing
	output map[testName][]string

	passed, failed int
	absent         int  // skipped for want of what cannot be installed
	skipped        int  // for other reasons
	broken         bool // a package failed, which a test in it need not have
}

func newView(out io.Writer, strict bool) *view {
	return &view{out: out, strict: strict, output: map[testName][]string{}}
}

func (v *view) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(v.out, lines.Text())
			continue
		}
		v.take(e)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(v.out, "testview:", err)
		v.broken = true
	}
}

func (v *view) take(e event) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(v.out, e.Output)
	case "build-fail":
		v.broken = true
	case "output":
		v.output[name] = append(v.output[name], e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			v.endPackage(e)
		} else {
			v.endTest(name, e.Action)
		}
		delete(v.output, name)
	}
}

func (v *view) endTest(name testName, action string) {
	switch action {
	case "pass":
		v.passed++
	case "fail":
		v.failed++
		fmt.Fprintf(v.out, "FAIL  %s %s\n", name.pkg, name.test)
		v.show(name)
	case "skip":
		output := strings.Join(v.output[name], "")
		if slices.ContainsFunc(testneeds.Excused, func(text string) bool { return strings.Contains(output, text) }) {
			v.absent++
			return
		}
		v.skipped++
		fmt.Fprintf(v.out, "skip  %s %s\n", name.pkg, name.test)
		v.show(name)
	}
}

// show prints what a test said, without the lines that go test adds.
func (v *view) show(name testName) {
	for _, line := range v.output[name] {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "===") && !strings.HasPrefix(t, "---") {
			fmt.Fprint(v.out, "      ", line)
		}
	}
}

func (v *view) endPackage(e event) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(v.out, "ok    %-32s %6.1f s\n", e.Package, e.Elapsed)
	case "fail":
		v.broken = true
		fmt.Fprintf(v.out, "FAIL  %s\n", e.Package)
		v.show(testName{e.Package, ""})
		for name := range v.output { // tests that a panic or a time-out kept from ending
			if name.pkg == e.Package && name.test != "" {
				fmt.Fprintf(v.out, "FAIL  %s %s (did not end)\n", name.pkg, name.test)
				v.show(name)
				delete(v.output, name)
			}
		}
	}
}

// finish prints the count and reports whether all is well.
func (v *view) finish(title string) bool {
	if title != "" {
		title = " " + title
	}
	fmt.Fprintf(v.out, "%d tests passed%s, %d failed, %d skipped, %d more for want of what cannot be installed\n",
		v.passed, title, v.failed, v.skipped, v.absent)
	ok := v.failed == 0 && !v.broken && v.passed > 0
	if v.strict && v.skipped > 0 {
		fmt.Fprintf(v.out, "%d tests were skipped for a reason that does not hold when CI=true\n", v.skipped)
		ok = false
	}
	return ok
}
