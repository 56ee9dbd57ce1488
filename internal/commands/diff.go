package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/report/format"
)

func newDiff() *cobra.Command {
	f := new(pipeline.Diff)
	cmd := &cobra.Command{
		Use:   "diff LOG… --limit A --limit B",
		Short: "Compare two limits: who is newly hit, who is released, who is hit by both",
		Long: `Diff replays access logs by two policies, A and B, and says what would change for which clients if B took the
place of A: which clients and actions only B would hit (newly hit), which only A (released), and which
both, of what class they are, and whose refused requests differ most. Requests are compared one by one:
two limits that refuse as many need not refuse the same ones.

Each policy is a --limit, several limits joined by +, or a --policy of the configuration; the first named
is A, those of --limit before those of --policy. Two --limit stand for themselves: the policies of the
configuration then take no part unless --policy names them.`,
		Example: `  shadow diff access.log --limit token:6/30s --limit token:6/30s,burst=20
  shadow diff access.log --limit token:10/s --limit token:10/s+window:1000/1h --top 20
  shadow diff access.log --policy login --policy stricter --output html > diff.html
  shadow diff access.log --limit 6/30s --limit token:10/30s --fail-if 'newly_hit_people + newly_hit_offices > 0'`,
	}
	onLogs(cmd, &f.Caller, f.Run)
	addPolicies(cmd, &f.Choice)
	addFailIf(cmd, &f.Nightly, "B")
	addOutput(cmd, &f.Output, "comparison", format.PageOutputs())
	addTop(cmd, &f.Top)
	addReading(cmd, &f.Reading)
	addEvidence(cmd, &f.Evidence)
	addJudging(cmd, &f.Logs)
	return cmd
}

// addJudging adds the flags of commands that judge logs and keep nothing.
func addJudging(cmd *cobra.Command, f *pipeline.Logs) {
	addConfig(cmd, &f.Source, "actions, tiers and policies")
	addLimitsFrom(cmd, &f.Source)
	addLogs(cmd, f, "print nothing but the answer and errors", "report on standard error what is chosen and done")
}
