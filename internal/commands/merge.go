package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/pipeline"
	"shadow/internal/pipeline/stored"
	"shadow/report/explain"
)

func newMerge() *cobra.Command {
	var into, output string
	cmd := &cobra.Command{
		Use:   "merge DATABASE…",
		Short: "Gather the runs of several databases, as those of several hosts, in one",
		Long: `Merge copies the runs of databases into the one that --db names, which is made if it is not there.
The others stay as they are. All of them are taken in, or none, if one cannot be. Runs get new numbers. A run that is
there already is passed over, so the databases of several hosts can be merged every morning, and shadow report --since
yesterday puts their runs together.

Merge adds up what each host judged by itself. A client that several hosts served was judged by a part of its requests
at each, so a limit that the hosts share would refuse more: the report names the clients that runs of the same time have
in common, and how many requests are theirs. What such a limit refuses tells a replay of all logs together, or tails with
--redis.`,
		Example: `  shadow merge web1.db web2.db --db all.db
  shadow report --db all.db --since yesterday`,
		Args: someArgs("which databases?\nSee `%s --help`."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return stored.Merge(cmd.Context(), cmd.OutOrStdout(), output, into, args)
		},
	}
	cmd.Flags().StringVar(&into, "db", pipeline.DefaultDB, "`folder` that takes the runs in")
	addOutput(cmd, &output, "answer", explain.CalcFormats())
	return cmd
}
