package main

import (
	"slices"
	"testing"

	"shadow/internal/calibrate"
)

// oneInFour is the verdicts of a row on the requests of one client in four, as a log would tell them.
func oneInFour(t *testing.T, name string) *calibrate.Requests {
	t.Helper()
	all := schedule()
	admitted, err := recorded(all, name)
	if err != nil {
		t.Fatal(err)
	}
	r := &calibrate.Requests{Keys: make([][]int32, 1)}
	for i, q := range all {
		if q.client%4 != 1 {
			continue
		}
		verdict := calibrate.Refused
		if admitted[i] {
			verdict = calibrate.Passed
		}
		r.At, r.Verdict, r.Keys[0] = append(r.At, q.at), append(r.Verdict, verdict), append(r.Keys[0], int32(q.client))
	}
	return r
}

// TestRealCodeIsRecovered: of what real code decided, the search finds a limit that explains as much as the one which is
// known to be meant, to one request in a thousand. Servers have recordings of their own.
func TestRealCodeIsRecovered(t *testing.T) {
	found, of := 0, 0
	for _, row := range slices.Concat(node, libraries) {
		r := oneInFour(t, row.name)
		f := r.Search(r.Keys[0], nil, calibrate.Options{})
		meant := r.Judge(r.Keys[0], nil, []string{row.limit}, calibrate.Options{}).Best
		if f.Best == nil || meant == nil {
			t.Logf("%s refuses nothing here", row.name)
			continue
		}
		of++
		mark := "NOT FOUND"
		if f.Best.Wrong <= meant.Wrong+f.Requests/1000 {
			found++
			mark = ""
		}
		t.Logf("%-25s %-45s %6.2f %% %s %s", row.name, row.limit, f.Percent, f.Best.Limit, mark)
	}
	t.Logf("%d of %d recovered", found, of)
	if of < 82 || found < 79 {
		t.Errorf("%d of %d are recovered", found, of)
	}
}
