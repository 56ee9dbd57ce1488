package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"shadow/store"
)

// readFlags say which database is read, and how long to wait for whoever writes it.
type readFlags struct {
	db   string
	wait time.Duration
}

// defaultWait suffices for a tail, which has its database open for moments.
const defaultWait = 10 * time.Second

func (f *readFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.db, "db", defaultDB, "DuckDB `file` of the runs")
	flags.DurationVar(&f.wait, "wait", defaultWait, "wait at most this `long` while another process writes the database")
}

// verify returns how to wait. Who has the database open is told on stderr.
func (f *readFlags) verify(cmd *cobra.Command) (store.Wait, error) {
	if f.wait < 0 {
		return store.Wait{}, usage("--wait %v: want a duration that is not negative", f.wait)
	}
	return store.Wait{For: max(f.wait, 1), Tell: func(busy error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "shadow: %v; waiting for up to %v (--wait)\n", busy, f.wait)
	}}, nil
}
