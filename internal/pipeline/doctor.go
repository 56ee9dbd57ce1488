package pipeline

import (
	"cmp"
	"context"

	"shadow/internal/pipeline/heap"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/replay"
	"shadow/report/doctor"
)

// A Doctor says what a log is like, before any limit is judged on it.
type Doctor struct {
	Logs
	Output string
}

// Run verifies what is asked, reads, and reports.
func (r *Doctor) Run(ctx context.Context, logs []string) (err error) {
	err = r.Prepare(ctx, logs, func(*policy.Config) ([]policy.Policy, error) { return nil, nil })
	if err != nil {
		return err
	}
	heap.CollectOften()
	defer func() { err = cmp.Or(err, r.Release()) }()
	stats, err := r.read(ctx, r.Read, func(src replay.Source, _ *ingest.Reader) error {
		return each(ctx, src, func(*traffic.Batch) error { return nil })
	})
	if err != nil {
		return err
	}
	if _, err := r.settle(&stats, "", ""); err != nil {
		return err
	}
	if err := doctor.New(&stats, r.everyone(), r.look.Site(), r.reportOptions(r.warnings(&stats))).Write(r.Out, r.Output); err != nil {
		return err
	}
	return r.Incomplete(&stats)
}
