package store

import (
	"fmt"
	"strings"
)

// Batches of a tail come in the order of their numbers, without a gap. Where there is one, requests are missing for ever, and
// the run says so.

// miss finds batches that are neither here nor come: a database in which some were went back to an older copy, or they were
// taken out of the spool. Of a tail that is not known here, nothing was to come before.
func (g *appending) miss(last uint64) {
	for _, a := range g.batches {
		switch n := a.Number - last - 1; {
		case last == 0 || n == 0:
		case n == 1:
			g.missing = append(g.missing, fmt.Sprint(last+1))
		default:
			g.missing = append(g.missing, fmt.Sprintf("%d–%d", last+1, a.Number-1))
		}
		last = a.Number
	}
}

// warn keeps with the run that batches are missing.
func (g *appending) warn() error {
	if g.missing == nil {
		return nil
	}
	n, err := g.store.duck.number(fmt.Sprintf("SELECT count(*) FROM warnings WHERE run = %d", g.run))
	if err != nil {
		return err
	}
	warnings := g.store.duck.table("warnings")
	warnings.add(g.run, int32(n), fmt.Sprintf("requests are missing: of what the tail judged, batch %s never came; the database went back to an older copy, "+
		"or somebody has taken it out of the spool", strings.Join(g.missing, ", ")))
	return warnings.done()
}
