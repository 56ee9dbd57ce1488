package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"shadow/pipeline"
)

// newHelp stands in for cobra's own help command, to which an unknown command is no error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return pipeline.Usage("%w", err)
			}
			if len(rest) > 0 {
				return noCommand(about, rest)
			}
			about.InitDefaultHelpFlag() // so that it is listed
			about.InitDefaultVersionFlag()
			return about.Help()
		},
		ValidArgsFunction: completeCommand,
	}
}

// completeCommand completes the name of a command below those that are typed already.
func completeCommand(cmd *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		for _, sub := range about.Commands() {
			if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), typed) {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// watchHelp returns what went wrong when help was written, of which cobra takes no notice.
func watchHelp(root *cobra.Command) (failed func() error) {
	var watched watchedWriter
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		watched.Writer = out
		cmd.SetOut(&watched)
		help(cmd, args)
		cmd.SetOut(out)
	})
	return func() error { return watched.err }
}

// A watchedWriter remembers the first error.
type watchedWriter struct {
	io.Writer
	err error
}

func (w *watchedWriter) Write(text []byte) (int, error) {
	n, err := w.Writer.Write(text)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
