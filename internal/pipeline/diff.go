package pipeline

import (
	"context"
	"errors"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
	"shadow/report"
	"shadow/report/diff"
)

// A Diff compares what two policies do to the same requests.
type Diff struct{ Replay }

// Run verifies what is asked, replays, and reports. Nothing is kept.
func (d *Diff) Run(ctx context.Context, logs []string) error {
	if len(d.Limits) > 1 && len(d.Chosen) == 0 {
		d.Chosen = []string{policy.NoPolicy}
	}
	d.compares = true
	if err := d.prepareReplay(ctx, logs); err != nil {
		return err
	}
	if err := d.two(); err != nil {
		return err
	}
	comparison := replay.NewComparison(d.Read.Tables)
	d.observers = append(d.observers, comparison)
	result, err := d.judge(ctx, nil)
	if err != nil {
		return err
	}
	o := d.reportOptions(d.warnings(&result.Stats))
	o.Top = d.Top
	made := diff.New(result, comparison, o)
	if err := made.Write(d.Out, d.Output); err != nil {
		return err
	}
	return errors.Join(d.Held(made.Changed()), d.Incomplete(&result.Stats))
}

// Judge replays logs by the policies that are chosen or derived, and shows verdicts to observers. The result comes with how
// to report on it, and the requests are kept until Release.
func (d *Diff) Judge(ctx context.Context, logs []string, watch func(*traffic.Tables) replay.Observer) (*replay.Result, report.Options, error) {
	d.compares = true
	if err := d.prepareReplay(ctx, logs); err != nil {
		return nil, report.Options{}, err
	}
	d.severalPasses = true
	d.observers = append(d.observers, watch(d.Read.Tables))
	result, err := d.judge(ctx, nil)
	if err != nil {
		return nil, report.Options{}, err
	}
	o := d.reportOptions(d.warnings(&result.Stats))
	o.Top = d.Top
	return result, o, d.Incomplete(&result.Stats)
}

// Again judges the same requests by other policies, whose limits are for the same requests by the same keys, and
// returns what these did.
func (d *Diff) Again(ctx context.Context, policies []policy.Policy, o replay.Observer) ([]replay.PolicyTally, error) {
	pass := d.requests.Pass().Ahead()
	defer pass.Close()
	src, stop := d.passing("trying limits", pass, d.handed)
	defer stop()
	e := replay.New(replay.Options{
		Tables: d.Read.Tables, Policies: policies, Lateness: d.Read.StepBack(), Observer: o, Stop: ctx.Err,
	})
	if err := e.Run(src); err != nil {
		return nil, err
	}
	return e.Result(ingest.Stats{}).Policies, nil
}

// two is the error of other than two policies.
func (d *Diff) two() error {
	switch {
	case len(d.Policies) == 2:
		return nil
	case len(d.Policies) == 1 && len(d.Limits)+len(d.Chosen) > 1:
		return Usage("A and B are both %s: diff compares two different policies", d.Policies[0].Name)
	}
	names := mapped.Of(d.Policies, func(p policy.Policy) string { return p.Name })
	const shown = 6
	if len(names) > shown {
		names = append(names[:shown], "…")
	}
	return Usage("diff compares two policies, and these are %d: %s; name two, such as --limit token:6/30s --limit "+
		"token:10/30s",
		len(d.Policies), strings.Join(names, ", "))
}
