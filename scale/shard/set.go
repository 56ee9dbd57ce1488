package shard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"shadow/internal/traffic/ingest"
)

// A Set is the blocks of one shard: of each part one, so that they hold each byte of the logs once.
type Set struct {
	Meta    // of all blocks, apart from Part, Rows, Facts and Frames
	Parts   []*ingest.Facts
	readers []*reader        // in the order of the parts
	fronts  [][]ingest.Front // by input and part
}

// Open reads what blocks are, and verifies that they are a set.
func Open(blocks [][]byte) (*Set, error) {
	if len(blocks) == 0 {
		return nil, errors.New("there is no block")
	}
	s := new(Set)
	for _, b := range blocks {
		r, err := open(b)
		if err != nil {
			return nil, err
		}
		s.readers = append(s.readers, r)
	}
	slices.SortFunc(s.readers, func(a, b *reader) int { return cmp.Compare(a.Part, b.Part) })
	first := s.readers[0]
	s.Meta = first.Meta
	for i, r := range s.readers {
		if r.Set != first.Set || r.Shard != first.Shard || r.Columns != first.Columns || !slices.Equal(r.Values, first.Values) {
			return nil, fmt.Errorf("shard %d: the logs have changed between parts %d and %d", first.Shard, first.Part, r.Part)
		}
		if r.Part != i+1 || r.Of != len(s.readers) {
			return nil, fmt.Errorf("shard %d has %d blocks: one of %d parts is missing, or is there twice",
				first.Shard, len(s.readers), r.Of)
		}
		s.Parts = append(s.Parts, r.Facts)
	}
	for i := range first.Facts.Inputs {
		var of []*ingest.InputFacts
		for _, p := range s.Parts {
			of = append(of, &p.Inputs[i])
		}
		s.fronts = append(s.fronts, ingest.Fronts(of))
	}
	_, err := ingest.Join(s.Parts, 0)
	return s, err
}

// Rows returns how many requests there are.
func (s *Set) Rows() (n int64) {
	for _, r := range s.readers {
		n += r.Rows
	}
	return n
}

// Stats returns the stats of all parts. late is the number of late requests.
func (s *Set) Stats(late int64) (*ingest.Stats, error) { return ingest.Join(s.Parts, late) }
