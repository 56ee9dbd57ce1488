package pipeline

import (
	"context"

	"shadow/policy"
	"shadow/report"
	"shadow/report/doctor"
	"shadow/traffic"
)

// A Doctor says what a log is like, before any limit is judged on it.
type Doctor struct {
	Logs
	Output string
}

// Run verifies what is asked, reads, and reports.
func (r *Doctor) Run(ctx context.Context, logs []string) error {
	err := r.prepare(logs, func(*policy.Config) ([]policy.Policy, error) { return nil, nil })
	if err != nil {
		return err
	}
	CollectOften()
	stats, err := r.read(ctx, r.Read, func(reader tee) error {
		return each(ctx, reader, func(*traffic.Batch) error { return nil })
	})
	if err != nil {
		return err
	}
	if _, err := r.settle(&stats, "", ""); err != nil {
		return err
	}
	who := new(report.Population)
	who.Requests, who.Clients = r.look.Population()
	if err := doctor.New(&stats, who, r.reportOptions(r.warnings(&stats))).Write(r.Out, r.Output); err != nil {
		return err
	}
	return r.tooManyUnreadable(&stats)
}
