package main

import (
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
  shadow query "SELECT client, refused FROM latest_clients ORDER BY refused DESC LIMIT 10"`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w\nSee `%s --help`.", err, cmd.CommandPath())
	})
	root.AddCommand(newReplay(), newParse(), newFormats(), newQuery(), newVersion())
	for _, cmd := range root.Commands() {
		cmd.Args = usageArgs(cmd.Args)
	}
	root.Args = usageArgs(root.Args)
	return root
}

// usageArgs makes complaints about arguments errors of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usage("%w\nSee `%s --help`.", err, cmd.CommandPath())
		}
		return nil
	}
}
