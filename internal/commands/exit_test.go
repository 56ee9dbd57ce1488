package commands

import (
	"errors"
	"testing"
)

func TestComplaintsAreHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31m.log: file does not exist": `a\x1b[31m.log: file does not exist`,
		"logfile: \u202egol.a: gone":         `\u202egol.a: gone`,
		"no format\n  first line: x":         "no format\n  first line: x",
	} {
		if got := complaint(t.Context(), errors.New(text)); got != want {
			t.Errorf("complaint about %q is %q, want %q", text, got, want)
		}
	}
}
