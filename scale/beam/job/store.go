package job

import "context"

// notKept is a warning of each run.
const notKept = "judged with Apache Beam: its events are not kept; shadow replay keeps them"

// Store puts results into a database, as one run: all of it, or nothing. It returns the number of the run.
func Store(ctx context.Context, folder, db string) (number string, err error) {
	c, err := Collect(ctx, folder)
	if err != nil {
		return "", err
	}
	c.replay.DB = db
	return c.replay.Store(ctx, c.Result, notKept)
}
