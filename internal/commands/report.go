package commands

import (
	"time"

	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline/stored"
	"shadow/internal/store"
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
			unlessGiven(cmd, "run", &f.Selection.Run)
			return f.Run(cmd.Context())
		},
	}
	cmd.AddCommand(newRuns())
	flags := cmd.Flags()
	flags.SortFlags = false
	addDatabase(flags, &f.Database)
	f.Selection.Run, f.Timezone, f.Compare, f.Protect = "last", time.UTC, stored.ComparePrevious, stored.DefaultProtect
	option.Verified(stored.VerifyRun).Add(cmd, &f.Selection.Run, "run", "`number` of the run, or last")
	option.Moment.Add(cmd, &f.Since, "since",
		"combine all runs with requests since a `moment` (2026-11-19, yesterday, 7d)")
	option.Moment.Add(cmd, &f.Day, "day", "the run that covers most of a `day` (2026-11-19, yesterday)")
	option.Zone.Add(cmd, &f.Timezone, "timezone", "`zone` of days, and of dates that name none, such as "+
		"Europe/Berlin, +02:00 or Local")
	option.OneOf(stored.ComparePrevious, stored.CompareWeek, stored.CompareNone).Add(cmd, &f.Compare, "compare",
		"`what` to compare with: previous run, runs of the 7d before, or none")
	option.Domain[store.Spare]{What: "string", Parse: stored.ParseProtect, Text: stored.FormatProtect}.Add(cmd, &f.Protect,
		"protect", "for runs with curves: the `class=share` of clients that a safe limit must not hit")
	addLook(cmd, &f.Look)
	addNightly(cmd, &f.Nightly)
	addAnonymity(cmd, &f.Anonymity)
	flags.BoolVar(&f.Details, "details", false, "show all tables, not only what has changed (in text and Markdown; other outputs have all)")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print nothing (but JSON) unless a --fail-if "+
		"condition holds or, without any, a client is newly hit")
	option.CompleteWords(cmd, "run", "last")
	return cmd
}
