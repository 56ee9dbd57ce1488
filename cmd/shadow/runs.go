package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"shadow/report/runs"
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
	all, err := f.runs(cmd)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	return runs.Write(w, f.output, widthOf(w), runFacts(all))
}

func (f *runsFlags) show(cmd *cobra.Command, args []string) error {
	if err := verifyOutput(f.output); err != nil {
		return err
	}
	all, err := f.runs(cmd)
	if err != nil {
		return err
	}
	var shown []runs.Run
	for _, arg := range args {
		run, err := findRun(all, arg)
		if err != nil {
			return err
		}
		shown = append(shown, runs.Run(*run))
	}
	w := cmd.OutOrStdout()
	return runs.WriteFacts(w, f.output, widthOf(w), shown)
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
func findRun(all []store.RunFact, text string) (*store.RunFact, error) {
	if text == "last" && len(all) > 0 {
		return &all[len(all)-1], nil
	}
	if err := verifyRun(text); err != nil {
		return nil, err
	}
	for i := range all {
		if fmt.Sprint(all[i].Run) == text {
			return &all[i], nil
		}
	}
	return nil, noRun(all, text)
}

func verifyRun(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); text != "last" && (err != nil || n < 1) {
		return usage("run %q: want the number of a run, or last", text)
	}
	return nil
}

// noRun says that there is no such run, and which there are.
func noRun(all []store.RunFact, text string) error {
	if len(all) == 0 {
		return fmt.Errorf("the database has no runs yet: shadow replay makes one")
	}
	return fmt.Errorf("there is no run %s: the database has %d, from %d to %d (`shadow runs` lists them)",
		text, len(all), all[0].Run, all[len(all)-1].Run)
}

func runFacts(all []store.RunFact) []runs.Run {
	facts := make([]runs.Run, len(all))
	for i := range all {
		facts[i] = runs.Run(all[i])
	}
	return facts
}
