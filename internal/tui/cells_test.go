package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"shadow/internal/tail"
)

// sameColumns wants the terminal library to give a line the cells that the picture counts, and a cell a bounded text.
func sameColumns(line string) error {
	plain := ansi.Strip(line)
	if got, want := ansi.WcWidth.StringWidth(cells(plain, false)), columns(plain); got != want {
		return fmt.Errorf("%q has %d cells, want %d columns", plain, got, want)
	}
	if got, want := ansi.GraphemeWidth.StringWidth(cells(plain+"  .", true)), columns(plain)+3; got != want {
		return fmt.Errorf("%q has %d cells in clusters, want %d columns", plain, got, want)
	}
	for rest := plain; rest != ""; {
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if n := utf8.RuneCountInString(cluster); n > mostInCell {
			return fmt.Errorf("%q shares a cell: %d characters", cluster, n)
		}
		rest = rest[len(cluster):]
	}
	return nil
}

// Whatever way a terminal counts, what stands beside names has its column, as the library sees it.
func TestCells(t *testing.T) {
	for _, clusters := range []bool{false, true} {
		m := newModel(Options{Feed: new(tail.Feed), Notes: NewNotes(os.Stderr, true)})
		m.frame = *scripts()
		m.frame.Width, m.frame.Height, m.frame.Color = 100, 24, true
		how := ansi.WcWidth
		if clusters {
			how = ansi.GraphemeWidth
			m.Update(tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeSet})
			if m.clusters {
				t.Error("another mode counts")
			}
			m.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		}
		m.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeNotRecognized})
		found, column := 0, 0
		for line := range strings.SplitSeq(m.View().Content, "\n") {
			if before, _, ok := strings.Cut(line, "   0 s"); ok {
				if at := how.StringWidth(before); column == 0 {
					column = at
				} else if at != column {
					t.Errorf("clusters %t: column %d, want %d: %s", clusters, at, column, line)
				}
				found++
			}
		}
		if found < 10 {
			t.Errorf("clusters %t: %d names", clusters, found)
		}
	}
}
