//go:build linux || darwin

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A table is what a group prints: measured figures, and beside them what they should be.
type table struct {
	*tabwriter.Writer
}

func newTable(w io.Writer, title, header string) table {
	fmt.Fprintf(w, "\n%s\n", title)
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	fmt.Fprintln(t, header)
	return t
}

// speed is a row: name, time, lines/s, MB/s, CPU time a line, ratio to a base, target.
func (t table) speed(c, base *contender, log logSize, target string) {
	s := c.seconds()
	fmt.Fprintf(t, "%s\t%.3f\t%.2f M\t%.0f\t%.1f\t%.2f\t%s\t\n",
		c.name, s, float64(log.lines)/s/1e6, float64(log.bytes)/s/1e6, c.cpuPer(log.lines), c.times(base), target)
}

type logSize struct{ lines, bytes int64 }

// atMost judges a figure: "1.23 of at most 2".
func (b *bench) atMost(what string, got, limit float64) string {
	verdict := "met"
	if got > limit {
		verdict = "MISSED"
		b.missed++
	}
	return fmt.Sprintf("%s%.2f, at most %g: %s", what, got, limit, verdict)
}

func (b *bench) atLeast(what string, got, limit float64) string {
	verdict := "met"
	if got < limit {
		verdict = "MISSED"
		b.missed++
	}
	return fmt.Sprintf("%s%.2f, at least %g: %s", what, got, limit, verdict)
}
