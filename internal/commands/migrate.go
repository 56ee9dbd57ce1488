package commands

import (
	"cmp"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/moves"
	"shadow/internal/suggest"
	"shadow/report/format"
)

func newMigrate() *cobra.Command {
	f := new(moves.Migrate)
	cmd := &cobra.Command{
		Use:   "migrate LOG… --from FILE --to SERVER",
		Short: "Take the limits of a server to another one: who is newly hit, and lines to paste",
		Long: `Migrate reads the limits of a server's configuration, as shadow import does, and writes the nearest ones of another
server, as shadow export does. It replays both, A as the configuration has them and B as the other server would, and says
which clients the move newly hits and which it releases.

If that breaks a promise (--protect), it looks for the smallest correction on the other server's own grid that keeps it: a
larger burst, or a larger count where there is no burst. The report ends in lines to paste.`,
		Example: `  shadow migrate access.log --from ingress.yaml --to traefik
  shadow migrate access.log --from /etc/nginx/nginx.conf --to envoy --protect all=99.9%
  shadow migrate access.log --from haproxy.cfg --to nginx --check`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(logArgs(cmd, args), checkedArgs(args, f.Check))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.To == "" || len(f.LimitsFrom) == 0 {
				return pipeline.Usage("from where to where? Say --from FILE and --to SERVER\nSee `%s --help`.", cmd.CommandPath())
			}
			f.Caller, f.LimitsFlag = callerOf(cmd), "from"
			return f.Run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.LimitsFrom, "from", nil, "the configuration of the server to move limits from (`file`, repeatable)")
	addTarget(cmd, &f.To)
	flags.StringArrayVar(&f.Chosen, "policy", nil, "the policy of --from to move; by default each in turn (`name`)")
	goal := option.Domain[suggest.Goal]{Parse: suggest.ParseGoal, Text: suggest.Goal.String}
	goal.AddList(cmd, &f.Protect, true, "protect", "the share of which clients must not be newly hit (`who=share`, repeatable; "+
		"default browsers=100%)")
	addFailIf(cmd, &f.Nightly, "the limits that are written")
	addCheck(cmd, &f.Check)
	addOutput(cmd, &f.Output, "report", format.Outputs())
	addTop(cmd, &f.Top)
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	evidenceByDefault(cmd, &f.Evidence)
	addConfig(cmd, &f.Source, "actions, tiers and exempt clients")
	addLogs(cmd, &f.Logs, "print nothing but the answer and errors", "report on standard error what is chosen and done")
	return cmd
}
