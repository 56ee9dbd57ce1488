package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"shadow/report"
)

// outputFlags say how a report looks.
type outputFlags struct {
	output string
	top    int
	sort   string
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "table", "`format` of the report: "+strings.Join(report.Formats(), ", "))
	flags.IntVar(&f.top, "top", report.DefaultTop, "rows per list of clients and actions")
	flags.StringVar(&f.sort, "sort", report.Sorts()[0], "`order` of the lists: "+strings.Join(report.Sorts(), ", "))
}

func (f *outputFlags) verify() error {
	switch {
	case !slices.Contains(report.Formats(), f.output):
		return usage("--output %s: want one of %s", f.output, strings.Join(report.Formats(), ", "))
	case !slices.Contains(report.Sorts(), f.sort):
		return usage("--sort %s: want one of %s", f.sort, strings.Join(report.Sorts(), ", "))
	case f.top < 1:
		return usage("--top %d: want at least 1", f.top)
	}
	return nil
}

// width is how many columns the terminal behind w has, 0 if there is none.
func (f *outputFlags) width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// color tells whether w may get colours: it is a terminal, and its user has not asked for none (no-color.org).
func (f *outputFlags) color(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
