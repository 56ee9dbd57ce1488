package shard

import (
	"cmp"
	"fmt"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// A Set is the blocks of some shards that belong together: of each shard all parts, which hold each byte of the logs once.
type Set struct {
	Meta          // of all blocks, apart from Shard, Part, Rows and Facts
	Has     []int // the shards, ascending
	Parts   []*ingest.Facts
	readers []*reader        // by shard, in the order of the parts
	fronts  [][]ingest.Front // by input and part
}

// An IncompleteError reports that blocks are not a set.
type IncompleteError struct{ Text string }

func (e *IncompleteError) Error() string { return e.Text }

func incomplete(format string, values ...any) error {
	return &IncompleteError{fmt.Sprintf(format, values...)}
}

// Open reads what blocks are, and verifies that they are a set.
func Open(blocks []Block) (*Set, error) {
	s := new(Set)
	for _, b := range blocks {
		r, err := open(b)
		if err != nil {
			return nil, err
		}
		s.readers = append(s.readers, r)
	}
	return s, s.verify()
}

// Complete reports whether all shards are there.
func (s *Set) Complete() bool { return len(s.Has) == s.Shards }

// Rows returns how many requests there are.
func (s *Set) Rows() (n int64) {
	for _, r := range s.readers {
		n += r.Rows
	}
	return n
}

func (s *Set) verify() error {
	if len(s.readers) == 0 {
		return incomplete("there is no shard")
	}
	first := s.readers[0]
	s.Meta = first.Meta
	for _, r := range s.readers {
		if r.Set != first.Set || r.Shards != first.Shards || r.By != first.By {
			return incomplete("%s and %s are of different sets: other logs, another key or another number of shards, or the logs "+
				"have changed between them", first.Name, r.Name)
		}
		if r.Columns != first.Columns || !slices.Equal(r.Values, first.Values) || len(r.Facts.Inputs) != len(first.Facts.Inputs) {
			return incomplete("%s and %s have been packed in different ways", first.Name, r.Name)
		}
	}
	slices.SortStableFunc(s.readers, func(a, b *reader) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), compareFacts(a.Facts, b.Facts), cmp.Compare(a.Part, b.Part))
	})
	var parts []*ingest.Facts
	for i, r := range s.readers {
		if n := len(s.Has); n == 0 || s.Has[n-1] != r.Shard {
			s.Has = append(s.Has, r.Shard)
			parts = nil
		}
		if parts = append(parts, r.Facts); i+1 == len(s.readers) || s.readers[i+1].Shard != r.Shard {
			if err := covers(parts, r.Shard); err != nil {
				return err
			}
			if s.Parts == nil {
				s.Parts = parts
			} else if !sameFacts(s.Parts, parts) {
				return incomplete("shard %d and shard %d have been packed from different parts, or the logs have changed between them: "+
					"pack all parts again", s.Has[0], r.Shard)
			}
		}
	}
	for i := range first.Facts.Inputs {
		var of []*ingest.InputFacts
		for _, p := range s.Parts {
			of = append(of, &p.Inputs[i])
		}
		s.fronts = append(s.fronts, ingest.Fronts(of))
	}
	_, err := ingest.Join(s.Parts, 0)
	return err
}

// compareFacts orders parts by where they begin. A part that holds nothing comes last.
func compareFacts(a, b *ingest.Facts) int {
	begin := func(f *ingest.Facts) (input int, from int64) {
		input = len(f.Inputs)
		for i := range f.Inputs {
			if in := &f.Inputs[i]; !in.Span.Empty() && in.Index < input {
				input, from = in.Index, in.Span.From
			}
		}
		return input, from
	}
	i, from := begin(a)
	j, other := begin(b)
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(from, other))
}

// covers verifies that parts hold each byte of each input once.
func covers(parts []*ingest.Facts, shard int) error {
	for i, in := range parts[0].Inputs {
		var end int64
		var spans []logfile.Span
		for _, p := range parts {
			if s := p.Inputs[i].Span; !s.Empty() {
				spans = append(spans, s)
			}
		}
		slices.SortFunc(spans, func(a, b logfile.Span) int { return cmp.Compare(a.From, b.From) })
		for _, s := range append(spans, logfile.Span{From: in.Size, To: in.Size}) {
			switch {
			case s.From > end:
				return incomplete("shard %d lacks a part: bytes %d to %d of %s were not packed", shard, end, s.From, in.Stats.Name)
			case s.From < end:
				return incomplete("shard %d has bytes %d to %d of %s twice: parts overlap", shard, s.From,
					min(end, s.To), in.Stats.Name)
			}
			end = s.To
		}
	}
	return nil
}

// Stats returns the stats of all parts. late is how many requests were late.
func (s *Set) Stats(late int64) (*ingest.Stats, error) { return ingest.Join(s.Parts, late) }

// sameFacts reports whether two lists of parts tell the same.
func sameFacts(a, b []*ingest.Facts) bool { return factsText(a) == factsText(b) }

// Coarseness returns how coarse the timestamps are.
func (s *Set) Coarseness() traffic.Coarseness {
	return traffic.Coarseness{Slack: s.Slack, Ends: s.Ends}
}
