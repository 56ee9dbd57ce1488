package apachecfg

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"A b c":                        `[{1 ["A" "b" "c"]}]`,
		"\n  A \"b c\"\td\r\nE":        `[{2 ["A" "b c" "d"]} {3 ["E"]}]`,
		"A \\\n  b \\\n c\nD":          `[{1 ["A" "b" "c"]} {4 ["D"]}]`,
		"# A \\\n b\nC":                `[{3 ["C"]}]`,
		`A "b \" c" 'd \' e' f\.g\\ h`: `[{1 ["A" "b \" c" "d ' e" "f\\.g\\" "h"]}]`,
		`A "b\.c" "d`:                  `[{1 ["A" "b\\.c" "d"]}]`,
		`A "" b#c`:                     `[{1 ["A" "" "b#c"]}]`,
		"A b \\":                       `[{1 ["A" "b"]}]`,
		"":                             "[]",
	} {
		var got []string
		for _, d := range Parse(text) {
			got = append(got, fmt.Sprintf("{%d %q}", d.Line, d.Words))
		}
		if text := fmt.Sprint(got); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
