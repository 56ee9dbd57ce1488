package live

import (
	"context"
	"errors"

	"shadow/pipeline"
	"shadow/replay"
	"shadow/store"
)

// A tailStore opens the database while it stores batches, and no longer.
type tailStore struct {
	ctx  context.Context // a batch that has begun is brought to its end
	path string
	info store.RunInfo
}

// verify finds out at the start whether the file can be a database of shadow's, and makes it. One that is busy now need
// not be later.
func (s *tailStore) verify() error {
	db, err := store.Open(s.path, store.Options{})
	if errors.Is(err, store.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return db.Close()
}

// Append implements tail.Store.
func (s *tailStore) Append(batches []*replay.Addition) (known int, err error) {
	db, err := store.Open(s.path, store.RoomFor(batches))
	if err != nil {
		return 0, err
	}
	known, err = db.Append(s.ctx, s.info, batches)
	return known, pipeline.CloseAfter(db, err)
}
