package shard

import "testing"

// Places are ordered by whether they are known, by their moment, whether they stand behind the others of it, by input and line.
func TestPlacesAreOrdered(t *testing.T) {
	ordered := []Place{
		{Seq: 9, Last: true, Source: 9, Line: 9},
		{Known: true, Line: 8, Source: 8, Seq: -1, Last: true},
		{Known: true, Source: 1, Line: 1},
		{Known: true, Source: 1, Line: 2},
		{Known: true, Source: 2, Line: 1},
		{Known: true, Last: true},
		{Known: true, Seq: 1},
	}
	for i, p := range ordered {
		for k, q := range ordered {
			if p.Before(q) != (i < k) {
				t.Errorf("%+v before %+v: %v", p, q, i >= k)
			}
		}
	}
}
