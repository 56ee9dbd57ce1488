package bucket

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// Verdicts that golang.org/x/time/rate and throttled/v2 gave on 200,000 requests with explicit times.

// recorded are the limits in the file, by the part of the column's name behind the library's: a bucket, and what the
// libraries of cell rates call it.
var recorded = map[string][]string{
	"6per30s":   {"token:6/30s", "gcra:6/30s,burst=5"},
	"60per1m":   {"token:60/1m", "gcra:60/m,burst=59"},
	"10rps-b20": {"token:10/1s,burst=20", "gcra:10/s,burst=19"},
}

func TestRecordedVerdicts(t *testing.T) {
	rows := readVerdicts(t)
	for column := 2; column < len(rows[0]); column++ {
		_, name, _ := strings.Cut(rows[0][column], ":")
		if len(recorded[name]) == 0 {
			t.Errorf("no limit stands for the column %s", rows[0][column])
		}
		for _, text := range recorded[name] {
			t.Run(rows[0][column]+" as "+text, func(t *testing.T) { compare(t, rows, column, must(t, text)) })
		}
	}
}

func compare(t *testing.T, rows [][]string, column int, l limit.Limiter) {
	agree, states := 0, map[string]*limit.State{}
	for _, row := range rows[1:] {
		us, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if states[row[1]] == nil {
			states[row[1]] = new(limit.State)
		}
		admitted := len(l.Refuse(nil, states[row[1]], []limit.Time{limit.Time(us)})) == 0
		if admitted == (row[column] == "1") {
			agree++
		}
	}
	if agree != 200_000 {
		t.Errorf("%d of %d verdicts agree, want 200000", agree, len(rows)-1)
	}
}

func readVerdicts(t *testing.T) [][]string {
	recording := testneeds.Content(t, testneeds.Shared(t, "verdicts/library-verdicts.csv.gz"))
	rows, err := csv.NewReader(bytes.NewReader(recording)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
