package main

import (
	"github.com/spf13/cobra"

	"shadow/pipeline/stored"
)

func newReport() *cobra.Command {
	f := new(stored.Report)
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report on stored runs again, without reading logs, and on what has changed",
		Long: `Report prints what a stored run found, as shadow replay did, from the database alone. Runs of one
day, or since a moment, are put together: a client, an action and a policy are the same when their names are.`,
		Example: `  shadow report
  shadow report --run 7 --output markdown
  shadow report --day 2026-11-19
  shadow report --since yesterday --output json | jq .policies`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Caller = callerOf(cmd)
			pageTop(cmd, &f.Look)
			return f.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addDatabase(flags, &f.Database)
	flags.StringVar(&f.Selection.Run, "run", "last", "`number` of the run, or last")
	flags.StringVar(&f.Since, "since", "", "all runs with requests since a `moment` (2026-11-19, yesterday, 7d), put together")
	flags.StringVar(&f.Day, "day", "", "the run that is about most of a `day` (2026-11-19, yesterday)")
	flags.StringVar(&f.Timezone, "timezone", "UTC", "`zone` of days, and of dates that do not name theirs, such as Europe/Berlin or Local")
	flags.StringVar(&f.Compare, "compare", stored.ComparePrevious, "`what` to compare with: previous run, runs of the 7d before, or none")
	flags.StringVar(&f.Protect, "protect", "browsers=99.9%", "the `class=share` of clients that a safe limit does not hit, of runs with curves")
	addLook(cmd, &f.Look)
	addNightly(cmd, &f.Nightly)
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print nothing (but JSON) unless there is something to say: a condition holds, or, without any, somebody is newly hit")
	completeWords(cmd, "run", "last")
	completeWords(cmd, "compare", stored.ComparePrevious, stored.CompareWeek, stored.CompareNone)
	return cmd
}
