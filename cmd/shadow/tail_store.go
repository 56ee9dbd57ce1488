package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/replay"
	"shadow/store"
	"shadow/tail"
)

// tailStoreFlags say where would-blocks and tallies of a tail are stored.
type tailStoreFlags struct {
	db    string
	flush period
	spool size
}

func (f *tailStoreFlags) add(cmd *cobra.Command) {
	f.flush, f.spool = period(10*limit.Second), tail.DefaultSpool
	flags := cmd.Flags()
	flags.StringVar(&f.db, "db", "", "DuckDB `file` in which would-blocks and tallies are stored, a run a day; needs --state")
	flags.Var(&f.flush, "flush", "how often they go there; meanwhile the file is free")
	flags.Var(&f.spool, "spool-max", "how much may wait beside --state while the file is busy; beyond that reading pauses")
	needs(cmd, []string{"db"}, "flush", "spool-max")
}

// keepIn sets the store among the options of the tail, and returns it; nil if there is to be none.
func (f *tailStoreFlags) keepIn(ctx context.Context, o *tail.Options, timezone string) (*tailStore, error) {
	if f.db == "" {
		return nil, nil
	}
	if o.State == "" {
		return nil, usage("--db needs --state FILE, beside which waits what the database has not taken yet")
	}
	s := &tailStore{ctx: context.WithoutCancel(ctx), path: f.db, info: store.RunInfo{
		Command: strings.Join(os.Args, " "), Version: versionText(), Timezone: timezone,
	}}
	o.Own = append(o.Own, f.db)
	o.Store, o.Flush, o.Spool = s, durationOf(f.flush), int64(f.spool)
	return s, nil
}

// A tailStore opens the database while it stores batches, and no longer.
type tailStore struct {
	ctx  context.Context // a batch that has begun is brought to its end
	path string
	info store.RunInfo
}

// verify finds out at the start whether the file can be a database of shadow's, and makes it. One that is busy now need not
// be later.
func (s *tailStore) verify() error {
	if s == nil {
		return nil
	}
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
	return known, closeAfter(db, err)
}
