package job

import (
	"context"
	"errors"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/store"
)

// notLooked is the warning of each run: findings are about all requests together.
const notLooked = "judged with Apache Beam: events, evidence and findings about the log were not looked for; " +
	"shadow replay has them"

// Store puts results into a database, as one run: all of it, or nothing.
func Store(ctx context.Context, folder, db string, now time.Time) (run int32, err error) {
	c, err := Collect(ctx, folder)
	if err != nil {
		return 0, err
	}
	err = pipeline.InDatabase(db, func(s *store.Store) (kept bool, err error) {
		r, err := s.Begin(ctx, store.RunInfo{
			Command: c.Job.Command, Version: c.Job.Version, Started: c.Job.Started, Timezone: c.Job.Timezone,
		})
		if err != nil {
			return false, err
		}
		r.Warnings = []string{notLooked}
		if err := r.Finish(c.Result, now); err != nil {
			return false, errors.Join(err, r.Abort())
		}
		run = r.ID()
		return true, nil
	})
	return run, err
}
