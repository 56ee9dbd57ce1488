package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/report/format"
	"shadow/store"
)

func (f *runsFlags) newDelete() *cobra.Command {
	var older period
	cmd := &cobra.Command{
		Use:   "delete RUN…",
		Short: "Delete runs, and give back the room that they took",
		Long: `Delete forgets runs with all that is kept of them, all of those that are named or none, and then writes
the database anew without the room that they took. Numbers of other runs stay as they are.`,
		Example: `  shadow runs delete 3 4
  shadow runs delete --older-than 90d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if older == 0 {
				if err := runArgs(cmd, args); err != nil {
					return err
				}
			}
			return f.delete(cmd, args, limit.Time(older))
		},
	}
	cmd.Flags().Var(&older, "older-than", "also delete what was stored longer ago than this `duration`")
	return cmd
}

func (f *runsFlags) delete(cmd *cobra.Command, args []string, older limit.Time) error {
	all, err := f.runs(cmd)
	if err != nil {
		return err
	}
	doomed, err := doomedRuns(all, args, older, time.Now())
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if len(doomed) == 0 {
		fmt.Fprintf(w, "no run was stored more than %s ago\n", limit.FormatPeriod(older))
		return nil
	}
	wait, err := f.verify(cmd)
	if err != nil {
		return err
	}
	db, err := store.Open(f.db, store.Options{Wait: wait})
	if err != nil {
		return err
	}
	return deleteRuns(cmd.Context(), w, db, f.db, doomed, 0)
}

// doomedRuns are those that are named, and those that were stored longer ago than older, if that is not 0.
func doomedRuns(all []store.RunFact, named []string, older limit.Time, now time.Time) (doomed []int32, err error) {
	picked := map[int32]bool{}
	for _, text := range named {
		run, err := findRun(all, text)
		if err != nil {
			return nil, err
		}
		picked[run.Run] = true
	}
	for i := range all {
		if old := older > 0 && all[i].Finished < limit.Time(now.UnixMicro())-older; old || picked[all[i].Run] {
			doomed = append(doomed, all[i].Run)
		}
	}
	return doomed, nil
}

// deleteRuns forgets runs and closes the database. If a larger share of the file than spare is free then, it is written again.
func deleteRuns(ctx context.Context, w io.Writer, db *store.Store, path string, runs []int32, spare float64) error {
	rows, err := db.Delete(ctx, runs)
	if err != nil {
		db.Close() //nolint:errcheck // the first error tells more
		return err
	}
	var sum int64
	for _, t := range rows {
		sum += t.Rows
	}
	fmt.Fprintf(w, "deleted %s (%s)\n", format.Runs(runs), format.Count(sum, "row"))
	free, err := db.Free()
	if err != nil || free <= spare {
		return closeAfter(db, err)
	}
	before, after, err := db.Shrink(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s, before %s\n", path, format.Size(after), format.Size(before))
	return nil
}
