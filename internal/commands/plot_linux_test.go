package commands

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Plots are as wide as the terminal, less a margin for labels, and coloured where that is wanted.
func TestPlotsOnTerminals(t *testing.T) {
	for _, args := range [][]string{
		{"limits", "calc", "--capacity", "5000", "--refill", "100/s", "--initial", "0", "--pattern", "burst:500@10s"},
		{"limits", "explain", "token:6/30s,burst=10"},
	} {
		for _, columns := range []int{50, 100, 150} {
			out := onTerminal(t, uint16(columns), []string{"TERM=xterm", "NO_COLOR=1"}, args...)
			widest := 0
			for line := range strings.Lines(out) {
				widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\r\n")))
			}
			if widest > columns || widest < columns-12 || strings.Contains(out, "\x1b") {
				t.Errorf("%d columns: the widest line has %d\n%s", columns, widest, out)
			}
		}
		if out := onTerminal(t, 100, []string{"TERM=xterm", "NO_COLOR="}, args...); !strings.Contains(out, "\x1b[") {
			t.Errorf("no colours on a terminal:\n%q", out)
		}
	}
}
