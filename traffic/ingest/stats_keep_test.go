package ingest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"shadow/parse"
)

// What reading told comes back, under the names that the inputs have now, whatever bytes are in it.
func TestStatsAreKept(t *testing.T) {
	stats := func(names ...string) Stats {
		return Stats{
			Lines: 7, Parsed: 5, NotHTTP: ByStatus{{400, 2}}, JudgesNotHTTP: true, FirstAt: 1, LastAt: 9, Marked: 1 << 63, ForwardedBy: "x", HasAgents: true,
			Inputs: []InputStats{
				{Name: names[1], Format: "combined", FormatText: "\"\xff", Size: 5, Head: 1 << 63, Tail: 3, Lines: 7, Warnings: []string{"w\x00\xfe", "v"}},
				{Name: names[0], Problem: "truncated", Compression: "gzip", Lines: 1},
			},
			Faults: []FaultAt{{Input: names[0], Line: 4, Fault: parse.Fault{Reason: "odd", Column: 2}, Text: "\xff\xfe<a>\x1b[0m"}},
			Passed: []error{&passedError{names[2] + ": no log", errors.New("no log")}, &passedError{text: "logfile: " + names[3] + ": is gone"}},
		}
	}
	was, is := []string{"a", "dir/a.log", "dir/a.log.1", "dir/b\xff"}, []string{"x", "y", "z", "w"}
	s := stats(was...)
	kept, err := s.Keep(was)
	if err != nil {
		t.Fatal(err)
	}
	if want := stats(was...); !reflect.DeepEqual(s, want) {
		t.Errorf("Keep has changed %+v", s)
	}
	got, err := RestoreStats(kept, is)
	if want := stats(is...); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if fmt.Sprint(errors.Unwrap(got.Passed[0]), errors.Unwrap(got.Passed[1])) != "no log <nil>" {
		t.Error(got.Passed)
	}
	if _, err := RestoreStats(kept, is[:3]); err == nil {
		t.Error("fewer inputs than there were")
	}
	if _, err := RestoreStats([]byte(`{"Inputs":[{}],"InputOf":[-7],"Texts":["","","","",""]}`), is[:1]); err != nil {
		t.Error(err)
	}
}
