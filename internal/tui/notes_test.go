package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestNotes(t *testing.T) {
	var out bytes.Buffer
	n := NewNotes(&out, true)
	fmt.Fprintln(n, "shadow: before")
	n.pause()
	fmt.Fprintf(n, "12:00 a summary\n  of two lines\n")
	fmt.Fprintln(n, "shadow: meanwhile")
	fmt.Fprintln(n, "12:01 a summary")
	if out.String() != "shadow: before\n" || n.last() != "meanwhile" {
		t.Errorf("%q, the last is %q", out.String(), n.last())
	}
	n.release()
	fmt.Fprintln(n, "shadow: after")
	if want := "shadow: before\n12:00 a summary\n  of two lines\nshadow: meanwhile\n12:01 a summary\nshadow: after\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// A tail that complains for days fills no memory.
func TestNotesAreBounded(t *testing.T) {
	var out bytes.Buffer
	n := NewNotes(&out, true)
	n.pause()
	for i := range mostHeld + 500 {
		fmt.Fprintf(n, "shadow: %d\n", i)
	}
	n.release()
	if lines := strings.Split(out.String(), "\n"); len(lines) != mostHeld+2 || lines[0] != "shadow: 500 earlier lines are left out here" || lines[1] != "shadow: 500" {
		t.Errorf("%d lines, %q", len(lines), lines[:2])
	}
}

// What goes to a file goes there at once.
func TestNotesInFile(t *testing.T) {
	var out bytes.Buffer
	n := NewNotes(&out, false)
	n.pause()
	fmt.Fprintln(n, "shadow: at once")
	if out.String() != "shadow: at once\n" || n.last() != "at once" {
		t.Errorf("%q, the last is %q", out.String(), n.last())
	}
}
