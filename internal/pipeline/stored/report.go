package stored

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/store"
	"shadow/report"
)

// A Report is about stored runs again, without reading logs, and about what has changed.
type Report struct {
	pipeline.Caller
	pipeline.Look
	pipeline.Nightly
	pipeline.Anonymity
	Selection
	Database
	Compare string      // with what
	Protect store.Spare // the clients that a safe limit does not hit
	Quiet   bool
	Details bool // whether people read all of it, not only what has changed

	db      *store.Reader
	loaded  *store.Loaded
	all     []store.RunFact
	runs    []store.RunFact // that the report is about
	options report.Options
}

// Run verifies what is asked, and reports.
func (f *Report) Run(ctx context.Context) error {
	scopes := []report.Scope{report.WithIdentities}
	if f.Compare != CompareNone {
		scopes = append(scopes, report.WithHistory, report.WithRuns)
	}
	if err := f.Nightly.Verify(scopes...); err != nil {
		return err
	}
	if err := f.VerifyAnonymity(); err != nil {
		return err
	}
	var err error
	if f.db, err = store.OpenReader(ctx, f.Path); err != nil {
		return err
	}
	defer f.db.Close()
	model, err := f.model(f.selector())
	if err != nil {
		return err
	}
	if len(f.Conditions) > 0 && f.curvesOnly() {
		return pipeline.Usage("--fail-if asks what policies do, and run %d, of shadow sweep, has none: choose a run of "+
			"shadow replay with --run", f.runs[0].Run)
	}
	f.Always = f.Output == "json"
	return f.Finish(ctx, &f.Caller, f.Quiet, model, pipeline.DamageOf(f.loaded.Result.Stats.Inputs), func() error {
		switch {
		case f.Output == "html":
			page, err := f.page(model)
			if err != nil {
				return err
			}
			return page.Write(f.Out)
		case f.curvesOnly():
			return f.writeSweep(model)
		}
		return model.Write(f.Out, f.Output)
	})
}

// model is the report on the runs that are chosen.
func (f *Report) model(chosen selector) (_ *report.Model, err error) {
	if f.all, err = f.db.Runs(); err != nil {
		return nil, err
	}
	if f.runs, err = chosen(f.all); err != nil {
		return nil, err
	}
	numbers := numbersOf(f.runs)
	if f.loaded, err = f.db.Load(numbers); err != nil {
		return nil, err
	}
	f.Anonymizer.Rename(f.loaded.Result.Tables)
	f.Anonymizer.Know(f.loaded.Result.Tables.Clients)
	f.options = report.Options{
		Top: f.Rows(), Sort: f.Sort, Width: f.Width, Color: f.Color,
		Version: f.loaded.Version, Command: f.loaded.Command, Timezone: cmp.Or(f.loaded.Timezone, "UTC"),
		Warnings: slices.Concat(f.notes, f.loaded.Warnings), Findings: f.loaded.Findings, Database: f.Path,
		Run: strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]"), Anonymize: f.Anonymizer,
		Apart: apartOf(f.loaded.Apart), Identities: f.Output == "html" || printsIdentities(f.loaded.Command),
	}
	model := report.New(f.loaded.Result, f.options)
	history, err := f.history()
	if history != nil {
		if model.Short() {
			history.SafeLimits = nil // a log of some hours shows no limit that is safe
		}
		model.SetHistory(history, f.Anonymizer)
	}
	model.Details = f.Details
	return model, err
}

// printsIdentities reports whether a command, as typed, has people read who the clients are: so does the report on its
// run.
func printsIdentities(command string) (prints bool) {
	for word := range strings.FieldsSeq(command) {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "--evidence":
			prints = value != "false"
		case "--evidence-path", "--robots":
			return true
		}
	}
	return prints
}

// apartOf returns what several runs judged by themselves, for a report.
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
	return mapped.Of(runs, func(r store.RunFact) int32 { return r.Run })
}
