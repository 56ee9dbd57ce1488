package main

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"shadow/report"
	"shadow/report/format"
	"shadow/report/html"
)

// outputFlags say how a report looks.
type outputFlags struct {
	output string
	top    int
	sort   string
}

func (f *outputFlags) add(cmd *cobra.Command) {
	addOutput(cmd, &f.output, "report", "html")
	cmd.Flags().IntVar(&f.top, "top", report.DefaultTop, "`rows` per list of clients and actions")
	cmd.Flags().StringVar(&f.sort, "sort", report.Sorts()[0], "`order` of the lists: "+strings.Join(report.Sorts(), ", "))
	completeWords(cmd, "sort", report.Sorts()...)
}

func (f *outputFlags) verify() error {
	switch {
	case !slices.Contains(report.Sorts(), f.sort):
		return usage("--sort %q: want one of %s", f.sort, strings.Join(report.Sorts(), ", "))
	case f.top < 1:
		return usage("--top %d: want at least 1", f.top)
	}
	return verifyOutput(f.output, "html")
}

// rows are those per list: on a page, where they can be searched, more than elsewhere unless --top says otherwise.
func (f *outputFlags) rows(cmd *cobra.Command) int {
	if f.output == "html" && !cmd.Flags().Changed("top") {
		return html.MostRows
	}
	return f.top
}

// addOutput adds the flag --output to a command that prints a table of some kind, and may know more formats.
func addOutput(cmd *cobra.Command, output *string, what string, more ...string) {
	formats := append(format.Outputs(), more...)
	cmd.Flags().StringVarP(output, "output", "o", "table", "`format` of the "+what+": "+strings.Join(formats, ", "))
	completeWords(cmd, "output", formats...)
}

func verifyOutput(output string, more ...string) error {
	formats := append(format.Outputs(), more...)
	if !slices.Contains(formats, output) {
		return usage("--output %q: want one of %s", output, strings.Join(formats, ", "))
	}
	return nil
}

// widthOf is how many columns the terminal behind w has, 0 if there is none. Where COLUMNS is exported it goes before that, also
// for what is no terminal.
func widthOf(w io.Writer) int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
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

// color reports whether w may get colours: it is a terminal, and its user has not asked for none (no-color.org).
func (f *outputFlags) color(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
