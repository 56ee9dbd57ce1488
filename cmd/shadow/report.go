package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"shadow/replay"
	"shadow/report"
	"shadow/store"
)

// reportFlags are the options of `shadow report` as they are given.
type reportFlags struct {
	outputFlags
	selectFlags
	historyFlags
	nightlyFlags
	readFlags
	quiet bool
}

func newReport() *cobra.Command {
	f := &reportFlags{}
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
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().SortFlags = false
	f.readFlags.add(cmd.Flags())
	f.selectFlags.add(cmd)
	f.historyFlags.add(cmd)
	f.outputFlags.add(cmd)
	f.nightlyFlags.add(cmd)
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print nothing (but JSON) unless there is something to say: a condition holds, or, without any, somebody is newly hit")
	return cmd
}

func (f *reportFlags) run(cmd *cobra.Command) error {
	if err := f.outputFlags.verify(); err != nil {
		return err
	}
	chosen, err := f.selectFlags.verify()
	if err != nil {
		return err
	}
	spare, err := f.historyFlags.verify()
	if err != nil {
		return err
	}
	scopes := []report.Scope{report.WithEvidence}
	if f.compare != compareNone {
		scopes = append(scopes, report.WithHistory)
	}
	night, err := f.nightlyFlags.verify(f.quiet, scopes...)
	if err != nil {
		return err
	}
	wait, err := f.readFlags.verify(cmd)
	if err != nil {
		return err
	}
	night.always = f.output == "json"
	db, err := store.OpenReader(cmd.Context(), f.db, wait)
	if err != nil {
		return err
	}
	defer db.Close()
	found := &pageMaker{db: db, anonymizer: night.anonymizer}
	model, err := f.model(cmd, found, chosen, spare, night.anonymizer)
	if err != nil {
		return err
	}
	if len(night.conditions) > 0 && found.curvesOnly() {
		return usage("--fail-if asks what policies do, and run %d, of shadow sweep, has none: choose a run of shadow replay with --run", found.runs[0].Run)
	}
	write := func() error { return f.write(cmd, model, found) }
	return night.finish(cmd, model, write, nil)
}

// write prints the report.
func (f *reportFlags) write(cmd *cobra.Command, model *report.Model, found *pageMaker) error {
	if found.curvesOnly() && f.output != "html" {
		return f.writeSweep(cmd, model, found)
	}
	if f.output != "html" {
		return model.Write(cmd.OutOrStdout(), f.output)
	}
	page, err := found.page(model)
	if err != nil {
		return err
	}
	return page.Write(cmd.OutOrStdout())
}

// model is the report on the runs that are chosen. It notes them in found.
func (f *reportFlags) model(cmd *cobra.Command, found *pageMaker, chosen selector, spare store.Spare, a *report.Anonymizer) (*report.Model, error) {
	db := found.db
	all, err := db.Runs()
	if err != nil {
		return nil, err
	}
	runs, err := chosen(all)
	if err != nil {
		return nil, err
	}
	loaded, err := db.Load(numbersOf(runs))
	if err != nil {
		return nil, err
	}
	found.loaded, found.all, found.runs = loaded, all, runs
	found.options = report.Options{
		Top: f.rows(cmd), Sort: f.sort, Width: widthOf(cmd.OutOrStdout()), Color: f.color(cmd.OutOrStdout()),
		Version: loaded.Version, Command: loaded.Command, Timezone: cmp.Or(loaded.Timezone, "UTC"),
		Warnings: slices.Concat(f.notes, loaded.Warnings), Database: f.db, Run: runsText(runs), Anonymize: a,
		Jury: replay.NewAssessor(loaded.Result, nil), Apart: apartOf(loaded.Apart),
	}
	model := report.New(loaded.Result, found.options)
	history, err := f.history(db, loaded, all, runs, spare, f.zone, f.top)
	if history != nil {
		model.SetHistory(history, a)
	}
	return model, err
}

// apartOf is what several runs judged by themselves, for a report.
func apartOf(found *store.Apart) *report.Apart {
	if found == nil {
		return nil
	}
	apart := &report.Apart{Runs: found.Runs, Clients: found.Clients, Requests: found.Requests}
	for _, c := range found.Top {
		apart.TopClients = append(apart.TopClients, report.ApartClient(c))
	}
	return apart
}

func numbersOf(runs []store.RunFact) []int32 {
	numbers := make([]int32, len(runs))
	for i := range runs {
		numbers[i] = runs[i].Run
	}
	return numbers
}

// runsText names runs by their numbers: "7", "3, 4".
func runsText(runs []store.RunFact) string {
	text := ""
	for i := range runs {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(runs[i].Run)
	}
	return text
}
