package limittest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected results")

// Golden compares got with the text in file, line by line, or with -update makes it the text in file.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(text), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("%s:%d:\nwant  %s\ngot   %s", file, i+1, strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""), line)
		}
	}
	if got != string(text) {
		t.Log("the text differs from the file; -update rewrites it")
		t.Fail()
	}
}
