package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/cmd/shadow/help"
	"shadow/cmd/shadow/option"
	"shadow/limit"
	"shadow/pipeline"
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
		Example: `  shadow suggest access.log                           what should the limit be? names one, with its price
  shadow doctor access.log                            what is odd about this log, and which flags help
  shadow sweep access.log                             every limit at once: what each refuses, and which clients it hits
  shadow keys access.log                              what to count by: client, agent, network or user
  shadow replay access.log --limit 6/30s              token, leaky and window side by side
  shadow replay /var/log/nginx --limit 5..50:5/30s    a range of limits over all rotations
  zcat access.log.*.gz | shadow replay - --limit token:10/s,burst=20
  shadow explain 203.0.113.7 access.log --limit 6/30s what became of one client, and what it would have needed
  shadow calibrate access.log                         which limit did the server have? by what it refused
  shadow diff access.log --limit token:6/30s --limit token:6/30s,burst=20   who is released, who is newly hit
  shadow report --compare 7d                          a stored run again, and what has changed in a week
  shadow query "SELECT policy, client, refused FROM latest_client_totals ORDER BY refused DESC LIMIT 10"`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          showHelp,

		PersistentPreRunE: option.TakeDefaults,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(option.FlagError)
	root.SetHelpCommand(help.New(noCommand))
	root.AddCommand(newSuggest(), newDoctor(), newReplay(), newSweep(), newKeys(), newCalibrate(), newExplainClient(), newDiff(), newImport(), newExport(), newMigrate(), newCheckConfig(),
		newConfig(), newLimits(), newCalc(), newParse(),
		newFormats(), newReport(), newRuns(), newShard(), newMerge(), newTail(), newQuery(), newVersion(),
		&cobra.Command{Use: "fail-if", Short: "What --fail-if may ask: the names of conditions", Long: help.FailIf()})
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil { // a shell that is not known is an error
		completion.Args, completion.RunE = noCommand, showHelp
	}
	option.CompleteConfigured(root)
	help.GroupFlags(root, widthOf)
	return root
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noCommand complains about a word that is no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near, names := "", []string{}
	for _, sub := range cmd.Commands() {
		if names = append(names, sub.Name()); near == "" && args[0] != "" && strings.HasPrefix(sub.Name(), args[0]) {
			near = sub.Name()
		}
	}
	hint := ""
	if near = cmp.Or(near, limit.Nearest(args[0], names)); near != "" {
		hint = fmt.Sprintf(", did you mean %s?", near)
	}
	return pipeline.Usage("unknown command %q%s\nSee `%s --help`.", args[0], hint, cmd.CommandPath())
}

// logArgs wants at least one log.
func logArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return pipeline.Usage("which log? Name files, directories, or - for standard input\nSee "+
			"`%s --help`.", cmd.CommandPath())
	case slices.Contains(args, ""):
		return pipeline.Usage("the name of a log is empty: name files, directories, or - for standard input")
	}
	return nil
}

// noArgs wants nothing but flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return pipeline.Usage("%s takes no arguments, but here is %q\nSee `%s --help`.", cmd.Name(), args[0],
			cmd.CommandPath())
	}
	return nil
}
