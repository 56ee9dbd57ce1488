package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrapHelp has the lists of flags wrapped at the width of the terminal, if there is one. What stands before them has lines of
// its own.
func wrapHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("wrapped", func(cmd *cobra.Command, flags *pflag.FlagSet) string {
		return flags.FlagUsagesWrapped(helpWidth(cmd.OutOrStdout()))
	})
	template := root.UsageTemplate()
	for _, flags := range []string{".LocalFlags", ".InheritedFlags"} {
		template = strings.ReplaceAll(template, "{{"+flags+".FlagUsages |", "{{wrapped . "+flags+" |")
	}
	root.SetUsageTemplate(template)
}

// leastHelp is the width below which wrapping leaves a word on each line.
const leastHelp = 60

// helpWidth is at how many columns to wrap; 0: not at all.
func helpWidth(w io.Writer) int {
	if watched, ok := w.(*watchedWriter); ok {
		w = watched.Writer
	}
	if width := widthOf(w); width >= leastHelp {
		return width
	}
	return 0
}
