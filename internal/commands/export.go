package commands

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/moves"
	"shadow/internal/servers"
	"shadow/report/format"
)

func newExport() *cobra.Command {
	f := new(moves.Export)
	cmd := &cobra.Command{
		Use:   "export [LOG…] --to SERVER",
		Short: "Write a limit as a server is told it, in a dry run first",
		Long: `Export writes a --limit or a --policy as lines to paste for a server, with its requests, its key and the clients that
are exempt. They refuse nothing at first, where the server can do that; a comment says how to enforce them.

A limit that the server does not have is rounded to the nearest one that it has, and what deviates is said. With logs, both
are replayed: which clients the rounded one newly hits and which it releases. What the server cannot say is left out, and
said on standard error and in comments; the exit code is then 3.`,
		Example: `  shadow export --limit token:10/s,burst=20 --to nginx
  shadow export --policy login --to haproxy --check
  shadow export access.log --policy login --to envoy
  shadow export --policy login --to aws-waf > rules.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return logArgs(cmd, args)
			}
			return checkedArgs(args, f.Check)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.To == "" {
				return pipeline.Usage("for which server? Say --to with one of %s\nSee `%s --help`.",
					strings.Join(servers.TargetNames(), ", "), cmd.CommandPath())
			}
			f.Caller = callerOf(cmd)
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addTarget(cmd, &f.To)
	addPolicies(cmd, &f.Choice)
	addCheck(cmd, &f.Check)
	addOutput(cmd, &f.Output, "lines", format.Outputs())
	addTop(cmd, &f.Top)
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	addJudging(cmd, &f.Logs)
	return cmd
}

// addTarget adds the flag that names a server to write for.
func addTarget(cmd *cobra.Command, to *string) {
	option.OneOf(servers.TargetNames()...).Add(cmd, to, "to", "the `server` to write for: "+strings.Join(servers.TargetNames(), ", "))
}

// checkedArgs complains about a configuration in the place of a log: --check takes its file behind an equals sign.
func checkedArgs(args []string, check string) error {
	for _, arg := range args {
		if ending := filepath.Ext(arg); check == moves.CheckAlone && (ending == ".conf" || ending == ".cfg") {
			return pipeline.Usage("%q is no log: to judge the lines in it, say --check=%s", arg, arg)
		}
	}
	return nil
}

// addCheck adds the flag that has lines judged.
func addCheck(cmd *cobra.Command, check *string) {
	cmd.Flags().StringVar(check, "check", "", "have the server's own program judge the lines (nginx, haproxy); "+
		"=`config`: into which they go, which must not lose a limit")
	cmd.Flags().Lookup("check").NoOptDefVal = moves.CheckAlone
}
