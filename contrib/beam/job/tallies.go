package job

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"shadow/contrib/beam/rows"
)

// A found is what judging one shard came to, or some of them together. It travels as bytes.
type found struct {
	shards  []int
	files   []File
	facts   string // of shard 0; "": it is not among them
	tallies []rows.Tally
}

// add puts what others found beside it.
func (f *found) add(other *found) error {
	for _, s := range other.shards {
		if slices.Contains(f.shards, s) {
			return errors.New("a shard was judged twice")
		}
	}
	f.shards = append(f.shards, other.shards...)
	f.files = append(f.files, other.files...)
	f.facts = cmp.Or(f.facts, other.facts)
	f.tallies = append(f.tallies, other.tallies...)
	return nil
}

// same compares what tallies count.
func same(a, b rows.Tally) int {
	return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.What, b.What),
		cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name))
}

// sum adds up tallies of the same, and puts them in order.
func (f *found) sum() {
	slices.SortFunc(f.tallies, same)
	n := 0
	for _, t := range f.tallies {
		if n == 0 || same(f.tallies[n-1], t) != 0 {
			f.tallies[n] = t
			n++
			continue
		}
		last := &f.tallies[n-1]
		if t.What == rows.Coarse || t.What == rows.Length {
			last.Count = max(last.Count, t.Count)
		} else {
			last.Count += t.Count
		}
	}
	f.tallies = f.tallies[:n]
	slices.Sort(f.shards)
	slices.SortFunc(f.files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
}

// encode is it as bytes.
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

// decode is the way back.
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
