package ingest

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Lines that step back from one part to the next count as in one piece. A part without a line that can be read has no time.
func TestStepsBetweenParts(t *testing.T) {
	const read, unread = 1, 0
	part := func(parsed int64, first, last limit.Time) *Facts {
		return &Facts{Inputs: []InputFacts{{
			Stats: InputStats{Name: "a.log", Lines: 1, Parsed: parsed}, FirstAt: traffic.MinTime, FirstStamp: first, Stamped: last,
		}}}
	}
	for _, c := range []struct {
		what  string
		parts []*Facts
		want  Steps
	}{
		{"forwards", []*Facts{part(read, 1, 2), part(read, 2, limit.Hour)}, Steps{}},
		{"an hour back", []*Facts{part(read, 1, limit.Hour+1), part(read, 1, 2)}, Steps{Back: 1, Far: 1, Furthest: limit.Hour, At: 1}},
		{"before 1970", []*Facts{part(read, -limit.Hour, -limit.Minute), part(read, -1, -1)}, Steps{}},
		{"unreadable first", []*Facts{part(unread, 0, 0), part(read, -limit.Hour, -1)}, Steps{}},
		{"unreadable between", []*Facts{part(read, 1, limit.Hour+2), part(unread, 0, 0), part(read, 2, 3)}, Steps{Back: 1, Far: 1, Furthest: limit.Hour, At: 2}},
	} {
		s, err := Join(c.parts, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Inputs[0]; got.Steps != c.want || got.Lines != int64(len(c.parts)) {
			t.Errorf("%s: %+v in %d lines, want %+v", c.what, got.Steps, got.Lines, c.want)
		}
	}
}
