package job

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"

	"shadow/scale/beam/rows"
)

// A found holds what judging one shard found, or judging all of them. It travels as bytes.
type found struct {
	Shards  []int
	Files   []File
	Facts   string // of shard 0; "": it is not among them
	Tallies []rows.Tally
}

// addUp adds up encoded sums.
func addUp(next func(*[]byte) bool) (*found, error) {
	all, counts := new(found), map[rows.Tally]int64{} // of tallies that count nothing
	for sum := []byte(nil); next(&sum); {
		one, err := decode(sum)
		if err != nil {
			return nil, err
		}
		all.Shards = append(all.Shards, one.Shards...)
		all.Files = append(all.Files, one.Files...)
		all.Facts = cmp.Or(all.Facts, one.Facts)
		for _, t := range one.Tallies {
			n := t.Count
			if t.Count = 0; t.What == rows.Coarse || t.What == rows.Length {
				counts[t] = max(counts[t], n)
			} else {
				counts[t] += n
			}
		}
	}
	slices.Sort(all.Shards)
	if n := len(all.Shards); len(slices.Compact(all.Shards)) < n {
		return nil, errors.New("a shard was judged twice")
	}
	slices.SortFunc(all.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	all.Tallies = slices.SortedFunc(maps.Keys(counts), func(a, b rows.Tally) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.What, b.What),
			cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range all.Tallies {
		all.Tallies[i].Count = counts[all.Tallies[i]]
	}
	return all, nil
}

// encode returns it as bytes. Names need not be UTF-8, so these are no JSON.
func (f *found) encode() ([]byte, error) {
	var to bytes.Buffer
	err := gob.NewEncoder(&to).Encode(f)
	return to.Bytes(), err
}

// decode reads what encode wrote.
func decode(from []byte) (*found, error) {
	f := new(found)
	if err := gob.NewDecoder(bytes.NewReader(from)).Decode(f); err != nil {
		return nil, fmt.Errorf("what a shard came to makes no sense: %w", err)
	}
	return f, nil
}
