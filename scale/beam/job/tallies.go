package job

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"shadow/scale/beam/rows"
)

// A found holds what judging one shard found, or judging all of them. It travels as bytes.
type found struct {
	shards  []int
	files   []File
	facts   string // of shard 0; "": it is not among them
	tallies []rows.Tally
}

// addUp adds up encoded sums.
func addUp(next func(*[]byte) bool) (*found, error) {
	all, counts := new(found), map[rows.Tally]int64{} // of tallies that count nothing
	for sum := []byte(nil); next(&sum); {
		one, err := decode(sum)
		if err != nil {
			return nil, err
		}
		all.shards = append(all.shards, one.shards...)
		all.files = append(all.files, one.files...)
		all.facts = cmp.Or(all.facts, one.facts)
		for _, t := range one.tallies {
			n := t.Count
			if t.Count = 0; t.What == rows.Coarse || t.What == rows.Length {
				counts[t] = max(counts[t], n)
			} else {
				counts[t] += n
			}
		}
	}
	slices.Sort(all.shards)
	if n := len(all.shards); len(slices.Compact(all.shards)) < n {
		return nil, errors.New("a shard was judged twice")
	}
	slices.SortFunc(all.files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	all.tallies = slices.SortedFunc(maps.Keys(counts), func(a, b rows.Tally) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.What, b.What),
			cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range all.tallies {
		all.tallies[i].Count = counts[all.tallies[i]]
	}
	return all, nil
}

// encode returns it as bytes.
func (f *found) encode() []byte {
	var to []byte
	number := func(n int64) { to = binary.AppendVarint(to, n) }
	text := func(s string) { number(int64(len(s))); to = append(to, s...) }
	number(int64(len(f.shards)))
	for _, s := range f.shards {
		number(int64(s))
	}
	number(int64(len(f.files)))
	for _, file := range f.files {
		text(file.Name)
		number(file.Size)
		text(file.Sum)
	}
	text(f.facts)
	number(int64(len(f.tallies)))
	for _, t := range f.tallies {
		number(int64(t.Policy))
		number(int64(t.Variant))
		text(t.What)
		text(t.Name)
		number(t.Time)
		number(t.Count)
	}
	return to
}

// decode reads what encode wrote.
func decode(from []byte) (*found, error) {
	cut := false
	number := func() int64 {
		v, n := binary.Varint(from)
		if cut = cut || n <= 0; cut {
			return 0
		}
		from = from[n:]
		return v
	}
	count := func() int {
		n := number()
		if cut = cut || n < 0 || n > int64(len(from)); cut {
			return 0
		}
		return int(n)
	}
	text := func() string {
		n := count()
		s := string(from[:n])
		from = from[n:]
		return s
	}
	f := new(found)
	for range count() {
		f.shards = append(f.shards, int(number()))
	}
	for range count() {
		f.files = append(f.files, File{text(), number(), text()})
	}
	f.facts = text()
	for n := count(); n > 0 && !cut; n-- {
		f.tallies = append(f.tallies, rows.Tally{
			Policy: int32(number()), Variant: int32(number()), What: text(), Name: text(),
			Time: number(), Count: number(),
		})
	}
	if cut || len(from) > 0 {
		return nil, errors.New("what a shard came to is cut short")
	}
	return f, nil
}
