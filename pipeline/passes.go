package pipeline

import (
	"context"
	"io"

	"shadow/replay"
	"shadow/traffic"
	"shadow/traffic/cache"
	"shadow/traffic/ingest"
)

// Logs are read once. Who has to go through their requests several times keeps them on the way.

// each hands the batches of a source to do.
func each(ctx context.Context, src replay.Source, do func(*traffic.Batch) error) error {
	for {
		b, err := src.Next()
		switch {
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return ErrInterrupted
		case err != nil:
			return err
		}
		if err := do(b); err != nil {
			return err
		}
	}
}

// retain reads the logs, hands each batch to do, and keeps the requests for further passes.
func (l *Logs) retain(ctx context.Context, o ingest.Options, requests *cache.Requests, do func(*traffic.Batch) error) (ingest.Stats, error) {
	return l.read(ctx, o, func(reader tee) error {
		return each(ctx, reader, func(b *traffic.Batch) error {
			if err := requests.Add(b); err != nil {
				return err
			}
			return do(b)
		})
	})
}
