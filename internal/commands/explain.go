package commands

import (
	"os"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline"
	"shadow/report/client"
)

func newExplainClient() *cobra.Command {
	f := new(pipeline.Explain)
	cmd := &cobra.Command{
		Use:   "explain CLIENT LOG… [--limit LIMIT…]",
		Short: "Tell what one client did, which of its requests a limit refuses, and what it would have needed",
		Long: `Explain replays access logs, as replay does, and tells of one client: what it sent and when, how full each
limit was meanwhile, which of its requests were refused, how long each of them would have had to wait,
and what the limit would have had to be.

CLIENT is a client as replay reports it: an address, or whatever --client says. With --client addr/24 an
address stands for its prefix.

"needs burst=19" at a refusal: 19 is the smallest burst with which the limit refuses none of the client's
requests up to and including this one, all else left as it is. For limits without a burst it is the
smallest count. Of several limits each needs its own. A limit that other clients share (--by site, host,
action) judges by what they do, too; it is not told what that one would have needed.`,
		Example: `  shadow explain 203.0.113.201 access.log --limit token:6/30s
  shadow explain 203.0.113.201 access.log --limit token:6/30s --lines --top 5
  shadow explain 203.0.113.201 access.log --limit token:6/30s --output html > client.html
  shadow explain alice access.log --client user --limit 10/s+window:1000/1h --output json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return pipeline.Usage("which client? Name one as replay reports it, such as 203.0.113.7, and then the logs\nSee "+
					"`%s --help`.", cmd.CommandPath())
			}
			if _, err := os.Stat(args[0]); len(args) == 1 && err == nil {
				return pipeline.Usage("which client? %s is a log: name a client as replay reports it before it, as in %s "+
					"203.0.113.7 %[1]s", args[0], cmd.CommandPath())
			}
			return logArgs(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Caller, f.Client = callerOf(cmd), args[0]
			return f.Run(cmd.Context(), args[1:])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addPolicies(cmd, &f.Choice)
	addOutput(cmd, &f.Output, "account", client.Outputs())
	f.Top = client.DefaultRefusals
	option.AtLeast(1, "").Add(cmd, &f.Top, "top", "`refusals` to list for each policy")
	flags.BoolVar(&f.Lines, "lines", false, "show the log lines of the listed refusals, "+
		"read again from the logs")
	flags.BoolVar(&f.NoPlot, "no-plot", false, "draw no plots")
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	evidenceByDefault(cmd, &f.Evidence) // of one client it is worth its time
	addJudging(cmd, &f.Logs)
	return cmd
}
