package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"shadow/escape"
	"shadow/report/format"
	"shadow/store"
)

func newMerge() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "merge DATABASE…",
		Short: "Gather the runs of several databases, as those of several hosts, in one",
		Long: `Merge copies the runs of databases into the one that --db names, which is made if it is not there.
The others stay as they are. Runs get new numbers. A run that is there already is passed over, so the databases of
several hosts can be merged every morning, and shadow report --since yesterday puts their runs together.

Merge adds up what each host judged by itself. A client that several hosts served was judged by a part of its requests
at each, so a limit that the hosts share would refuse more: the report names the clients that runs of the same time have
in common, and how many requests are theirs. What such a limit refuses tells a replay of all logs together, or tails with
--redis.`,
		Example: `  shadow merge web1.duckdb web2.duckdb --db all.duckdb
  shadow report --db all.duckdb --since yesterday`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("which databases?\nSee `%s --help`.", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return mergeAll(cmd.Context(), cmd.OutOrStdout(), into, args)
		},
	}
	cmd.Flags().StringVar(&into, "db", defaultDB, "DuckDB `file` that takes the runs in")
	return cmd
}

// mergeAll merges database by database. What was merged before one that cannot be is kept.
func mergeAll(ctx context.Context, w io.Writer, into string, from []string) error {
	_, err := os.Stat(into)
	fresh := errors.Is(err, fs.ErrNotExist)
	db, err := store.Open(into, store.Options{})
	if err != nil {
		return err
	}
	taken := 0
	for _, path := range from {
		merged, failed := db.Merge(ctx, path)
		if failed != nil {
			err = failed
			break
		}
		taken += len(merged.Runs)
		sayMerged(w, path, merged)
	}
	if err != nil && fresh && taken == 0 { // leave nothing where nothing was; until Close the file is ours alone
		err = errors.Join(err, db.Remove())
	}
	return closeAfter(db, err)
}

func sayMerged(w io.Writer, path string, m *store.Merged) {
	var rows int64
	for _, t := range m.Rows {
		rows += t.Rows
	}
	fmt.Fprintf(w, "%s: took in %s (%s)", escape.Visible(path), format.Count(int64(len(m.Runs)), "run"), format.Count(rows, "row"))
	if len(m.Runs) > 0 {
		fmt.Fprintf(w, " as %s", format.Runs(slices.Sorted(maps.Values(m.Runs))))
	}
	if len(m.Known) > 0 {
		fmt.Fprintf(w, "; had %s already", format.Count(int64(len(m.Known)), "run"))
	}
	fmt.Fprintln(w)
}

// closeAfter closes a database after something that may have failed.
func closeAfter(db *store.Store, err error) error { return errors.Join(err, db.Close()) }
