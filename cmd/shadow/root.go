package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot is the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "shadow",
		Short: "What should our rate limit be, and who would it hit?",
		Long: `shadow replays nginx and Apache access logs, by their own time stamps, through rate limiters.
It blocks nobody: it reports which clients and which actions each candidate limit would have
throttled, how many of them are browsers and how many are not, and keeps every would-block
event in a DuckDB file for your own questions.`,
		Example: `  shadow replay access.log --limit 6/30s              token, leaky and window side by side
  shadow replay /var/log/nginx --limit 5..50:5/30s    a range of limits over all rotations
  zcat access.log.*.gz | shadow replay - --limit token:10/s,burst=20
  shadow query "SELECT policy, client, refused FROM latest_client_totals ORDER BY refused DESC LIMIT 10"`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2 // letters
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newReplay(), newParse(), newFormats(), newQuery(), newCalc(), newLimits(), newVersion())
	return root
}

// noCommand complains about a word that is no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(", did you mean %s?", strings.Join(near, " or "))
	}
	return usage("unknown command %q%s\nSee `%s --help`.", args[0], hint, cmd.CommandPath())
}

// logArgs wants at least one log.
func logArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("which log? Name files, directories, or - for standard input\nSee `%s --help`.", cmd.CommandPath())
	}
	return nil
}

// noArgs wants nothing but flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, but here is %q\nSee `%s --help`.", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}
