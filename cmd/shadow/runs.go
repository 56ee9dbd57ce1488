package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"shadow/report"
	"shadow/store"
)

func newRuns() *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that a database keeps, show one, or delete some",
		Long: `Runs lists what shadow replay and shadow sweep have stored: number, when it was, which stretch of the
log it is about, and the command. What a run found is told by shadow report --run NUMBER.`,
		Example: `  shadow runs
  shadow runs show 7
  shadow runs delete 3 4`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd) },
	}
	f.readFlags.add(cmd.PersistentFlags())
	list := &cobra.Command{
		Use: "list", Short: "List the runs", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd) },
	}
	show := &cobra.Command{
		Use: "show RUN", Short: "Show all that is known of a run but its results", Args: runArgs,
		Example: `  shadow runs show last
  shadow runs show 7 --output json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.show(cmd, args) },
	}
	for _, c := range []*cobra.Command{cmd, list, show} {
		addOutput(c, &f.output, "list")
	}
	cmd.AddCommand(list, show, f.newDelete())
	return cmd
}

// runsFlags are the options of `shadow runs` as they are given.
type runsFlags struct {
	readFlags
	output string
}

// runArgs wants at least one run.
func runArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("which run? `shadow runs` lists them\nSee `%s --help`.", cmd.CommandPath())
	}
	return nil
}

func (f *runsFlags) list(cmd *cobra.Command) error {
	if err := verifyOutput(f.output); err != nil {
		return err
	}
	runs, err := f.runs(cmd)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	return report.WriteRuns(w, f.output, widthOf(w), runFacts(runs))
}

func (f *runsFlags) show(cmd *cobra.Command, args []string) error {
	if err := verifyOutput(f.output); err != nil {
		return err
	}
	runs, err := f.runs(cmd)
	if err != nil {
		return err
	}
	var shown []report.Run
	for _, arg := range args {
		run, err := findRun(runs, arg)
		if err != nil {
			return err
		}
		shown = append(shown, report.Run(*run))
	}
	w := cmd.OutOrStdout()
	return report.WriteRunFacts(w, f.output, widthOf(w), shown)
}

// runs lists the runs of the database.
func (f *readFlags) runs(cmd *cobra.Command) ([]store.RunFact, error) {
	wait, err := f.verify(cmd)
	if err != nil {
		return nil, err
	}
	r, err := store.OpenReader(cmd.Context(), f.db, wait)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Runs()
}

// findRun is the run of that number, or the last one.
func findRun(runs []store.RunFact, text string) (*store.RunFact, error) {
	if text == "last" && len(runs) > 0 {
		return &runs[len(runs)-1], nil
	}
	if err := verifyRun(text); err != nil {
		return nil, err
	}
	for i := range runs {
		if fmt.Sprint(runs[i].Run) == text {
			return &runs[i], nil
		}
	}
	return nil, noRun(runs, text)
}

func verifyRun(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); text != "last" && (err != nil || n < 1) {
		return usage("run %q: want the number of a run, or last", text)
	}
	return nil
}

// noRun says that there is no such run, and which there are.
func noRun(runs []store.RunFact, text string) error {
	if len(runs) == 0 {
		return fmt.Errorf("the database has no runs yet: shadow replay makes one")
	}
	return fmt.Errorf("there is no run %s: the database has %d, from %d to %d (`shadow runs` lists them)",
		text, len(runs), runs[0].Run, runs[len(runs)-1].Run)
}

func runFacts(runs []store.RunFact) []report.Run {
	facts := make([]report.Run, len(runs))
	for i := range runs {
		facts[i] = report.Run(runs[i])
	}
	return facts
}
