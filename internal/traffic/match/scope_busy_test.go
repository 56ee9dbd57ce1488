package match

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A scope that asks for the load holds for the requests that more than N of all were in the period up to, each counted afresh,
// however the rows of a batch lie, and over what is saved and restored between two batches.
func TestLoad(t *testing.T) {
	s, err := NewScopes([]request.Conditions{{Busy: []string{"3/10s"}}, {Methods: []string{"GET"}}}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	testneeds.Rapid(t, func(t *rapid.T) {
		load, from := s.NewLoad(), limit.Time(0)
		var all []limit.Time
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			b := traffic.NewBatch(0, traffic.Columns{Marks: true})
			for _, after := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 12).Draw(t, "seconds") {
				b.At, b.Marks = append(b.At, from+limit.Time(after)*limit.Second+limit.Millisecond), append(b.Marks, 3)
			}
			held := load.Mark(b, 0)
			any := false
			for row, at := range b.At {
				before := func(other limit.Time) bool { return other > at-10*limit.Second && other <= at }
				n, upTo := 0, 0
				for _, other := range all {
					if before(other) {
						n++
					}
				}
				for i, other := range b.At {
					if before(other) && (other < at || i <= row) {
						upTo++
					}
				}
				busy := n+upTo > 3
				any = any || busy
				if b.Marks[row] != 2|map[bool]uint64{true: 1}[busy] {
					t.Fatalf("request %d at %v after %v: marks %b, busy is %t", row, b.At, all, b.Marks[row], busy)
				}
			}
			if held&1 == 1 != any {
				t.Fatalf("held %b, some busy: %t", held, any)
			}
			all = append(all, b.At...)
			from += 20 * limit.Second
		}
	})
}

// In a log of whole seconds, requests lie evenly in theirs. Twenty a second are more than nine in a second from the tenth on,
// and in the next second all.
func TestLoadOfWholeSeconds(t *testing.T) {
	s, err := NewScopes([]request.Conditions{{Busy: []string{"9/1s"}}}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	load, b := s.NewLoad(), traffic.NewBatch(0, traffic.Columns{Marks: true})
	for i := range 40 {
		b.At, b.Marks = append(b.At, limit.Time(i/20)*limit.Second), append(b.Marks, 1)
	}
	load.Mark(b, limit.Second)
	for row, marks := range b.Marks {
		if want := row >= 9; marks == 1 != want {
			t.Errorf("request %d: marks %b, busy is %t", row, marks, want)
		}
	}
	if got := load.Armed()[0]; got.Requests != 20 || got.Of != 20 || got.Minutes != 1 {
		t.Errorf("%+v", got)
	}
}

// What is saved is restored by the text of a load, whatever else another configuration asks for.
func TestLoadIsRestored(t *testing.T) {
	load := func(texts ...string) *Load {
		var scopes []request.Conditions
		for _, text := range texts {
			scopes = append(scopes, request.Conditions{Busy: []string{text}})
		}
		s, err := NewScopes(scopes, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.NewLoad()
	}
	batch := func() *traffic.Batch {
		b := traffic.NewBatch(0, traffic.Columns{Marks: true})
		b.At, b.Marks = []limit.Time{1, 2}, []uint64{3, 3}
		return b
	}
	before := load("2/1s", "3/1s")
	before.Mark(batch(), 0)
	var out bytes.Buffer
	to := traffic.NewEncoder(traffic.NewTables(), &out)
	before.Save(to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		load *Load
		held uint64
	}{{load("9/1s", "3/1s"), 2}, {load("3/1s", "2/1s"), 3}, {nil, 0}} {
		from := traffic.NewDecoder(out.Bytes(), traffic.NewTables(), nil)
		c.load.Restore(from)
		if from.End(); from.Err() != nil {
			t.Fatal(from.Err())
		}
		if c.load == nil {
			continue
		}
		if held := c.load.Mark(batch(), 0); held != c.held {
			t.Errorf("%+v: held %b, want %b", c.load.scopes, held, c.held)
		}
	}
}

func TestBusyIsRefused(t *testing.T) {
	for text, c := range map[string]request.Conditions{
		`busy "token:3/s": want a number of requests of the site per period, such as 500/s`: {Busy: []string{"token:3/s"}},
		"busy stands beside either and not, not inside":                                     {Not: []request.Conditions{{Busy: []string{"3/s"}}}},
	} {
		if _, err := NewScopes([]request.Conditions{c}, nil, nil, nil); err == nil || err.Error() != text {
			t.Errorf("%+v: %v, want %s", c, err, text)
		}
	}
}
