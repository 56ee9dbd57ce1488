package main

import (
	"context"
	"fmt"

	"shadow/replay"
	"shadow/report"
	"shadow/report/curves"
	"shadow/report/html"
	"shadow/request"
	"shadow/store"
	"shadow/sweep"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// With --sweep a replay draws the curves of its requests as well, in the same reading: those that shadow sweep draws unless
// told otherwise, by the key of --by. They are kept with the run, so the page of a stored run has them, and a report can say
// whether safe limits have moved. Evidence divides their clients as it divides those of the policies.

// A curveMaker draws the curves of the batches that pass it.
type curveMaker struct {
	*ingest.Reader
	sweep *sweep.Sweep
}

// newSweep is nil unless --sweep is given.
func (r *replayRun) newSweep(ctx context.Context) (*sweep.Sweep, error) {
	if !r.sweep {
		return nil, nil
	}
	key, err := request.ParseKey(r.by)
	if err != nil {
		return nil, badFlag("by", r.by, err)
	}
	o := sweep.Options{
		Tables: r.reading.Tables, By: key, Periods: sweep.DefaultPeriods(), Rates: sweep.DefaultRates(key), Bursts: sweep.DefaultBursts(),
		Lateness: r.reading.Lateness, Stop: ctx.Err,
	}
	for _, name := range sweep.Kinds() {
		kind, err := sweep.ParseKind(name)
		if err != nil {
			return nil, err
		}
		o.Kinds = append(o.Kinds, kind)
	}
	if r.judging != nil {
		o.Disguised = func(client int32) bool { return r.jury.Disguised(client) }
	}
	return sweep.New(o), nil
}

// Next hands on the next batch, which the sweep has taken in.
func (m curveMaker) Next() (*traffic.Batch, error) {
	b, err := m.Reader.Next()
	if err == nil && m.sweep != nil {
		m.sweep.Take(b)
	}
	return b, err
}

// keepCurves keeps the curves with the run.
func (r *replayRun) keepCurves(run *store.Run) {
	if r.curves != nil {
		run.KeepCurves(r.curves)
	}
}

// addCurves puts on the page what --sweep has found.
func (r *replayRun) addCurves(page *html.Page) {
	if r.curves == nil {
		return
	}
	page.Curves = curves.New(r.curves, report.Options{}).Curves()
}

// observers are several of them, as one.
type observers []replay.Observer

// Observe shows each the batch.
func (o observers) Observe(b *traffic.Batch, verdicts []replay.Verdicts) error {
	for _, one := range o {
		if err := one.Observe(b, verdicts); err != nil {
			return err
		}
	}
	return nil
}

// observer is all that observe, nil if nobody does.
func (o observers) observer() replay.Observer {
	if len(o) == 0 {
		return nil
	}
	return o
}

// verifySweep looks whether --sweep goes with the others.
func (f *replayFlags) verifySweep() error {
	if f.sweep && f.noStore {
		return usage("--sweep keeps curves in the database, and --no-store keeps nothing: state one; shadow sweep prints them")
	}
	return nil
}

// thinCurves tells of curves that are too long to be stored whole.
func thinCurves(result *sweep.Result) []string {
	long := 0
	for _, c := range result.Curves {
		if len(c.Points) > store.MostPoints {
			long++
		}
	}
	if long == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d curves change at more than %d limits; the database holds a selection of them, --output json and csv of shadow sweep have all",
		long, len(result.Curves), store.MostPoints)}
}
