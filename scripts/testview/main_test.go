package main

import (
	"strings"
	"testing"
)

const run = `
{"Action":"start","Package":"x/a"}
{"Action":"output","Package":"x/a","Test":"TestFine","Output":"=== RUN   TestFine\n"}
{"Action":"output","Package":"x/a","Test":"TestFine","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"x/a","Test":"TestFine","Elapsed":0.1}
{"Action":"output","Package":"x/a","Test":"TestReal","Output":"    a_test.go:9: logs is not here: ../shared is no part of the project\n"}
{"Action":"skip","Package":"x/a","Test":"TestReal","Elapsed":0}
{"Action":"pass","Package":"x/a","Elapsed":0.2}`

const (
	lazy = `
{"Action":"output","Package":"x/b","Test":"TestLazy","Output":"    b_test.go:9: too slow\n"}
{"Action":"skip","Package":"x/b","Test":"TestLazy","Elapsed":0}`
	wrong = `
{"Action":"output","Package":"x/b","Test":"TestWrong","Output":"    b_test.go:5: got 1, want 2\n"}
{"Action":"fail","Package":"x/b","Test":"TestWrong","Elapsed":0}
{"Action":"fail","Package":"x/b","Elapsed":0.2}`
	panicked = `
{"Action":"output","Package":"x/b","Test":"TestPanics","Output":"panic: index out of range\n"}
{"Action":"fail","Package":"x/b","Elapsed":0.2}`
	unbuilt = `
{"ImportPath":"x/b","Action":"build-output","Output":"b.go:3: undefined: x\n"}
{"ImportPath":"x/b","Action":"build-fail"}
{"Action":"fail","Package":"x/b","Elapsed":0,"FailedBuild":"x/b"}`
)

func TestView(t *testing.T) {
	for _, c := range []struct {
		name   string
		events string
		strict bool
		ok     bool
		says   string
	}{
		{"all well", run, true, true, "1 tests passed, 0 failed, 0 skipped, 1 more"},
		{"a skip at home", run + lazy, false, true, "too slow"},
		{"a skip in CI", run + lazy, true, false, "1 tests were skipped"},
		{"a failure", run + wrong, false, false, "got 1, want 2"},
		{"a panic", run + panicked, false, false, "index out of range"},
		{"a build that fails", run + unbuilt, false, false, "undefined: x"},
		{"no tests", "", false, false, "0 tests passed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			v := newView(&out, c.strict)
			v.read(strings.NewReader(strings.TrimSpace(c.events)))
			if ok := v.finish(""); ok != c.ok {
				t.Errorf("ok is %v, want %v", ok, c.ok)
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("no %q in\n%s", c.says, out.String())
			}
			if strings.Contains(out.String(), "chatter") {
				t.Error("output of a test that passed is shown")
			}
		})
	}
}
