package stored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"shadow/escape"
	"shadow/pipeline"
	"shadow/report/format"
	"shadow/store"
)

// Merge merges database by database. What was merged before one that cannot be is kept.
func Merge(ctx context.Context, w io.Writer, into string, from []string) error {
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
	return pipeline.CloseAfter(db, err)
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
