package ingest

import (
	"testing"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
)

// A column that is given up takes no further names.
func TestTrial(t *testing.T) {
	var err error
	o := readingOptions(t)
	if o.Values, _, err = match.NewValues([]request.Key{"segment:1", "segment:2"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.Tables.Parts, o.Tables.Values, o.Trial = o.Values.Parts(), intern.NewDict(), new(Trial)
	o.Trial.GiveUp(1)
	r, err := NewReader(t.Context(), []string{write(t, t.TempDir(), "access.log", combined(0, "192.0.2.7", "/a/b"))}, nil, o)
	check(t, err)
	defer r.Close()
	b, err := r.Next()
	check(t, err)
	if b.Len() != 1 || b.Values[0][0] == traffic.NoValue || b.Values[1][0] != traffic.NoValue || o.Tables.Values.Len() != 1 {
		t.Errorf("%v and %v, of %d names", b.Values[0], b.Values[1], o.Tables.Values.Len())
	}
	if (*Trial)(nil).GivenUp(0) {
		t.Error("what nobody tries is given up")
	}
}
