package commands

import (
	"github.com/spf13/cobra"

	"shadow/internal/commands/option"
	"shadow/internal/pipeline/stored"
	"shadow/internal/store"
	"shadow/limit"
	"shadow/report/explain"
	"shadow/report/format"
	"shadow/report/runs"
)

func newRuns() *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that a database keeps, show one, or delete some",
		Long: `Runs lists what shadow replay and shadow sweep have stored: number, when it was, which stretch of the
log it is about, and the command. What a run found is told by shadow report --run NUMBER.`,
		Example: `  shadow report runs
  shadow report runs show 7
  shadow report runs delete 3 4`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.print(cmd, nil) },
	}
	addDatabase(cmd.PersistentFlags(), &f.Database)
	list := &cobra.Command{
		Use: "list", Short: "List the runs", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.print(cmd, nil) },
	}
	show := &cobra.Command{
		Use: "show RUN", Short: "Show all that is known of a run but its results", Args: runArgs,
		Example: `  shadow report runs show last
  shadow report runs show 7 --output json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.print(cmd, args) },
	}
	for _, c := range []*cobra.Command{cmd, list, show} {
		addOutput(c, &f.output, "list", format.Outputs())
	}
	cmd.AddCommand(list, show, f.newDelete())
	return cmd
}

// runsFlags are the options of `shadow report runs` as they are given.
type runsFlags struct {
	stored.Database
	output string
}

// runArgs wants at least one run.
var runArgs = someArgs("which run? `shadow report runs` lists them\nSee `%s --help`.")

// print lists all runs or, with all that is known of them, those that are named.
func (f *runsFlags) print(cmd *cobra.Command, named []string) error {
	all, err := f.Runs(cmd.Context())
	if err != nil {
		return err
	}
	write := runs.Write
	if len(named) > 0 {
		write = runs.WriteFacts
		var chosen []store.RunFact
		for _, text := range named {
			run, err := stored.FindRun(all, text)
			if err != nil {
				return err
			}
			chosen = append(chosen, *run)
		}
		all = chosen
	}
	w := cmd.OutOrStdout()
	return write(w, f.output, widthOf(w), all)
}

func (f *runsFlags) newDelete() *cobra.Command {
	var older limit.Time
	cmd := &cobra.Command{
		Use:   "delete RUN…",
		Short: "Delete runs, and give back the room that they took",
		Long: `Delete forgets runs with all that is kept of them, all of those that are named or none. Numbers of
other runs stay as they are.`,
		Example: `  shadow report runs delete 3 4
  shadow report runs delete --older-than 90d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if older == 0 {
				if err := runArgs(cmd, args); err != nil {
					return err
				}
			}
			return f.Delete(cmd.Context(), cmd.OutOrStdout(), f.output, args, older)
		},
	}
	addOutput(cmd, &f.output, "answer", explain.CalcFormats())
	option.Period.Add(cmd, &older, "older-than", "also delete what was stored longer ago than this `duration`")
	return cmd
}
